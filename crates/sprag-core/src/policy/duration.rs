//! Spans of time as people write them: `"5m"`, `"1h30m"`, `"250ms"`.
//!
//! A bare number would leave the unit to memory, and the systems that policies are imported from
//! disagree on it, so a duration always names its units. They go from the largest to the smallest,
//! each at most once, without spaces, signs or fractions.

use std::fmt;
use std::str::FromStr;

use crate::time::Millis;

/// Largest first: the order in which they are written.
const UNITS: [(&str, u64); 5] = [
    ("d", Millis::DAY.0),
    ("h", Millis::HOUR.0),
    ("m", Millis::MINUTE.0),
    ("s", Millis::SECOND.0),
    ("ms", 1),
];

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a duration is written like \"5m\", \"60s\" or \"1h30m\", not {0:?}")]
pub struct DurationError(pub String);

impl FromStr for Millis {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        parse(text).ok_or_else(|| DurationError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Millis> {
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (digits, after) = split(rest, |c| c.is_ascii_digit())?;
        let (unit, after) = split(after, |c| c.is_ascii_alphabetic())?;
        let (_, factor) = units.find(|(name, _)| *name == unit)?;
        let part = digits.parse::<u64>().ok()?.checked_mul(*factor)?;
        total = total.checked_add(part)?;
        rest = after;
    }
    (!text.is_empty()).then_some(Millis(total))
}

/// The leading characters that are `wanted`, at least one, and what follows them.
fn split(text: &str, wanted: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|c| !wanted(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at_checked(end)).flatten()
}

impl fmt::Display for Millis {
    /// Up to two minutes in seconds, as windows are usually spoken of; above that in the largest
    /// units. What is written reads back as the same span.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.pad("0s");
        }
        let mut text = String::new();
        let mut rest = self.0;
        for (name, factor) in UNITS {
            if factor == Millis::MINUTE.0 && self.0 < 2 * factor {
                continue;
            }
            if rest >= factor {
                text.push_str(&format!("{}{name}", rest / factor));
                rest %= factor;
            }
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_name_their_units() {
        for (text, millis) in [
            ("5m", 300_000),
            ("60s", 60_000),
            ("1h30m", 5_400_000),
            ("250ms", 250),
            ("2d", 172_800_000),
            ("1d2h3m4s5ms", 93_784_005),
            ("0s", 0),
        ] {
            assert_eq!(text.parse(), Ok(Millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_has_no_unit_or_the_wrong_order_is_no_duration() {
        for text in [
            "",
            "5",
            "m",
            "5 m",
            "-5m",
            "1.5h",
            "30m1h",
            "5m5m",
            "5M",
            "5min",
            "99999999999999999d",
            "５m",
        ] {
            assert!(text.parse::<Millis>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_is_shown_as_it_would_be_said() {
        for (millis, text) in [
            (0, "0s"),
            (1, "1ms"),
            (1_000, "1s"),
            (60_000, "60s"),
            (90_500, "90s500ms"),
            (119_999, "119s999ms"),
            (120_000, "2m"),
            (300_000, "5m"),
            (5_400_000, "1h30m"),
            (3_660_000, "1h1m"),
            (86_400_000, "1d"),
        ] {
            assert_eq!(Millis(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Millis(millis)));
        }
    }
}
