//! When an answer may be given: some words must not be lost once they were said.

use sprag_core::{Decision, Observation, Observed, RuleId, Verdict};

/// Whether an answer outlives the machine. A verdict is given either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// It is on the disk.
    Yes,
    /// It is enforced, and lost if this process ends before the disk can be written again.
    No,
}

/// When an answer may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// At once; it is durable soon.
    Soon,
    /// Once every kill, block and reset before it is durable: it only repeats one of them.
    AfterOthers,
    /// Once it is durable itself.
    Durable,
}

impl Durability {
    pub(crate) fn of(observation: &Observation, verdict: &Verdict) -> Self {
        let is_order = matches!(
            observation.what,
            Observed::Kill(_) | Observed::Reset(_) | Observed::Approve(_) | Observed::Decline(_)
        );
        if is_order {
            return Self::Durable;
        }
        match (verdict.decision, verdict.rule) {
            (_, Some(RuleId::SessionKilled)) => Self::AfterOthers,
            (Decision::Ask | Decision::Block | Decision::Kill, _) => Self::Durable,
            _ => Self::Soon,
        }
    }
}
