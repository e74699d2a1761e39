//! The destructive calls of the last minute, as times and as targets.

use std::collections::VecDeque;

use super::window::{Window, inside};
use crate::time::{Millis, Timestamp};

/// Destructive calls that were let through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Destructive {
    pub(crate) window: Window,
    pub(super) targets: VecDeque<(u64, Timestamp)>,
}

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

    /// Remembers one call with its targets: the times of the last `keep`, 16 targets for each.
    pub(crate) fn push(&mut self, targets: &[u64], now: Timestamp, span: Millis, keep: u32) {
        self.window.push(now, span, keep);
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
