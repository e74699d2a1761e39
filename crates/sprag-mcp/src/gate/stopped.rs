//! A message that is not passed on: what its sender gets, and what goes on in its place.

use std::sync::atomic::Ordering;

use sprag_core::{CallEvent, Code, Decision, Id, Verdict};

use super::{Gate, OnKill, RequestScope};
use crate::call_meta::CallMeta;
use crate::envelope::Envelope;
use crate::refusal::{Reason, RefusalForm, id_of, refusal};

/// What an agent reads where a verdict has no words.
const REFUSED: &str = "refused by the loop guard";

/// A message that is not passed on, with the response to its sender; a notification gets none.
pub(super) struct Stopped {
    /// What is passed on in its place: a call that a person has approved.
    pub(super) onward: Option<Vec<u8>>,
    pub(super) answer: Option<String>,
}

impl Stopped {
    pub(super) fn with(answer: Option<String>) -> Self {
        Self {
            onward: None,
            answer,
        }
    }
}

/// Whether the client may be asked about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    May,
    MayNot,
}

/// Whether a message is passed on.
pub(super) type Passed = Result<(), Stopped>;

pub(super) fn stop(message: &Envelope<'_>, answer: impl FnOnce(&str) -> String) -> Stopped {
    Stopped::with(id_of(message).map(answer))
}

impl Gate {
    /// What becomes of a call that the guard refuses: a question to the client, or a refusal.
    pub(super) fn refused(
        &self,
        scope: &RequestScope,
        (bytes, message): (&[u8], &Envelope<'_>),
        (meta, form, asking): (&CallMeta, RefusalForm, Asking),
        event: &CallEvent,
        verdict: &Verdict,
    ) -> Stopped {
        self.note_stop(&event.session, verdict);
        let question = || self.question(scope, (bytes, message), meta, event, verdict);
        if let Some(question) = (asking == Asking::May).then(question).flatten() {
            return Stopped::with(Some(question));
        }
        let reason = Reason {
            why: verdict.message.as_deref().unwrap_or(REFUSED),
            code: verdict.code,
        };
        stop(message, |id| refusal(id, form, reason))
    }

    /// Remembers that a session was stopped, and logs it the first time.
    pub(super) fn note_stop(&self, session: &Id, verdict: &Verdict) {
        if verdict.decision < Decision::Block {
            return;
        }
        let is_new = {
            let mut in_flight = self.in_flight();
            let is_new = in_flight.stopped.get(session).is_none();
            in_flight.stopped.insert(session.clone(), ());
            let is_stale = verdict.code == Some(Code::SessionStaleGeneration);
            if verdict.decision == Decision::Kill && !is_stale {
                let generation = verdict.generation;
                in_flight.killed.insert(session.clone(), generation);
            }
            is_new
        };
        if is_new {
            let message = verdict.message.as_deref().unwrap_or_default();
            let message = message.trim_end_matches('.');
            let state = if verdict.decision == Decision::Kill {
                "killed"
            } else {
                "blocked"
            };
            self.source.log(format_args!(
                "a session is {state}: {message}; to see it: sprag sessions list --state {state}"
            ));
        }
        if verdict.decision == Decision::Kill && self.options.on_kill == OnKill::Exit {
            self.must_end.store(true, Ordering::Release);
        }
    }
}
