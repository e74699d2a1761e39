//! What agents spent, as their adapters reported it. No label names an agent or a model: both could grow.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use sprag_core::Usage;

use super::{counter, family};

const KINDS: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// Tokens by kind, and money.
#[derive(Debug)]
pub(super) struct SpendCounts {
    tokens: [Counter; KINDS.len()],
    cost: Counter,
}

impl SpendCounts {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let spent = ("spent_tokens", "Tokens that sessions spent");
        let tokens = family(registry, spent, "kind", KINDS);
        let help = "Money that sessions spent, in millionths of a US dollar";
        let cost = counter(registry, "spent_usd_micros", help);
        Self { tokens, cost }
    }

    /// Counts what was spent; a reservation is not.
    pub(super) fn count(&self, usage: &Usage) {
        if usage.pending {
            return;
        }
        let (output, write) = (usage.output_tokens, usage.cache_write_tokens);
        let input = usage.tokens.saturating_sub(output).saturating_sub(write);
        let amounts = [input, output, usage.cache_read_tokens, write];
        for (count, amount) in self.tokens.iter().zip(amounts) {
            count.inc_by(amount);
        }
        self.cost.inc_by(usage.cost_micros);
    }
}
