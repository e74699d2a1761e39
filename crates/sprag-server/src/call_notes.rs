//! Warnings about calls, until their results come by.
//!
//! A gateway sees a call in the model's answer, where nothing may be added that the agent would take for the
//! model's own words. The place for a warning is next to the result, which comes with the next request.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sprag::Id;

/// How many are kept; the oldest goes first.
const KEPT: usize = 1024;

struct CallNote {
    session: Id,
    call: String,
    text: String,
}

/// The warnings that wait.
#[derive(Default)]
pub(crate) struct CallNotes(Mutex<VecDeque<CallNote>>);

impl CallNotes {
    /// Keeps a warning about a call.
    pub(crate) fn put(&self, session: &Id, call: String, text: String) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() >= KEPT {
            notes.pop_front();
        }
        notes.push_back(CallNote {
            session: session.clone(),
            call,
            text,
        });
    }

    /// Takes the warning about a call out.
    pub(crate) fn take(&self, session: &Id, call: &str) -> Option<String> {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = notes
            .iter()
            .position(|note| note.session == *session && note.call == call)?;
        notes.remove(found).map(|note| note.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_taken_once_and_only_by_its_session() {
        let (notes, s1, s2) = (
            CallNotes::default(),
            Id::new("s1").unwrap(),
            Id::new("s2").unwrap(),
        );
        notes.put(&s1, "c".to_owned(), "careful".to_owned());
        assert_eq!(notes.take(&s2, "c"), None);
        assert_eq!(notes.take(&s1, "c").as_deref(), Some("careful"));
        assert_eq!(notes.take(&s1, "c"), None);
    }

    #[test]
    fn the_oldest_of_too_many_goes() {
        let (notes, session) = (CallNotes::default(), Id::new("s").unwrap());
        for number in 0..=KEPT {
            notes.put(&session, number.to_string(), String::new());
        }
        assert_eq!(notes.take(&session, "0"), None);
        assert!(notes.take(&session, "1").is_some());
    }
}
