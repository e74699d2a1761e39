//! What the gateway remembers of one session between two requests. The guard holds everything that
//! decides; this is only what it takes to report each thing once and to say each thing in its place.

use std::collections::VecDeque;

use sprag_core::Verdict;

use crate::limits::{KEPT_ANSWERS, SEEN, WARNINGS};
use crate::request::{RemovedCall, Tokens, global};

/// Where a session stands between warning and stop.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Standing {
    /// It goes on.
    #[default]
    Free,
    /// It is blocked; the model may answer once more, without its calls.
    Blocked(Box<Verdict>),
    /// It had that answer. The gateway speaks until the user does.
    Told(Box<Verdict>),
}

/// The memory of one session.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) standing: Standing,
    pub(crate) is_known: bool,
    /// What the last answer cost: the next one will cost about as much.
    pub(crate) last: Tokens,
    /// What the guard said about an answer: it goes next to the next result.
    pub(crate) note: Option<String>,
    /// How the session's own conversation begins; others in its name are of sub-agents.
    opening: Option<u64>,
    prompt: Option<String>,
    seen: VecDeque<u64>,
    warnings: VecDeque<(String, String)>,
    kept: VecDeque<(String, Vec<RemovedCall>)>,
}

impl Conversation {
    /// Whether `thing` is seen for the first time.
    pub(crate) fn is_new(&mut self, kind: &str, thing: &str) -> bool {
        let digest = digest(kind, thing);
        if self.seen.contains(&digest) {
            return false;
        }
        if self.seen.len() == SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(digest);
        true
    }

    /// What tells a conversation in the session's name from the session's own one; none for that one.
    pub(crate) fn aside(&mut self, opening: &[u8]) -> Option<u64> {
        let digest = fnv(opening.iter().copied());
        let own = *self.opening.get_or_insert(digest);
        (own != digest).then_some(digest)
    }

    /// Whether the client names another prompt of its user than before.
    pub(crate) fn is_new_prompt(&mut self, prompt: &str) -> bool {
        let is_new = self.prompt.as_deref() != Some(prompt);
        self.prompt = Some(prompt.to_owned());
        is_new
    }

    /// Keeps a text for the place next to the result of `use_id`. An id that other calls have too names
    /// no place.
    pub(crate) fn warn(&mut self, use_id: &str, text: String) {
        if global(use_id).is_none() || self.warnings.iter().any(|(id, _)| id == use_id) {
            return;
        }
        // A later place is left out rather than an earlier one given up: taking a text away changes
        // every request from there on, and with it what the provider has cached.
        if self.warnings.len() < WARNINGS {
            self.warnings.push_back((use_id.to_owned(), text));
        }
    }

    pub(crate) fn warnings(&self) -> Vec<(String, String)> {
        self.warnings.iter().cloned().collect()
    }

    /// The provider keeps an answer with calls that were taken out: they need results later.
    pub(crate) fn keep(&mut self, answer: String, removed: Vec<RemovedCall>) {
        if self.kept.len() == KEPT_ANSWERS {
            self.kept.pop_front();
        }
        self.kept.push_back((answer, removed));
    }

    /// The results that a request owes which follows `answer`.
    pub(crate) fn owed(&self, answer: &str) -> Vec<RemovedCall> {
        let kept = self.kept.iter().find(|(id, _)| id == answer);
        kept.map(|(_, removed)| removed.clone()).unwrap_or_default()
    }
}

/// FNV-1a: equal things are seen again, and nobody gains by making two collide in their own session.
fn digest(kind: &str, thing: &str) -> u64 {
    fnv(kind.bytes().chain([0]).chain(thing.bytes()))
}

fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
