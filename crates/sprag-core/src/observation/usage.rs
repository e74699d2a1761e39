//! What was spent, with what it cost at the time: no replay looks a price up again.

use serde::{Deserialize, Serialize};

use super::{Identity, is_default, is_false};
use crate::id::Id;
use crate::price::Priced;

/// Tokens and money spent by a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// The session.
    pub session: Id,
    /// Its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The model that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Id>,
    /// The tokens that budgets count: all but those that came from the provider's cache.
    #[serde(default)]
    pub tokens: u64,
    /// How many of them the model wrote.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output_tokens: u64,
    /// How many of them went into the provider's cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache_write_tokens: u64,
    /// The tokens that came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache_read_tokens: u64,
    /// Money, in millionths of a US dollar.
    #[serde(default)]
    pub cost_micros: u64,
    /// Where the cost comes from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prices: Priced,
    /// It is a reservation: an estimate of what will be spent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pending: bool,
    /// The reservation that it is or settles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The session's generation as the caller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(default, skip_serializing_if = "Identity::is_exact")]
    pub identity: Identity,
}
