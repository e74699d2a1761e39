//! What tokens cost: prices of models, and the cost of a usage in whole millionths of a dollar.
//!
//! A client knows how many tokens it used, rarely what they cost. So the cost is computed when a usage
//! is digested, and recorded with the table that it came from: a replay never asks for a price again,
//! and a price that changes later changes nothing that was spent.
//!
//! The prices of the policy come first, then a dated table that ships with Sprag. Of several globs
//! that match a model, the one with the longest literal part wins. A model that neither knows counts
//! tokens only; the record and the verdict's message say so.
//!
//! Names of models are compared as their makers mean them: without the provider before the last slash,
//! in lower case, a dot as a dash, without the date or version at the end.

mod shipped;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::glob::Glob;

pub use shipped::PRICES_DATE;

/// Tokens in the unit that prices are for.
const PER_MILLION: u128 = 1_000_000;

/// What a million tokens of one model cost, in millionths of a US dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// Read by the model.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Read by the model and written into the cache.
    pub cache_write: u64,
}

/// Tokens of one usage, each counted in one place only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by the model, not from the cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Read by the model and written into the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// What budgets count: all but cache reads, which a client sends again with every turn.
    #[must_use]
    pub const fn counted(self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_write)
    }
}

/// Where the cost of a usage comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Priced {
    /// Whoever reported it named the cost, or it names no model.
    #[default]
    Reported,
    /// A price in the policy.
    Policy,
    /// The table that ships with Sprag, of this date.
    Table(Box<str>),
    /// No price is known for the model: only its tokens count.
    Unknown,
}

impl Priced {
    /// `policy`, the table's date, `unknown`, or nothing.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Reported => "",
            Self::Policy => "policy",
            Self::Table(date) => date,
            Self::Unknown => "unknown",
        }
    }

    /// The other way round.
    pub(crate) fn read(text: &str) -> Self {
        match text {
            "" => Self::Reported,
            "policy" => Self::Policy,
            "unknown" => Self::Unknown,
            date => Self::Table(date.into()),
        }
    }
}

impl From<String> for Priced {
    fn from(text: String) -> Self {
        Self::read(&text)
    }
}

impl From<Priced> for String {
    fn from(priced: Priced) -> Self {
        priced.as_str().to_owned()
    }
}

impl Price {
    /// What `tokens` cost, in millionths of a dollar, rounded once.
    #[must_use]
    pub fn of(&self, tokens: Tokens) -> u64 {
        let parts = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
        ];
        // Each product is below 2^128, and four of them are only added up if they stay so.
        let sum = parts.iter().fold(0_u128, |sum, (tokens, price)| {
            sum.saturating_add(u128::from(*tokens) * u128::from(*price))
        });
        u64::try_from(sum.saturating_add(PER_MILLION / 2) / PER_MILLION).unwrap_or(u64::MAX)
    }
}

/// What `tokens` of `model` cost by the prices of a policy, else by the shipped table.
pub(crate) fn cost(own: &Arc<[(Glob, Price)]>, model: &str, tokens: Tokens) -> (u64, Priced) {
    let name = normal_name(model);
    let own = own.iter().map(|(glob, price)| (glob, price));
    if let Some(price) = longest_match(own, &name) {
        return (price.of(tokens), Priced::Policy);
    }
    match shipped::price(&name) {
        Some(price) => (price.of(tokens), Priced::Table(PRICES_DATE.into())),
        None => (0, Priced::Unknown),
    }
}

fn longest_match<'p>(
    prices: impl Iterator<Item = (&'p Glob, &'p Price)>,
    name: &str,
) -> Option<&'p Price> {
    prices
        .filter(|(glob, _)| Glob::new(&normal_name(glob.as_str())).matches(name))
        .max_by_key(|(glob, _)| glob.literal_chars())
        .map(|(_, price)| price)
}

/// A model's name without what does not change its price.
fn normal_name(model: &str) -> String {
    let bare = model.rsplit('/').next().unwrap_or(model);
    let bare = bare.split(['@', ':', '[']).next().unwrap_or(bare);
    let name = bare.to_lowercase().replace('.', "-");
    let name = name
        .strip_suffix("-v1")
        .or_else(|| name.strip_suffix("-v2"))
        .unwrap_or(&name);
    without_date(name).to_owned()
}

/// `-20251101` and `-2025-11-01` at the end are dates.
fn without_date(name: &str) -> &str {
    for length in [9, 11] {
        let Some((rest, tail)) = name
            .len()
            .checked_sub(length)
            .and_then(|at| name.split_at_checked(at))
        else {
            continue;
        };
        let digits = tail.bytes().filter(u8::is_ascii_digit).count();
        let shape = tail.starts_with("-20") && digits == 8;
        if shape
            && tail
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_digit())
        {
            return rest;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priced(model: &str) -> Option<Price> {
        shipped::price(&normal_name(model))
    }

    #[test]
    fn a_model_costs_the_same_under_all_its_names() {
        let names = [
            "claude-opus-4-5",
            "claude-opus-4-5-20251101",
            "claude-opus-4.5",
            "anthropic/claude-opus-4.5",
            "us.anthropic.claude-opus-4-5-20251101-v1:0",
            "claude-opus-4-5@20251101",
            "claude-opus-4-5[1m]",
            "Claude-Opus-4-5",
        ];
        let price = priced("claude-opus-4-5").unwrap();
        assert_eq!((price.input, price.output), (5_000_000, 25_000_000));
        for name in names {
            assert_eq!(priced(name), Some(price), "{name}");
        }
    }

    #[test]
    fn the_more_literal_name_wins() {
        assert_eq!(
            priced("claude-opus-4-1-20250805").unwrap().input,
            15_000_000
        );
        assert_eq!(priced("claude-opus-4-20250514").unwrap().input, 15_000_000);
        assert_eq!(priced("claude-sonnet-5-5").unwrap().cache_read, 100_000);
        assert_eq!(priced("claude-sonnet-5").unwrap().cache_read, 200_000);
        assert_eq!(priced("gpt-5.4-mini").unwrap().input, 750_000);
        assert_eq!(priced("gpt-5.4-2026-03-05").unwrap().input, 2_500_000);
        assert_eq!(priced("gemini-2.5-flash-lite").unwrap().input, 100_000);
        assert_eq!(priced("gemini-3-pro-preview").unwrap().output, 12_000_000);
    }

    #[test]
    fn a_model_that_nobody_priced_is_unknown() {
        for model in ["gpt-5.99", "llama-9", "claude", "", "gpt-5.4-giga"] {
            let tokens = Tokens {
                input: 1_000_000,
                ..Tokens::default()
            };
            assert_eq!(
                cost(&Arc::default(), model, tokens),
                (0, Priced::Unknown),
                "{model}"
            );
        }
    }

    #[test]
    fn the_policy_s_price_comes_before_the_shipped_one() {
        let own = |glob: &str, input| {
            let price = Price {
                input,
                ..Price::default()
            };
            (Glob::new(glob), price)
        };
        let prices: Arc<[_]> = [own("claude-*", 7), own("claude-opus-*", 1_000_000)].into();
        let tokens = Tokens {
            input: 3,
            ..Tokens::default()
        };
        assert_eq!(
            cost(&prices, "claude-opus-4.5", tokens),
            (3, Priced::Policy)
        );
        let (_, other) = cost(&prices, "gpt-5", tokens);
        assert_eq!(other, Priced::Table(PRICES_DATE.into()));
    }

    #[test]
    fn cost_is_rounded_once_and_never_overflows() {
        let price = Price {
            input: 250_000,
            output: 250_000,
            cache_read: 0,
            cache_write: 0,
        };
        let one = Tokens {
            input: 1,
            output: 1,
            ..Tokens::default()
        };
        assert_eq!(price.of(one), 1, "two quarters are a half, rounded up");
        let most = Tokens {
            input: u64::MAX,
            output: u64::MAX,
            cache_read: u64::MAX,
            cache_write: u64::MAX,
        };
        let dear = Price {
            input: u64::MAX,
            output: u64::MAX,
            cache_read: u64::MAX,
            cache_write: u64::MAX,
        };
        assert_eq!(dear.of(most), u64::MAX);
        assert_eq!(most.counted(), u64::MAX);
    }

    #[test]
    fn only_a_date_is_taken_off() {
        for (name, expected) in [
            ("m-20251101", "m"),
            ("m-2025-11-01", "m"),
            ("m-30251101", "m-30251101"),
            ("gemini-2-5", "gemini-2-5"),
            ("é-2025110", "é-2025110"),
        ] {
            assert_eq!(without_date(name), expected);
        }
    }
}
