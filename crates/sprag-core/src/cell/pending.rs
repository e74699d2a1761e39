//! A call between its verdict and its step.

use super::losses::CallLosses;
use super::tried::Tried;
use crate::time::Timestamp;

/// A call that waits for its step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingCall {
    pub(crate) id: u64,
    pub(crate) tried: Tried,
    pub(crate) refused: bool,
    /// It waits for a person's word.
    pub(crate) asked: bool,
    /// Its client asks its person: if it runs, they let it run.
    pub(crate) dialog: bool,
    /// What it destroys if it runs all the same; kept only while it waits for a person's word.
    pub(crate) losses: Option<Box<CallLosses>>,
    /// When it was made.
    pub(crate) at: Timestamp,
    /// How many steps had been judged when its turn began.
    pub(crate) turn_start: u32,
}

impl PendingCall {
    /// Whether it was refused for good: nobody can have let it run.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused && !self.asked
    }
}
