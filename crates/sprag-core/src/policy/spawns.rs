//! The limits of `flow.spawns`.

use super::limit::Limit;

/// The most sub-agents that may be counted as open: what a flow keeps.
pub const MAX_OPEN_SUB_AGENTS: u32 = 256;

/// `flow.spawns`: how many sub-agents of a flow may be open when one more starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spawns {
    /// Warn past this many, if a sub-agent starts it.
    pub warn: Limit,
    /// Refuse past this many, if a sub-agent starts it.
    pub deny: Limit,
    /// Warn past this many, if the root starts it.
    pub root_warn: Limit,
    /// Refuse past this many, if the root starts it.
    pub root_deny: Limit,
    /// Starts within 60 seconds by two or more sub-agents together.
    pub per_minute: Limit,
}

impl Default for Spawns {
    fn default() -> Self {
        Self {
            warn: Limit::of(25),
            deny: Limit::of(50),
            root_warn: Limit::of(50),
            root_deny: Limit::of(200),
            per_minute: Limit::of(20),
        }
    }
}
