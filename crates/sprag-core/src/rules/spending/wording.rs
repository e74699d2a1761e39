//! Amounts and what they were spent on, in the words of a budget's messages.

use crate::cell::Spending;
use crate::rule::RuleId;
use crate::rules::text::plain_name;

/// An amount of what `rule` counts.
pub(super) fn amount(rule: RuleId, value: u64) -> String {
    match rule {
        RuleId::BudgetCost => dollars(value),
        RuleId::BudgetTime => format!("{} s", value / 1000),
        _ => format!("{value} tokens"),
    }
}

fn dollars(micros: u64) -> String {
    format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

/// `: opus $4.90 for 1200000 tokens, haiku $0.12 for 300000 tokens`; nothing if no usage named a model.
pub(super) fn spent_on(spent: &Spending) -> String {
    let mut models: Vec<_> = spent.models.iter().collect();
    models.sort_by_key(|held| std::cmp::Reverse((held.cost_micros, held.tokens)));
    let texts: Vec<String> = models
        .iter()
        .map(|held| {
            let name = held.model.as_ref().map(|model| plain_name(model.as_str()));
            let name = name.unwrap_or_else(|| "other models".to_owned());
            let (cost, tokens) = (dollars(held.cost_micros), held.tokens);
            format!("{name} {cost} for {tokens} tokens")
        })
        .collect();
    let cached = match (spent.cache_read_tokens, texts.is_empty()) {
        (0, _) | (_, true) => String::new(),
        (tokens, false) => format!(", {tokens} read from the cache"),
    };
    let unpriced = match spent.unpriced_tokens {
        0 => String::new(),
        tokens => format!(", {tokens} tokens without a known price"),
    };
    match texts.is_empty() {
        true => String::new(),
        false => format!(": {}{cached}{unpriced}", texts.join(", ")),
    }
}
