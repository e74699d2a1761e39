//! The last calls of a session: how often one was made, and whether it is made in a row or in rounds.
//!
//! Bounded by: 256 calls, 64-bit keys and times.

use std::collections::VecDeque;

use super::pace::LULL;
use super::window::inside;
use crate::time::{Millis, Timestamp};

/// Identical calls are looked for among this many.
pub(crate) const MAX_CALLS: usize = 256;

/// The session's last calls that were let through, oldest first.
///
/// Almost no call was made `max_identical` times before, and `crowds` shows that without looking
/// at all of them: it counts the remembered calls by five bits of their key. A young session
/// looks through the few it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(super) recent: VecDeque<(u64, Timestamp)>,
    crowds: Option<Box<[u16; CROWDS]>>,
    pub(super) in_a_row: u32,
}

const CROWDS: usize = 32;

/// How many calls a round may have that is looked for where no results are reported.
const ROUND_CALLS: std::ops::RangeInclusive<usize> = 2..=4;

impl Calls {
    /// From its lists; the crowds are a count of them.
    pub(super) fn with(recent: VecDeque<(u64, Timestamp)>, in_a_row: u32) -> Self {
        let mut calls = Self {
            recent,
            crowds: None,
            in_a_row,
        };
        if calls.recent.len() >= CROWDS {
            calls.crowds = Some(calls.count_crowds());
        }
        calls
    }

    /// When the `nth` latest call of `key` within `span` was, if there were as many.
    pub(crate) fn nth_latest(
        &self,
        key: u64,
        nth: u32,
        now: Timestamp,
        span: Millis,
    ) -> Option<Timestamp> {
        let crowd = self
            .crowds
            .as_ref()
            .and_then(|crowds| crowds.get(crowd_of(key)));
        if crowd.is_some_and(|crowd| u32::from(*crowd) < nth) {
            return None;
        }
        self.recent
            .iter()
            .rev()
            .take_while(|(_, at)| inside(*at, now, span))
            .filter(|(held, _)| *held == key)
            .nth(usize::try_from(nth).ok()?.checked_sub(1)?)
            .map(|(_, at)| *at)
    }

    /// How often in a row `key` was called, with one call more at `now`. A lull ends the row.
    pub(crate) fn row_with(&self, key: u64, now: Timestamp) -> u32 {
        let goes_on = |(last, at): &(u64, Timestamp)| *last == key && inside(*at, now, LULL);
        if self.recent.back().is_some_and(goes_on) {
            self.in_a_row.saturating_add(1)
        } else {
            1
        }
    }

    /// Whether one of the calls of the longest round was of `key`. Almost every call is another one.
    fn made_lately(&self, key: u64) -> bool {
        let after = self.recent.len();
        let mut latest = after.saturating_sub(*ROUND_CALLS.end())..after;
        latest.any(|at| self.recent.get(at).is_some_and(|(held, _)| *held == key))
    }

    /// How often the last few calls were made in turn, with one call of `key` more at `now` that ends a
    /// round; the number of calls in a round comes with it. A lull ends the rounds.
    pub(crate) fn rounds_with(&self, key: u64, now: Timestamp) -> Option<(u32, usize)> {
        if !self.made_lately(key) {
            return None;
        }
        // The call `n` back, this one being 0, and whether it was made soon after the one before it.
        let back = |n: usize| match n {
            0 => Some((key, now)),
            _ => self.recent.get(self.recent.len().checked_sub(n)?).copied(),
        };
        let held = |n: usize| back(n).map(|(held, _)| held);
        let soon = |n: usize| match (back(n), n.checked_sub(1).and_then(back)) {
            (Some((_, earlier)), Some((_, later))) => inside(earlier, later, LULL),
            (held, _) => held.is_some() && n == 0,
        };
        ROUND_CALLS.into_iter().find_map(|period| {
            if held(period) != Some(key) || !(1..period).all(soon) {
                return None;
            }
            let same = (0..MAX_CALLS)
                .take_while(|n| soon(n + period) && held(*n) == held(n + period))
                .count();
            let calls = same + period;
            let varies = (0..period).any(|n| held(n) != Some(key));
            let ends_round = same > 0 && calls.is_multiple_of(period) && varies;
            let rounds = u32::try_from(calls / period).ok()?;
            ends_round.then_some((rounds, period))
        })
    }

    /// How many calls up to the one of `key` at `now` were the same few in turn, all within `span`, if they are
    /// `least` or more and four rounds; the number of calls in a round comes with it.
    pub(crate) fn in_turn(
        &self,
        key: u64,
        now: Timestamp,
        span: Millis,
        least: usize,
    ) -> Option<(usize, usize)> {
        if self.recent.len() + 1 < least || !self.made_lately(key) {
            return None;
        }
        // The n-th latest call, this one first; no call is older than the span.
        let held = |n: usize| match n {
            0 => Some(key),
            n => {
                let (held, at) = self.recent.get(self.recent.len().checked_sub(n)?)?;
                inside(*at, now, span).then_some(*held)
            }
        };
        ROUND_CALLS.into_iter().find_map(|period| {
            if held(period) != Some(key) {
                return None;
            }
            let pairs = (0..MAX_CALLS).map(|n| (held(n), held(n + period)));
            let same = pairs.take_while(|(one, other)| other.is_some() && one == other);
            let calls = period + same.count();
            let varies = (1..period).any(|n| held(n).is_some_and(|held| held != key));
            (varies && calls >= least.max(4 * period)).then_some((calls, period))
        })
    }

    /// When the `nth` latest call was, of whatever key.
    pub(crate) fn nth_of_all(&self, nth: usize) -> Option<Timestamp> {
        let (_, at) = self.recent.get(self.recent.len().checked_sub(nth)?)?;
        Some(*at)
    }

    pub(crate) fn push(&mut self, key: u64, now: Timestamp) {
        self.in_a_row = self.row_with(key, now);
        let gone = if self.recent.len() >= MAX_CALLS {
            self.recent.pop_front()
        } else {
            None
        };
        self.recent.push_back((key, now));
        match &mut self.crowds {
            Some(crowds) => {
                if let Some(crowd) = gone.and_then(|(gone, _)| crowds.get_mut(crowd_of(gone))) {
                    *crowd = crowd.saturating_sub(1);
                }
                if let Some(crowd) = crowds.get_mut(crowd_of(key)) {
                    *crowd = crowd.saturating_add(1);
                }
            }
            None if self.recent.len() >= CROWDS => self.crowds = Some(self.count_crowds()),
            None => {}
        }
    }

    fn count_crowds(&self) -> Box<[u16; CROWDS]> {
        let mut crowds = Box::new([0_u16; CROWDS]);
        for (key, _) in &self.recent {
            if let Some(crowd) = crowds.get_mut(crowd_of(*key)) {
                *crowd = crowd.saturating_add(1);
            }
        }
        crowds
    }
}

fn crowd_of(key: u64) -> usize {
    usize::try_from(key % CROWDS as u64).unwrap_or(0)
}
