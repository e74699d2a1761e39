//! Tokens and money spent by a session.

use serde::{Serialize, Serializer};

use super::field::id_setters;
use super::{Event, EventError, is_default};
use crate::id::Id;
use crate::observation::Identity;
use crate::time::Timestamp;

/// More than this in one event is a mistake, in US dollars.
pub(super) const MAX_COST_USD: f64 = 1_000_000.0;
const MICROS_PER_USD: f64 = 1_000_000.0;

/// What a session spent.
#[derive(Debug, Clone, Serialize)]
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
    /// Tokens read by the model.
    #[serde(skip_serializing_if = "is_default")]
    pub input_tokens: u64,
    /// Tokens written by the model.
    #[serde(skip_serializing_if = "is_default")]
    pub output_tokens: u64,
    /// Money, in millionths of a US dollar; on the wire dollars.
    #[serde(
        rename = "cost_usd",
        serialize_with = "as_usd",
        skip_serializing_if = "is_default"
    )]
    pub cost_micros: u64,
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
            input_tokens: 0,
            output_tokens: 0,
            cost_micros: 0,
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

    /// Sets how many tokens were read and written.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.input_tokens = input;
        self.output_tokens = output;
        self
    }

    /// Sets the cost in US dollars.
    ///
    /// # Errors
    /// Returns an error if that is below zero, not a number, or more than anybody spends at once.
    pub fn cost_usd(mut self, usd: f64) -> Result<Self, EventError> {
        self.cost_micros = micros(usd)?;
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

fn as_usd<S: Serializer>(micros: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    // At most 10^12, so the f64 is exact.
    serializer.serialize_f64(*micros as f64 / MICROS_PER_USD)
}

impl From<UsageEvent> for Event {
    fn from(event: UsageEvent) -> Self {
        Self::Usage(event)
    }
}
