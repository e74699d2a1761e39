//! The memory of a session's steps. For now it judges nothing.

use serde::{Deserialize, Serialize};

use super::tried::Tried;
use crate::finding::Findings;
use crate::observation::Outcome;
use crate::policy::Limits;
use crate::time::Timestamp;

/// What a session remembers of its steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress;

impl Progress {
    pub(crate) fn judge(
        &mut self,
        _now: Timestamp,
        _tried: &Tried,
        _outcome: &Outcome,
        _limits: &Limits,
        _found: &mut Findings,
    ) {
    }

    pub(crate) fn reset_streaks(&mut self) {}
}
