//! An operator's kill or reset.

use serde::Serialize;

use crate::id::Id;
use crate::time::Timestamp;

/// A kill or a reset.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct OrderEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The session it is for.
    pub session: Id,
    /// Who gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

impl OrderEvent {
    /// An order for `session`.
    #[must_use]
    pub fn new(session: Id) -> Self {
        Self {
            at: None,
            session,
            by: None,
            why: None,
        }
    }

    /// Sets who gave it.
    #[must_use]
    pub fn by(mut self, by: &str) -> Self {
        self.by = Some(by.into());
        self
    }

    /// Sets the reason.
    #[must_use]
    pub fn why(mut self, why: &str) -> Self {
        self.why = Some(why.into());
        self
    }
}
