//! The destructive calls of the last minute, as times and as targets.

use std::collections::VecDeque;

use super::window::{Window, inside};
use crate::time::{Millis, Timestamp};

/// Destructive calls that were let through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Destructive {
    pub(crate) window: Window,
    pub(super) targets: VecDeque<(u64, Timestamp)>,
    /// What the latest calls were on, in clear where the log may hold it.
    pub(super) names: VecDeque<(Box<str>, Timestamp)>,
}

/// So many names are kept, for what is said when a rule trips.
const NAMES: usize = 16;

impl Destructive {
    /// In how many earlier calls inside the window `target` was.
    pub(crate) fn count_target(&self, target: u64, now: Timestamp, span: Millis) -> u32 {
        let earlier = self
            .targets
            .iter()
            .rev()
            .take_while(|(_, at)| inside(*at, now, span))
            .filter(|(held, _)| *held == target)
            .count();
        u32::try_from(earlier).unwrap_or(u32::MAX)
    }

    /// When `target` was first in a call inside the window.
    pub(crate) fn first_on(&self, target: u64, now: Timestamp, span: Millis) -> Option<Timestamp> {
        self.targets
            .iter()
            .filter(|(held, at)| *held == target && inside(*at, now, span))
            .map(|(_, at)| *at)
            .next()
    }

    /// Whether every target inside the window is `target`.
    pub(crate) fn only_on(&self, target: u64, now: Timestamp, span: Millis) -> bool {
        self.targets
            .iter()
            .filter(|(_, at)| inside(*at, now, span))
            .all(|(held, _)| *held == target)
    }

    /// What the calls inside the window were on, oldest first.
    pub(crate) fn names(&self, now: Timestamp, span: Millis) -> impl Iterator<Item = &str> {
        self.names
            .iter()
            .filter(move |(_, at)| inside(*at, now, span))
            .map(|(name, _)| &**name)
    }

    /// Remembers what a call was on, in clear.
    pub(crate) fn name(&mut self, name: &str, now: Timestamp) {
        if self.names.len() >= NAMES {
            self.names.pop_front();
        }
        self.names.push_back((Box::from(name), now));
    }

    /// Remembers one call with its targets: the times of the last `keep`, 16 targets for each.
    pub(crate) fn push(&mut self, targets: &[u64], now: Timestamp, span: Millis, keep: u32) {
        self.window.push(now, span, keep);
        self.push_targets(targets, now, span, keep);
    }

    /// Remembers the targets of a call that does not count by itself.
    pub(crate) fn push_targets(
        &mut self,
        targets: &[u64],
        now: Timestamp,
        span: Millis,
        keep: u32,
    ) {
        while self
            .targets
            .front()
            .is_some_and(|(_, at)| !inside(*at, now, span))
        {
            self.targets.pop_front();
        }
        let most = usize::try_from(keep)
            .unwrap_or(0)
            .saturating_mul(16)
            .clamp(64, 4096);
        for target in targets {
            if self.targets.len() >= most {
                self.targets.pop_front();
            }
            self.targets.push_back((*target, now));
        }
    }
}
