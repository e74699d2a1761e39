//! Numbers in one form, whatever way they were written and read.
//!
//! `1`, `1.0` and `10e-1` are one number, and an id of 30 digits must not be rounded to its
//! neighbour. So every number is brought to one decimal normal form (sign, digits without zeros at
//! either end, exponent) and written from that. Below 2^53 a number with a fraction or an exponent
//! is what `f64` makes of it; from there on `f64` has gaps between whole numbers, and the literal
//! itself counts.

use std::fmt::Write as _;

/// From here on not every whole number has an `f64` of its own.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// A whole number is written out up to this many digits, with an exponent beyond.
const PLAIN_DIGITS: i64 = 21;

/// A number as it was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum JsonNumber<'a> {
    /// A whole number from zero up.
    Unsigned(u64),
    /// A whole number below zero.
    Signed(i64),
    /// A number that is what its `f64` is.
    Float(f64),
    /// A number that only its literal expresses exactly.
    Literal(&'a str),
}

/// Whether a number read as `value` must be read again from its literal.
pub(crate) fn needs_literal(value: f64) -> bool {
    value.abs() >= EXACT_BELOW
}

impl<'a> JsonNumber<'a> {
    /// Reads a JSON number literal; none if it is out of range.
    pub(crate) fn from_literal(literal: &'a str) -> Option<Self> {
        let value: f64 = literal.parse().ok()?;
        if !value.is_finite() {
            return None;
        }
        let whole = !literal.contains(['.', 'e', 'E']);
        Some(if whole || needs_literal(value) {
            Self::Literal(literal)
        } else {
            Self::Float(value)
        })
    }

    /// Appends the number in its one form, which is JSON again.
    pub(crate) fn write(self, out: &mut String) {
        match self {
            Self::Unsigned(value) => write_digits(value, out),
            Self::Signed(value) => push_fmt(out, format_args!("{value}")),
            Self::Float(value) => {
                let mut shortest = Shortest::default();
                // The buffer holds the longest f64 there is.
                if write!(shortest, "{value:e}").is_ok() {
                    write_literal(shortest.as_str(), out);
                }
            }
            Self::Literal(literal) => write_literal(literal, out),
        }
    }
}

/// Appends a whole number. Calls have many, and formatting takes its time.
fn write_digits(mut value: u64, out: &mut String) {
    // The longest u64.
    let mut digits = [0; 20];
    let mut at = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(value % 10).unwrap_or_default();
        value /= 10;
        at -= 1;
        if value == 0 {
            break;
        }
    }
    let written = digits.get(at..).unwrap_or_default();
    out.push_str(std::str::from_utf8(written).unwrap_or_default());
}

fn push_fmt(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = out.write_fmt(text);
}

/// Room on the stack for the shortest form of an `f64`: `-1.2345678901234567e-308`.
#[derive(Default)]
struct Shortest {
    bytes: [u8; 32],
    len: usize,
}

impl Shortest {
    fn as_str(&self) -> &str {
        self.bytes
            .get(..self.len)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }
}

impl std::fmt::Write for Shortest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Appends a literal in normal form: plain digits for whole numbers that are not too long, else
/// digits, `e` and exponent.
fn write_literal(literal: &str, out: &mut String) {
    let (negative, unsigned) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, literal),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // A finite f64 of at most 256 KiB of text: the exponent is far from what i64 holds.
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let digits = || whole.bytes().chain(fraction.bytes());
    let count = whole.len() + fraction.len();
    let leading = digits().take_while(|digit| *digit == b'0').count();
    if leading == count {
        out.push('0');
        return;
    }
    let trailing = digits().rev().take_while(|digit| *digit == b'0').count();
    let kept = count - leading - trailing;
    let exponent = exponent
        .saturating_add_unsigned(trailing as u64)
        .saturating_sub_unsigned(fraction.len() as u64);
    if negative {
        out.push('-');
    }
    out.extend(digits().skip(leading).take(kept).map(char::from));
    let plain = exponent >= 0 && exponent.saturating_add_unsigned(kept as u64) <= PLAIN_DIGITS;
    if plain {
        out.extend((0..exponent).map(|_| '0'));
    } else {
        push_fmt(out, format_args!("e{exponent}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(literal: &str) -> String {
        let mut out = String::new();
        JsonNumber::from_literal(literal).unwrap().write(&mut out);
        out
    }

    #[test]
    fn whole_numbers_are_written_as_rust_writes_them() {
        for value in [0, 7, 10, 42, 99, 100, 4_294_967_296, u64::MAX - 1, u64::MAX] {
            let mut out = String::new();
            JsonNumber::Unsigned(value).write(&mut out);
            assert_eq!(out, value.to_string());
        }
    }

    #[test]
    fn a_number_has_one_form() {
        for (literals, expected) in [
            (&["0", "-0", "0.0", "-0.0", "0e5", "0.00e-3"][..], "0"),
            (&["1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0"], "1"),
            (&["1000", "1e3", "1.0E3", "1e+3"], "1000"),
            (&["-1500", "-1.5e3"], "-1500"),
            (&["1.5", "15e-1", "1.50"], "15e-1"),
            (&["0.1", "1e-1", "0.10000000000000000555"], "1e-1"),
            (&["1e25", "10000000000000000000000000", "1.0e25"], "1e25"),
            (
                &["4611686018427387904", "4611686018427387904.0"],
                "4611686018427387904",
            ),
            (&["18446744073709551616"], "18446744073709551616"),
            (&["18446744073709551617"], "18446744073709551617"),
            (&["1e-400"], "0"),
            (&["5e-324"], "5e-324"),
        ] {
            for literal in literals {
                assert_eq!(form(literal), expected, "{literal}");
            }
        }
    }

    #[test]
    fn whole_numbers_have_the_form_of_their_literal() {
        for value in [0, 1, 10, 100, 1230, u64::MAX, 10_000_000_000_000_000_000] {
            let mut out = String::new();
            JsonNumber::Unsigned(value).write(&mut out);
            assert_eq!(out, form(&value.to_string()));
        }
        for value in [-1, -10, i64::MIN] {
            let mut out = String::new();
            JsonNumber::Signed(value).write(&mut out);
            assert_eq!(out, form(&value.to_string()));
        }
    }

    #[test]
    fn a_number_out_of_range_is_none() {
        assert_eq!(JsonNumber::from_literal("1e999"), None);
        assert_eq!(JsonNumber::from_literal(&"9".repeat(400)), None);
    }
}
