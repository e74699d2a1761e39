//! What a session removed in its workspace since there last was news.
//!
//! News is a step with an outcome that was not among the last [`OUTCOMES`] since the first removal. The very
//! first outcome is not news: it is what the removal itself brought.

use std::collections::VecDeque;

use super::session::ResettableState;
use super::window::inside;
use crate::observation::Outcome;
use crate::time::{Millis, Timestamp};

/// So many removals are kept.
const KEPT: usize = 64;
/// So many outcomes are kept.
const OUTCOMES: usize = 32;
/// Older removals do not count, whatever came since.
const SPAN: Millis = Millis(10 * 60 * 1000);

/// Removals in the workspace, by target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NearLosses {
    pub(super) targets: VecDeque<(u64, Timestamp)>,
    pub(super) outcomes: Vec<u64>,
}

impl NearLosses {
    /// How often `target` was removed since the last news.
    pub(crate) fn count(&self, target: u64, now: Timestamp) -> u32 {
        let same = |(held, at): &&(u64, Timestamp)| *held == target && inside(*at, now, SPAN);
        u32::try_from(self.targets.iter().filter(same).count()).unwrap_or(u32::MAX)
    }

    /// Remembers a call with its targets.
    pub(crate) fn push(&mut self, targets: &[u64], now: Timestamp) {
        for target in targets {
            if self.targets.len() >= KEPT {
                self.targets.pop_front();
            }
            self.targets.push_back((*target, now));
        }
    }

    /// Takes the outcome of a step.
    pub(crate) fn step(&mut self, outcome: u64) {
        if self.outcomes.contains(&outcome) {
            return;
        }
        if !self.outcomes.is_empty() {
            self.targets.clear();
        }
        if self.outcomes.len() >= OUTCOMES {
            self.outcomes.remove(0);
        }
        self.outcomes.push(outcome);
    }
}

impl ResettableState {
    /// Takes the outcome of a judged step: what is new excuses removals in the workspace.
    pub(crate) fn news(&mut self, outcome: &Outcome) {
        if let Some(near) = &mut self.near {
            near.step(outcome.normal.prefix());
        }
    }
}
