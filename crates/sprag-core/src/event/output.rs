//! What a model said in one answer.

use serde::Serialize;

use super::field::id_setters;
use super::{Payload, is_default};
use crate::id::Id;
use crate::observation::Identity;
use crate::time::Timestamp;

/// The words of one answer of a model, without its calls.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct OutputEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The session that the model speaks in.
    pub session: Id,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Payload>,
    /// The session's generation as the caller knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(skip_serializing_if = "is_default")]
    pub identity: Identity,
}

impl OutputEvent {
    /// An answer in `session`, without words.
    #[must_use]
    pub fn new(session: Id) -> Self {
        Self {
            at: None,
            session,
            agent: None,
            flow: None,
            text: None,
            generation: None,
            identity: Identity::default(),
        }
    }

    id_setters! {
        /// Names the session's agent.
        agent,
        /// Names the flow.
        flow,
    }

    /// Sets the words.
    #[must_use]
    pub fn text(mut self, text: impl Into<Payload>) -> Self {
        self.text = Some(text.into());
        self
    }
}
