//! What people decide: orders to a session, and answers to its questions.

use serde::{Deserialize, Serialize};

use crate::cell::ApprovalScope;
use crate::id::Id;

/// An operator's kill or reset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The session it is for.
    pub session: Id,
    /// Who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The session that was asked about.
    pub session: Id,
    /// The code of the question.
    pub approval: Id,
    /// How far a yes goes.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub scope: ApprovalScope,
    /// Who answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}
