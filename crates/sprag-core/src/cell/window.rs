//! A sliding window: the times of what happened lately.
//!
//! Holds `t > now - span`; something exactly `span` old is out. Times arrive in order, because
//! `now` never goes back, so the oldest are in front. Bounded by the limit it is kept for.

use std::collections::VecDeque;

use crate::time::{Millis, Timestamp};

/// The times of the most recent happenings, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Window(pub(super) VecDeque<Timestamp>);

/// Whether something at `at` still counts at `now`.
pub(crate) fn inside(at: Timestamp, now: Timestamp, span: Millis) -> bool {
    now.since(at) < span
}

/// Messages inside a window, of which those that bring something new count half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Weighed {
    pub(crate) plain: usize,
    pub(crate) new: usize,
}

impl Weighed {
    pub(crate) fn of(plain: &Window, new: &Window, now: Timestamp, span: Millis) -> Self {
        Self {
            plain: plain.count(now, span),
            new: new.count(now, span),
        }
    }

    /// How much they count.
    pub(crate) fn weight(self) -> usize {
        self.plain + self.new / 2
    }

    /// How much they count if half a one is over a limit too.
    pub(crate) fn weight_up(self) -> usize {
        self.plain + self.new.div_ceil(2)
    }

    /// How many they are.
    pub(crate) fn total(self) -> usize {
        self.plain + self.new
    }

    /// How long until they count less than `limit`.
    pub(crate) fn retry_after(
        plain: &Window,
        new: &Window,
        now: Timestamp,
        span: Millis,
        limit: u32,
    ) -> Option<Millis> {
        let mut ends: Vec<Timestamp> = plain
            .0
            .iter()
            .chain(&new.0)
            .map(|at| at.plus(span))
            .collect();
        ends.sort_unstable();
        let is_free = |at: &Timestamp| Self::of(plain, new, *at, span).weight() < limit as usize;
        let free = ends.into_iter().filter(|at| *at > now).find(is_free)?;
        Some(free.since(now))
    }
}

impl Window {
    /// How many are inside at `now`.
    pub(crate) fn count(&self, now: Timestamp, span: Millis) -> usize {
        self.0.len() - self.0.partition_point(|at| !inside(*at, now, span))
    }

    /// Adds `now`, forgetting what is outside and all but the latest `keep`.
    pub(crate) fn push(&mut self, now: Timestamp, span: Millis, keep: u32) {
        while self.0.front().is_some_and(|at| !inside(*at, now, span)) {
            self.0.pop_front();
        }
        while self.0.len() >= keep as usize {
            self.0.pop_front();
        }
        self.0.push_back(now);
    }

    /// When the oldest one that is inside happened.
    pub(crate) fn oldest(&self, now: Timestamp, span: Millis) -> Option<Timestamp> {
        self.0.iter().copied().find(|at| inside(*at, now, span))
    }

    /// When the latest one happened.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.0.back().copied()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Millis = Millis(100);

    #[test]
    fn what_is_exactly_a_span_old_is_out() {
        let mut window = Window::default();
        window.push(Timestamp(0), SPAN, 9);
        assert_eq!(window.count(Timestamp(99), SPAN), 1);
        assert_eq!(window.count(Timestamp(100), SPAN), 0);
    }

    #[test]
    fn it_keeps_at_most_what_it_is_told() {
        let mut window = Window::default();
        for at in 0..50 {
            window.push(Timestamp(at), SPAN, 3);
        }
        assert_eq!(window.count(Timestamp(50), SPAN), 3);
    }

    #[test]
    fn what_brings_something_new_counts_half() {
        let (mut plain, mut new) = (Window::default(), Window::default());
        for at in 0..3 {
            plain.push(Timestamp(at), SPAN, 9);
            new.push(Timestamp(at + 40), SPAN, 9);
        }
        let now = Timestamp(50);
        let weighed = Weighed::of(&plain, &new, now, SPAN);
        assert_eq!(
            (weighed.weight(), weighed.weight_up(), weighed.total()),
            (4, 5, 6)
        );
        let retry = |limit| Weighed::retry_after(&plain, &new, now, SPAN, limit);
        assert_eq!(retry(4), Some(Millis(50)));
        assert_eq!(retry(2), Some(Millis(52)));
        assert_eq!(retry(1), Some(Millis(91)));
    }
}
