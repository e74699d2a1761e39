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
