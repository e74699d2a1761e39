//! The shortest account of a run: one line for tools that count by themselves.

use serde::Serialize;
use sprag_core::RuleId;

use super::run::EvalRun;

/// When a run was first warned, when first refused, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopLine {
    /// Which run.
    pub trace: String,
    /// The step of the first warning.
    pub warn_seq: Option<u64>,
    /// The step of the first refusal.
    pub stop_seq: Option<u64>,
    /// The rule that refused; where none did, the one that warned.
    pub rule: Option<RuleId>,
}

impl From<&EvalRun> for StopLine {
    fn from(run: &EvalRun) -> Self {
        let told = run.stop.as_ref().or(run.warn.as_ref());
        Self {
            trace: run.trace.clone(),
            warn_seq: run.warn.as_ref().map(|mark| mark.seq),
            stop_seq: run.stop_seq(),
            rule: told.map(|mark| mark.rule),
        }
    }
}
