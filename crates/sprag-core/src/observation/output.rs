//! What a model said in one answer, without the words.

use serde::{Deserialize, Serialize};

use super::{Identity, is_default};
use crate::digest::Digest;
use crate::id::Id;

/// One answer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The session that the model speaks in.
    pub session: Id,
    /// Its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The digest of the words; none if it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Digest>,
    /// How the answer repeats itself: so many copies of one unit, or 1 if hardly a line is new; 0 if it does not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub chant: u16,
    /// The session's generation as the caller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(default, skip_serializing_if = "Identity::is_exact")]
    pub identity: Identity,
}
