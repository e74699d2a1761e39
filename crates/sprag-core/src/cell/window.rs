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

    /// How long until fewer than `limit` are inside.
    pub(crate) fn retry_after(&self, now: Timestamp, span: Millis, limit: u32) -> Option<Millis> {
        let at = self.0.len().checked_sub(limit as usize)?;
        self.0.get(at).map(|oldest| oldest.plus(span).since(now))
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
        assert_eq!(window.retry_after(Timestamp(50), SPAN, 3), Some(Millis(97)));
    }
}
