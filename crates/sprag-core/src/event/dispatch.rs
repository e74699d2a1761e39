//! The start and end of work on a message: what a session does meanwhile belongs to the same flow.

use serde::Serialize;

use super::field::id_setters;
use crate::id::Id;
use crate::time::Timestamp;

/// The start or end of work on a message.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DispatchEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The session that works.
    pub session: Id,
    /// The flow of the message; at the end, none is the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
}

impl DispatchEvent {
    /// Work of `session`.
    #[must_use]
    pub fn new(session: Id) -> Self {
        Self {
            at: None,
            session,
            flow: None,
        }
    }

    id_setters! {
        /// Names the flow of the message.
        flow,
    }
}
