//! Rounds of calls whose results nobody reports.

use sprag_core::{Call, Limits};

use super::judge::Action;

impl Action<'_, '_> {
    /// Whether the last `least` calls in the window, and four rounds, were two to four, not all the same,
    /// made in turn.
    pub(crate) fn is_in_turn(&self, call: &Call, limits: &Limits, least: usize) -> bool {
        let mut calls: Vec<_> = self
            .allowed_calls()
            .filter(|(at, _)| self.now.since(*at) < limits.call.window)
            .map(|(_, key)| key)
            .collect();
        calls.push(call.approach.exact);
        calls.drain(..calls.len().saturating_sub(257));
        calls.reverse();
        (2..=4).any(|period| {
            let row = calls.get(..least.max(4 * period));
            row.is_some_and(|row| {
                let in_turn = (period..row.len()).all(|at| row[at] == row[at - period]);
                in_turn && row.iter().any(|key| *key != row[0])
            })
        })
    }
}
