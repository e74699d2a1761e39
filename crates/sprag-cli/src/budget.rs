//! A budget as a person says it: `5usd`, `20usd/day`, `2000000tokens`, `3mtokens/day`.

use std::str::FromStr;

/// A key of the policy and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpendBudget {
    pub(crate) key: &'static str,
    pub(crate) value: String,
}

/// What is not a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("say how much: 5usd, 20usd/day, 2000000tokens or 3mtokens/day")]
pub(crate) struct NoBudget;

impl FromStr for SpendBudget {
    type Err = NoBudget;

    fn from_str(text: &str) -> Result<Self, NoBudget> {
        let text = text.to_lowercase();
        let (amount, a_day) = match text.split_once('/') {
            None => (text.as_str(), false),
            Some((amount, "day")) => (amount, true),
            Some(_) => return Err(NoBudget),
        };
        if let Some(dollars) = amount
            .strip_suffix("usd")
            .or_else(|| amount.strip_prefix('$'))
        {
            let dollars = dollars.trim();
            let is_plain = dollars.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let is_amount = dollars.parse::<f64>().is_ok_and(|amount| amount > 0.0);
            return Ok(Self {
                key: match a_day {
                    true => "budget.cost_usd.agent_day",
                    false => "budget.cost_usd.session",
                },
                value: Some(dollars.to_owned())
                    .filter(|_| is_plain && is_amount)
                    .ok_or(NoBudget)?,
            });
        }
        let tokens = amount.strip_suffix("tokens").ok_or(NoBudget)?.trim();
        let (number, unit) = match (tokens.strip_suffix('k'), tokens.strip_suffix('m')) {
            (Some(number), _) => (number, 1_000),
            (_, Some(number)) => (number, 1_000_000),
            (None, None) => (tokens, 1),
        };
        let number: u64 = number.trim().parse().map_err(|_| NoBudget)?;
        let tokens = number.checked_mul(unit).filter(|tokens| *tokens > 0);
        Ok(Self {
            key: match a_day {
                true => "budget.tokens.agent_day",
                false => "budget.tokens.session",
            },
            value: tokens.ok_or(NoBudget)?.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_people_say_them() {
        for (text, key, value) in [
            ("5usd", "budget.cost_usd.session", "5"),
            ("2.50USD", "budget.cost_usd.session", "2.50"),
            ("$20/day", "budget.cost_usd.agent_day", "20"),
            ("20 usd/day", "budget.cost_usd.agent_day", "20"),
            ("2000000tokens", "budget.tokens.session", "2000000"),
            ("3mtokens/day", "budget.tokens.agent_day", "3000000"),
            ("500k tokens", "budget.tokens.session", "500000"),
        ] {
            let budget: SpendBudget = text.parse().unwrap();
            assert_eq!((budget.key, budget.value.as_str()), (key, value), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not_a_budget() {
        for text in [
            "",
            "5",
            "usd",
            "0usd",
            "-1usd",
            "5eur",
            "5usd/week",
            "1e3usd",
            "0tokens",
            "1.5mtokens",
            "infusd",
        ] {
            assert_eq!(text.parse::<SpendBudget>(), Err(NoBudget), "{text}");
        }
    }
}
