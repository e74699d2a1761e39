//! One value of a policy: what may be written for it, how it is read and how it is shown.
//!
//! A [`SettingKind`] is the whole contract of a key's value: the reader, the printer, the schema and the
//! documentation all take their bounds from it, so they can't contradict each other.

use std::sync::Arc;

use super::document::{Node, NodeValue};
use super::error::{PolicyProblem, short};
use crate::glob::Glob;
use crate::time::Millis;

/// The most globs in one list.
pub(super) const MAX_GLOBS: usize = 1_000;
/// The most argument names that may name a target.
pub(super) const MAX_NAMES: usize = 64;
/// The longest glob or name.
pub(super) const MAX_TEXT: usize = 256;
/// The most tokens: far beyond any use, and exact in every JSON reader.
pub(super) const MAX_TOKENS: u64 = 1_000_000_000_000_000;
/// The most money, in millionths of a dollar: a billion dollars.
pub(super) const MAX_MICROS: u64 = 1_000_000_000_000_000;
/// The longest time budget.
pub(super) const MAX_TIME: Millis = Millis(365 * Millis::DAY.0);
/// What turns a budget off.
pub(super) const OFF: &str = "off";

/// What a key's value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingKind {
    /// A whole number from 1.
    Count { max: u32 },
    /// A duration from a second to a day.
    Span,
    /// True or false.
    Flag,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// A list of globs on tools.
    Globs,
    /// A list of argument names.
    Names,
    /// A number of tokens, or off.
    Tokens,
    /// US dollars with up to six decimals, or off.
    Money,
    /// A duration from a second to a year, or off.
    Time,
}

/// A value that its [`SettingKind`] allows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    Count(u32),
    Span(Millis),
    Flag(bool),
    Word(&'static str),
    Globs(Arc<[Glob]>),
    Names(Arc<[Box<str>]>),
    /// Tokens, millionths of a dollar or milliseconds; none is off.
    Amount(Option<u64>),
}

/// What is wrong, and the node at which it is wrong.
pub(super) type Wrong<'n> = (PolicyProblem, &'n Node);

impl SettingKind {
    /// What would be right, for messages: `a whole number from 1 to 4096`.
    pub(super) fn expected(self) -> String {
        match self {
            Self::Count { max } => format!("a whole number from 1 to {max}"),
            Self::Span => "a duration like \"5m\", from \"1s\" to \"24h\"".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Word(words) => choice(words),
            Self::Globs => format!("a list of globs of 1 to {MAX_TEXT} characters"),
            Self::Names => format!("a list of argument names of 1 to {MAX_TEXT} characters"),
            Self::Tokens => format!("a whole number from 1 to {MAX_TOKENS}, or \"off\""),
            Self::Money => {
                "US dollars from 0.000001 to 1000000000 with at most six decimals, or \"off\""
                    .to_owned()
            }
            Self::Time => "a duration like \"2h\", from \"1s\" to \"365d\", or \"off\"".to_owned(),
        }
    }

    /// Reads a value.
    pub(super) fn read<'n>(self, node: &'n Node) -> Result<Setting, Wrong<'n>> {
        let wrong = || (self.wrong(&node.value), node);
        match (self, &node.value) {
            (Self::Globs, NodeValue::List(items)) => {
                let globs = self.texts(items, MAX_GLOBS, node)?;
                Ok(Setting::Globs(globs.into_iter().map(Glob::new).collect()))
            }
            (Self::Names, NodeValue::List(items)) => {
                let names = self.texts(items, MAX_NAMES, node)?;
                Ok(Setting::Names(names.into_iter().map(Box::from).collect()))
            }
            (kind, value) => kind.read_scalar(value).ok_or_else(wrong),
        }
    }

    fn read_scalar(self, value: &NodeValue) -> Option<Setting> {
        let off = matches!(value, NodeValue::Text(text) if text == OFF);
        match (self, value) {
            (Self::Count { max }, NodeValue::Number(number)) => {
                let count = u32::try_from(number.whole?).ok()?;
                (1..=max).contains(&count).then_some(Setting::Count(count))
            }
            (Self::Span, NodeValue::Text(text)) => span(text, Millis::DAY).map(Setting::Span),
            (Self::Flag, NodeValue::Bool(flag)) => Some(Setting::Flag(*flag)),
            (Self::Word(words), NodeValue::Text(text)) => {
                let word = words.iter().find(|word| *word == text)?;
                Some(Setting::Word(word))
            }
            (Self::Tokens | Self::Money | Self::Time, _) if off => Some(Setting::Amount(None)),
            (Self::Tokens, NodeValue::Number(number)) => {
                let tokens = u64::try_from(number.whole?).ok()?;
                (1..=MAX_TOKENS)
                    .contains(&tokens)
                    .then_some(Setting::Amount(Some(tokens)))
            }
            (Self::Money, NodeValue::Number(number)) => {
                let micros = match number.whole {
                    Some(dollars) => u64::try_from(dollars).ok()?.checked_mul(1_000_000)?,
                    None => micros(&number.text)?,
                };
                (1..=MAX_MICROS)
                    .contains(&micros)
                    .then_some(Setting::Amount(Some(micros)))
            }
            (Self::Time, NodeValue::Text(text)) => {
                span(text, MAX_TIME).map(|time| Setting::Amount(Some(time.0)))
            }
            _ => None,
        }
    }

    fn texts<'n>(
        self,
        items: &'n [Node],
        max: usize,
        list: &'n Node,
    ) -> Result<Vec<&'n str>, Wrong<'n>> {
        if items.len() > max {
            let found = items.len();
            return Err((PolicyProblem::TooMany { max, found }, list));
        }
        let text = |item: &'n Node| name(item).ok_or_else(|| (self.wrong(&item.value), item));
        items.iter().map(text).collect()
    }

    fn wrong(self, found: &NodeValue) -> PolicyProblem {
        wrong(self.expected(), found)
    }
}

/// A text that can be a glob or a name.
pub(super) fn name(node: &Node) -> Option<&str> {
    match &node.value {
        NodeValue::Text(text) if (1..=MAX_TEXT).contains(&text.chars().count()) => Some(text),
        _ => None,
    }
}

/// A value that does not fit, with as much of it as helps.
pub(super) fn wrong(expected: String, found: &NodeValue) -> PolicyProblem {
    let found = match found {
        NodeValue::Number(number) => short(&number.text),
        NodeValue::Text(text) => format!("\"{}\"", short(text)),
        other => other.kind().to_owned(),
    };
    PolicyProblem::Wrong { expected, found }
}

/// `"enforce", "ask", "shadow" or "off"`.
pub(super) fn choice(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn span(text: &str, max: Millis) -> Option<Millis> {
    let span = text.parse().ok()?;
    (Millis::SECOND..=max).contains(&span).then_some(span)
}

/// A decimal number of dollars in millionths, exactly; none if it has more decimals. Programs
/// that write JSON give small numbers an exponent.
pub(super) fn micros(text: &str) -> Option<u64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    let (dollars, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let decimals = decimals.trim_end_matches('0');
    let digits = format!("{dollars}{decimals}");
    if dollars.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    let places = i32::try_from(decimals.len()).ok()?;
    let power = exponent
        .parse::<i32>()
        .ok()?
        .checked_add(6)?
        .checked_sub(places)?;
    let factor = 10_u64.checked_pow(power.unsigned_abs())?;
    if power >= 0 {
        number.checked_mul(factor)
    } else {
        number.is_multiple_of(factor).then_some(number / factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_to_a_millionth() {
        for (text, expected) in [
            ("5.0", Some(5_000_000)),
            ("0.1", Some(100_000)),
            ("0.000001", Some(1)),
            ("0.0000010", Some(1)),
            ("0.0000001", None),
            ("1e3", Some(1_000_000_000)),
            ("1e-6", Some(1)),
            ("1.5E-06", None),
            ("25e-1", Some(2_500_000)),
            ("1e-99", None),
            ("1e99", None),
            ("1e", None),
            ("1e99999999999", None),
            ("-1.0", None),
            ("inf", None),
            ("nan", None),
            (".5", None),
            ("18446744073709551616.0", None),
        ] {
            assert_eq!(micros(text), expected, "{text}");
        }
    }

    #[test]
    fn a_choice_reads_like_a_sentence() {
        assert_eq!(choice(&["a"]), "\"a\"");
        assert_eq!(choice(&["a", "b", "c"]), "\"a\", \"b\" or \"c\"");
    }
}
