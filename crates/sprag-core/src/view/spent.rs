//! What was spent, as people see it.

use serde::Serialize;

use crate::cell::Spending;
use crate::id::Id;

/// What a session with its sub-agents, a flow, or an agent in a UTC day spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Whose: `session`, `flow`, `agent_day`.
    pub of: &'static str,
    /// Tokens, without those that came from a provider's cache.
    pub tokens: u64,
    /// Tokens that came from a provider's cache.
    pub cache_read_tokens: u64,
    /// Money, in millionths of a US dollar.
    pub cost_micros: u64,
    /// Tokens of models without a known price: they are not in the cost.
    pub unpriced_tokens: u64,
    /// On which models, as far as usage named them; the one without a name stands for all others.
    pub models: Vec<SpentOn>,
}

/// What was spent on one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpentOn {
    /// The model.
    pub model: Option<Id>,
    /// Tokens, without those that came from a provider's cache.
    pub tokens: u64,
    /// Money, in millionths of a US dollar.
    pub cost_micros: u64,
}

impl Spent {
    /// None if nothing was spent.
    pub(super) fn new(of: &'static str, spent: &Spending) -> Option<Self> {
        let models = spent.models.iter().map(|held| SpentOn {
            model: held.model.clone(),
            tokens: held.tokens,
            cost_micros: held.cost_micros,
        });
        let spent = Self {
            of,
            tokens: spent.tokens,
            cache_read_tokens: spent.cache_read_tokens,
            cost_micros: spent.cost_micros,
            unpriced_tokens: spent.unpriced_tokens,
            models: models.collect(),
        };
        let all = [spent.tokens, spent.cache_read_tokens, spent.cost_micros];
        Some(spent).filter(|_| all != [0; 3])
    }
}
