//! What is remembered of a task: the runs that were opened with the same words.
//!
//! The cell holds no steps. Each run's session keeps a rolling digest of its own, and whoever judges a new run
//! reads those of the last few.

use crate::id::Id;
use crate::time::{Millis, Timestamp};

/// So many runs of a task are kept.
pub(crate) const MAX_RUNS: usize = 8;

/// A run that was opened with the words of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskRun {
    pub(crate) session: Id,
    pub(crate) generation: u32,
    pub(crate) at: Timestamp,
}

/// One task of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskCell {
    pub(crate) touched: Timestamp,
    /// The latest last.
    pub(crate) runs: Vec<TaskRun>,
    /// When somebody was last told that it is run again and again.
    pub(crate) warned: Option<Timestamp>,
}

impl TaskCell {
    pub(crate) fn expire(&mut self, now: Timestamp) {
        if now.since(self.touched) >= Millis::DAY {
            *self = Self::default();
        }
    }

    /// The sessions of its runs.
    pub fn sessions(&self) -> impl Iterator<Item = &Id> {
        self.runs.iter().map(|run| &run.session)
    }

    pub(crate) fn open(&mut self, run: TaskRun) {
        if self.runs.len() >= MAX_RUNS {
            self.runs.remove(0);
        }
        self.runs.push(run);
    }
}

/// What one run did, as far as two runs are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunTrace {
    /// Of its steps and their results, one after the other.
    pub(crate) digest: u64,
    pub(crate) steps: u32,
    /// One of its steps was not a mere look.
    pub(crate) works: bool,
}

/// A run as the next one sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlierRun {
    pub(crate) trace: RunTrace,
    pub(crate) opened: Timestamp,
    /// Its session's last event.
    pub(crate) touched: Timestamp,
}
