//! What was told already.
//!
//! Bounded: so many sessions are remembered; the one that was told of longest ago goes first.

use std::collections::HashMap;

use sprag_core::{Decision, Millis, Timestamp};

use super::alert::Alert;

/// Blocks of one session that follow each other within this time are told as one.
const FOLD_WITHIN: Millis = Millis::MINUTE;
const MAX_SESSIONS: usize = 4096;

#[derive(Debug, Default)]
struct LastAlert {
    generation: u32,
    killed: bool,
    asked: bool,
    told_at: Timestamp,
    folded: u64,
}

/// What is to be done with an alert.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FoldAction {
    /// Nothing: it was told.
    Suppress,
    /// Tell it, and that there were so many that were not told.
    Send(u64),
}

#[derive(Debug, Default)]
pub(super) struct AlertHistory(HashMap<String, LastAlert>);

impl AlertHistory {
    pub(super) fn tell(&mut self, alert: &Alert) -> FoldAction {
        // A notice is given once by the engine itself.
        if alert.verdict == Decision::Allow {
            return FoldAction::Send(0);
        }
        self.make_room(&alert.session);
        let known = self.0.contains_key(&alert.session);
        let past = self.0.entry(alert.session.clone()).or_default();
        let again = known && past.generation == alert.generation;
        let told = match alert.verdict {
            Decision::Kill => again && past.killed,
            verdict => {
                let same = past.asked == (verdict == Decision::Ask);
                again && same && alert.at.since(past.told_at) < FOLD_WITHIN
            }
        };
        if told {
            past.folded = past.folded.saturating_add(1);
            return FoldAction::Suppress;
        }
        let folded = if again { past.folded } else { 0 };
        *past = LastAlert {
            generation: alert.generation,
            killed: alert.verdict == Decision::Kill,
            asked: alert.verdict == Decision::Ask,
            told_at: alert.at,
            folded: 0,
        };
        FoldAction::Send(folded)
    }

    fn make_room(&mut self, session: &str) {
        if self.0.len() < MAX_SESSIONS || self.0.contains_key(session) {
            return;
        }
        let oldest = self.0.iter().min_by_key(|(_, past)| past.told_at);
        if let Some(session) = oldest.map(|(session, _)| session.clone()) {
            self.0.remove(&session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(session: &str, verdict: Decision, generation: u32, at: u64) -> Alert {
        Alert {
            seq: 1,
            at: Timestamp(at),
            session: session.to_owned(),
            agent: None,
            generation,
            verdict,
            approval: None,
            until: Timestamp(0),
            link: None,
            failures: std::sync::Arc::default(),
            rule: None,
            by: None,
            why: String::new(),
            destroys: String::new(),
            text: String::new(),
            id: String::new(),
            body: String::new(),
        }
    }

    #[test]
    fn a_kill_is_told_once_in_each_generation() {
        let mut history = AlertHistory::default();
        let mut tell = |generation, at| history.tell(&alert("s", Decision::Kill, generation, at));
        assert_eq!(tell(1, 0), FoldAction::Send(0));
        assert_eq!(tell(1, 10_000_000), FoldAction::Suppress);
        assert_eq!(tell(2, 10_000_001), FoldAction::Send(0));
    }

    #[test]
    fn blocks_within_a_minute_are_folded_into_the_next() {
        let mut history = AlertHistory::default();
        let mut tell = |verdict, at| history.tell(&alert("s", verdict, 1, at));
        assert_eq!(tell(Decision::Block, 0), FoldAction::Send(0));
        assert_eq!(tell(Decision::Block, 1), FoldAction::Suppress);
        assert_eq!(tell(Decision::Block, 59_999), FoldAction::Suppress);
        assert_eq!(tell(Decision::Block, 60_000), FoldAction::Send(2));
        assert_eq!(tell(Decision::Block, 60_001), FoldAction::Suppress);
        assert_eq!(tell(Decision::Ask, 60_001), FoldAction::Send(1));
        assert_eq!(tell(Decision::Ask, 60_002), FoldAction::Suppress);
        assert_eq!(tell(Decision::Kill, 60_003), FoldAction::Send(1));
    }

    #[test]
    fn so_many_sessions_are_remembered_and_no_more() {
        let mut history = AlertHistory::default();
        for n in 0..5_000 {
            let told = history.tell(&alert(&format!("s{n}"), Decision::Kill, 1, n));
            assert_eq!(told, FoldAction::Send(0));
        }
        assert_eq!(history.0.len(), MAX_SESSIONS);
        assert_eq!(
            history.tell(&alert("s4999", Decision::Kill, 1, 5_000)),
            FoldAction::Suppress
        );
    }
}
