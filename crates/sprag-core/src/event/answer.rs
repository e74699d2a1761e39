//! A person's answer to a question of the guard.

use serde::Serialize;

use super::is_default;
use crate::cell::ApprovalScope;
use crate::id::Id;
use crate::time::Timestamp;

/// A yes or a no.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AnswerEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The session that was asked about.
    pub session: Id,
    /// The code of the question.
    pub approval: Id,
    /// How far a yes goes.
    #[serde(skip_serializing_if = "is_default")]
    pub scope: ApprovalScope,
    /// Who answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

impl AnswerEvent {
    /// An answer to the question `approval` of `session`, for once.
    #[must_use]
    pub fn new(session: Id, approval: Id) -> Self {
        Self {
            at: None,
            session,
            approval,
            scope: ApprovalScope::default(),
            by: None,
            why: None,
        }
    }

    /// Sets who answers.
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
