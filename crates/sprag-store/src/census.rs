//! How many sessions are in which state, known without looking at them all.
//!
//! Metrics are read every few seconds and a store may hold a hundred thousand sessions. Only few of
//! them are marked, and only few events can change a mark, so the marked ones are kept aside: after such an
//! event the session's cell says what it is now.

use std::collections::HashMap;

use sprag_core::{Decision, Id, Observed, Verdict};

use crate::query::SessionState;

/// Sessions by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Those that may go on.
    pub active: u64,
    /// Those that may talk, not act.
    pub blocked: u64,
    /// Those that may do nothing.
    pub killed: u64,
}

/// The sessions that are not active.
#[derive(Debug, Default)]
pub(crate) struct Marked {
    states: HashMap<Id, SessionState>,
    killed: u64,
}

impl Marked {
    /// Whether an event may have set or lifted a mark.
    pub(crate) fn may_change(what: &Observed, verdict: &Verdict) -> bool {
        match what {
            Observed::Kill(_) | Observed::Reset(_) => true,
            Observed::Message(message) if message.from.is_none() => true,
            _ => verdict.decision >= Decision::Block,
        }
    }

    /// Takes note of what a session is now.
    pub(crate) fn set(&mut self, id: &Id, state: SessionState) {
        let before = if state == SessionState::Active {
            self.states.remove(id)
        } else {
            self.states.insert(id.clone(), state)
        };
        if before == Some(SessionState::Killed) {
            self.killed = self.killed.saturating_sub(1);
        }
        if state == SessionState::Killed {
            self.killed = self.killed.saturating_add(1);
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Forgets those that are gone.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&Id) -> bool) {
        self.states.retain(|id, _| is_there(id));
        let killed = self.states.values();
        let killed = killed
            .filter(|state| **state == SessionState::Killed)
            .count();
        self.killed = u64::try_from(killed).unwrap_or(u64::MAX);
    }

    /// The census of `sessions` sessions, these among them.
    pub(crate) fn census(&self, sessions: u64) -> Census {
        let marked = u64::try_from(self.states.len()).unwrap_or(u64::MAX);
        Census {
            active: sessions.saturating_sub(marked),
            blocked: marked.saturating_sub(self.killed),
            killed: self.killed,
        }
    }
}
