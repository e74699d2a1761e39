//! A message that is not passed on: what its sender gets, and what goes on in its place.

use crate::envelope::Envelope;
use crate::refusal::id_of;

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
