//! Too many lines of the same kind are one line and a number.
//!
//! An agent that hammers is refused a thousand times a second, and whoever reads the log wants to see that once. So
//! of one rule in one session a few lines pass in each window, and the next window starts by telling how many
//! were left out. New kills and blocks always pass: there is one for each stop.
//!
//! Bounded: so many pairs are told apart in a window; what comes beyond them shares one count for each rule.

use std::collections::HashMap;

use sprag_core::{Millis, RuleId, Timestamp};

/// How long a window is.
const WINDOW: Millis = Millis(10_000);
/// How many lines of one rule and session pass in a window.
const BURST: u64 = 5;
/// How many pairs of rule and session are told apart.
const MAX_PAIRS: usize = 1024;

/// What stands for every session past the bound.
const OTHERS: &str = "others";

#[derive(Debug)]
struct FloodWindow {
    since: Timestamp,
    seen: u64,
}

impl FloodWindow {
    fn left_out(&self) -> u64 {
        self.seen.saturating_sub(BURST)
    }
}

/// What is to be done with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// Write it; so many before it were left out.
    Yes {
        /// Lines of the same rule and session since the last that was written.
        left_out: u64,
    },
    /// Leave it out.
    No,
}

/// Lines that were left out and that no later line told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Whose.
    pub(super) session: String,
    /// By which rule.
    pub(super) rule: RuleId,
    /// How many.
    pub(super) lines: u64,
}

/// Counts lines by rule and session.
#[derive(Debug, Default)]
pub(super) struct Flood {
    windows: HashMap<(RuleId, String), FloodWindow>,
    swept: Timestamp,
}

impl Flood {
    /// Whether a line of `rule` in `session` may pass at `at`.
    pub(super) fn pass(&mut self, rule: RuleId, session: &str, at: Timestamp) -> Admission {
        let mut key = (rule, session.to_owned());
        if self.windows.len() >= MAX_PAIRS && !self.windows.contains_key(&key) {
            key.1 = OTHERS.to_owned();
        }
        let window = self
            .windows
            .entry(key)
            .or_insert(FloodWindow { since: at, seen: 0 });
        let mut left_out = 0;
        if at.since(window.since) >= WINDOW {
            left_out = window.left_out();
            *window = FloodWindow { since: at, seen: 0 };
        }
        window.seen = window.seen.saturating_add(1);
        if window.seen > BURST {
            return Admission::No;
        }
        Admission::Yes { left_out }
    }

    /// Forgets windows that are over, at most once in each, and answers what was left out in them.
    pub(super) fn sweep(&mut self, at: Timestamp) -> Vec<LeftOut> {
        if at.since(self.swept) < WINDOW {
            return Vec::new();
        }
        self.swept = at;
        self.take(|window| at.since(window.since) >= WINDOW)
    }

    /// Forgets everything, and answers what was left out.
    pub(super) fn end(&mut self) -> Vec<LeftOut> {
        self.take(|_| true)
    }

    fn take(&mut self, over: impl Fn(&FloodWindow) -> bool) -> Vec<LeftOut> {
        let ended = self.windows.extract_if(|_, window| over(window));
        let mut left: Vec<_> = ended
            .filter(|(_, window)| window.left_out() > 0)
            .map(|((rule, session), window)| LeftOut {
                session,
                rule,
                lines: window.left_out(),
            })
            .collect();
        left.sort_by(|a, b| (a.rule, &a.session).cmp(&(b.rule, &b.session)));
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: RuleId = RuleId::FlowDepth;

    #[test]
    fn five_lines_pass_in_a_window_and_the_next_window_tells_the_rest() {
        let mut flood = Flood::default();
        let mut pass = |at| flood.pass(RULE, "s", Timestamp(at));
        for at in 0..5 {
            assert_eq!(pass(at), Admission::Yes { left_out: 0 });
        }
        for at in 5..12 {
            assert_eq!(pass(at), Admission::No);
        }
        assert_eq!(pass(9_999), Admission::No);
        assert_eq!(pass(10_000), Admission::Yes { left_out: 8 });
        assert_eq!(pass(10_001), Admission::Yes { left_out: 0 });
    }

    #[test]
    fn rules_and_sessions_are_told_apart() {
        let mut flood = Flood::default();
        for _ in 0..5 {
            flood.pass(RULE, "a", Timestamp(1));
        }
        assert_eq!(flood.pass(RULE, "a", Timestamp(1)), Admission::No);
        assert_ne!(flood.pass(RULE, "b", Timestamp(1)), Admission::No);
        assert_ne!(
            flood.pass(RuleId::FlowRate, "a", Timestamp(1)),
            Admission::No
        );
    }

    #[test]
    fn what_no_later_line_told_of_is_told_by_a_sweep() {
        let mut flood = Flood::default();
        for _ in 0..9 {
            flood.pass(RULE, "a", Timestamp(20_000));
        }
        assert_eq!(flood.sweep(Timestamp(29_999)), []);
        let told = LeftOut {
            session: "a".to_owned(),
            rule: RULE,
            lines: 4,
        };
        assert_eq!(flood.sweep(Timestamp(40_000)), [told]);
        assert_eq!(flood.end(), []);
    }

    #[test]
    fn an_agent_that_names_ever_new_sessions_takes_no_memory() {
        let mut flood = Flood::default();
        let mut passed = 0;
        for n in 0..5_000 {
            let pass = flood.pass(RULE, &format!("s{n}"), Timestamp(1));
            passed += u64::from(pass != Admission::No);
        }
        assert!(flood.windows.len() <= MAX_PAIRS + 1);
        assert_eq!(passed, 1024 + BURST);
    }
}
