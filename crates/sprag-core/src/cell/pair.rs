//! What is remembered of two sessions that talk to each other.

use super::window::Window;
use crate::time::{Millis, Timestamp};

/// What the other one answered during a run of equal messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Answers {
    #[default]
    None,
    All(u64),
    Mixed,
}

/// A run of equal messages one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MessageRun {
    pub(crate) content: Option<u64>,
    pub(crate) flow: u64,
    pub(crate) count: u32,
    pub(crate) answers: Answers,
}

/// Two sessions that talk; the first is the one whose id sorts first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairCell {
    pub(crate) touched: Timestamp,
    /// The two step counters at the last allowed message.
    pub(super) steps: (u64, u64),
    /// Messages that brought nothing new.
    pub(crate) talk: Window,
    /// The latest of them was warned about.
    pub(crate) warned: bool,
    /// From the first to the second.
    pub(crate) there: MessageRun,
    /// From the second to the first.
    pub(crate) back: MessageRun,
}

impl PairCell {
    pub(crate) fn expire(&mut self, now: Timestamp) {
        if now.since(self.touched) >= Millis::HOUR {
            *self = Self::default();
        }
    }

    /// Whether either of the two did a step since the last allowed message.
    pub(crate) fn worked(&self, steps: (u64, u64)) -> bool {
        self.steps != steps
    }

    /// Starts again if work was done since; then remembers the step counters.
    pub(crate) fn note_work(&mut self, steps: (u64, u64)) {
        if self.worked(steps) {
            self.talk.clear();
            self.warned = false;
            self.there = MessageRun::default();
            self.back = MessageRun::default();
        }
        self.steps = steps;
    }
}
