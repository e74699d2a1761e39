//! Policy: every limit and mode, as data.
//!
//! [`Limits`] is what the rules read: one flat answer for one session. [`Policy`] is what people
//! write: a base, overrides by agent and session, and how single tools are to be seen.
//! [`Policy::limits_for`] merges the matching overrides over the base.

mod limits;

pub use limits::{
    AccessLimits, Amounts, BudgetLimits, CallLimits, Classifier, ConversationLimits,
    DestructiveLimits, Echo, FlowLimits, InboxLimits, Limit, LimitError, Limits, Mode, Modes,
    ProgressLimits, Scope, SessionLimits, Threshold,
};
/// What people write. For now: one set of limits for everyone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policy {
    base: Limits,
}

impl Policy {
    /// The limits for one session of one agent.
    #[must_use]
    pub fn limits_for(&self, _agent: Option<&str>, _session: &str) -> &Limits {
        &self.base
    }
}
