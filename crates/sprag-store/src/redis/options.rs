//! How a pod uses Redis, and what it does without.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::fail_modes::RuleFailModes;
use super::offline_log::OfflineDecision;
use crate::capacity::Capacity;

/// Hears of every decision that was made without Redis.
pub type OnOfflineDecision = Arc<dyn Fn(&OfflineDecision) + Send + Sync>;

/// How a pod uses Redis.
#[derive(Clone)]
pub struct RedisOptions {
    /// Where it is: `redis://`, `rediss://`, `unix://`, with `+sentinel` or `+cluster` before the colon.
    pub url: String,
    /// All keys start with this in braces; pods with the same one share everything.
    pub namespace: String,
    /// The certificates to trust in PEM form; none: those of the system.
    pub ca: Option<Vec<u8>>,
    /// How long one decision may take before the pod decides alone.
    pub deadline: Duration,
    /// How many connections are kept open.
    pub connections: usize,
    /// What each rule does without Redis.
    pub fail: RuleFailModes,
    /// How many replicas must have a kill, block or reset before it is answered.
    pub replicas: u32,
    /// How many records the log in Redis keeps.
    pub max_records: u64,
    /// How many sessions Redis keeps, and how many cells a pod keeps at hand.
    pub capacity: Capacity,
    /// What this pod is called in the log.
    pub pod: String,
    /// Hears of every decision that was made without Redis.
    pub on_offline: Option<OnOfflineDecision>,
}

impl RedisOptions {
    /// The usual settings for `url`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            namespace: "sprag".to_owned(),
            ca: None,
            deadline: Duration::from_millis(250),
            connections: 8,
            fail: RuleFailModes::default(),
            replicas: 0,
            max_records: 100_000,
            capacity: Capacity::default(),
            pod: format!("process {}", std::process::id()),
            on_offline: None,
        }
    }
}

/// Without the address: it may hold a password.
impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions")
            .field("namespace", &self.namespace)
            .field("deadline", &self.deadline)
            .field("connections", &self.connections)
            .field("fail", &self.fail)
            .field("replicas", &self.replicas)
            .field("max_records", &self.max_records)
            .field("pod", &self.pod)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let options = RedisOptions::new("redis://user:hunter2@host/0");
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
