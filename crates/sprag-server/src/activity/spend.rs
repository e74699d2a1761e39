//! Tokens and money.

use serde::{Serialize, Serializer};
use sprag::Id;
use sprag_core::Usage;
use utoipa::ToSchema;

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Spend {
    /// Reports of usage, usually one for each request to a model.
    pub(crate) requests: u64,
    /// Tokens that budgets count: all but those from a provider's cache.
    pub(crate) tokens: u64,
    /// How many of them the model wrote.
    pub(crate) output_tokens: u64,
    /// Tokens from a provider's cache.
    pub(crate) cache_read_tokens: u64,
    /// Money, in US dollars.
    #[serde(rename = "cost_usd", serialize_with = "as_dollars")]
    #[schema(rename = "cost_usd", value_type = f64)]
    pub(crate) cost_micros: u64,
}

/// Millionths of a dollar as dollars; exact up to nine billion dollars.
pub(crate) fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

fn as_dollars<S: Serializer>(micros: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(dollars(*micros))
}

impl Spend {
    /// What a report of usage says was spent, on which model; none for a reservation.
    pub(super) fn of(usage: &Usage) -> Option<(Option<Id>, Self)> {
        let spend = Self {
            requests: 1,
            tokens: usage.tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cost_micros: usage.cost_micros,
        };
        (!usage.pending).then(|| (usage.model.clone(), spend))
    }

    pub(crate) fn add(&mut self, more: &Self) {
        self.requests = self.requests.saturating_add(more.requests);
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.cache_read_tokens = self
            .cache_read_tokens
            .saturating_add(more.cache_read_tokens);
        self.cost_micros = self.cost_micros.saturating_add(more.cost_micros);
    }
}
