//! Tokens and money spent by a session.

use serde::{Serialize, Serializer};

use super::field::id_setters;
use super::{EventError, is_default};
use crate::id::Id;
use crate::observation::Identity;
use crate::time::Timestamp;

/// More than this in one event is a mistake, in US dollars.
pub(super) const MAX_COST_USD: f64 = 1_000_000.0;
const MICROS_PER_USD: f64 = 1_000_000.0;

/// What a session spent.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct UsageEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The session.
    pub session: Id,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The model that was asked, as its provider names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Id>,
    /// Tokens read by the model, without those that came from its provider's cache or went into it.
    #[serde(skip_serializing_if = "is_default")]
    pub input_tokens: u64,
    /// Tokens written by the model.
    #[serde(skip_serializing_if = "is_default")]
    pub output_tokens: u64,
    /// Tokens that the provider had in its cache.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_read_tokens: u64,
    /// Tokens that were read and written into the provider's cache.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_write_tokens: u64,
    /// Money, in millionths of a US dollar; on the wire dollars. If none is named, it is computed from
    /// the model and the prices of the policy.
    #[serde(
        rename = "cost_usd",
        serialize_with = "as_usd",
        skip_serializing_if = "Option::is_none"
    )]
    pub cost_micros: Option<u64>,
    /// It is an estimate of what will be spent: a reservation, until usage with the same `id` settles it.
    #[serde(skip_serializing_if = "is_default")]
    pub pending: bool,
    /// Joins a reservation with the usage that settles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The session's generation as the caller knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(skip_serializing_if = "is_default")]
    pub identity: Identity,
}

impl UsageEvent {
    /// Nothing spent by `session` yet.
    #[must_use]
    pub fn new(session: Id) -> Self {
        Self {
            at: None,
            session,
            agent: None,
            flow: None,
            model: None,
            input_tokens: 0,
            output_tokens: 0,
            cache_read_tokens: 0,
            cache_write_tokens: 0,
            cost_micros: None,
            pending: false,
            id: None,
            generation: None,
            identity: Identity::default(),
        }
    }

    id_setters! {
        /// Names the session's agent.
        agent,
        /// Names the flow.
        flow,
        /// Names the model.
        model,
        /// Names the reservation that it is or settles.
        id,
    }

    /// Sets how many tokens were read and written.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.input_tokens = input;
        self.output_tokens = output;
        self
    }

    /// Sets how many tokens came from the provider's cache and went into it.
    #[must_use]
    pub fn cache(mut self, read: u64, write: u64) -> Self {
        self.cache_read_tokens = read;
        self.cache_write_tokens = write;
        self
    }

    /// Makes it a reservation: an estimate that usage with the same id settles.
    #[must_use]
    pub fn pending(mut self) -> Self {
        self.pending = true;
        self
    }

    /// Sets the cost in US dollars.
    ///
    /// # Errors
    /// Returns an error if that is below zero, not a number, or more than anybody spends at once.
    pub fn cost_usd(mut self, usd: f64) -> Result<Self, EventError> {
        self.cost_micros = Some(micros(usd)?);
        Ok(self)
    }
}

/// US dollars in whole millionths, rounded.
pub(super) fn micros(usd: f64) -> Result<u64, EventError> {
    if !(0.0..=MAX_COST_USD).contains(&usd) {
        return Err(EventError::Cost { found: usd });
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 10^12, as checked above"
    )]
    let micros = (usd * MICROS_PER_USD).round() as u64;
    Ok(micros)
}

fn as_usd<S: Serializer>(micros: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    // At most 10^12, so the f64 is exact.
    serializer.serialize_f64(micros.unwrap_or(0) as f64 / MICROS_PER_USD)
}
