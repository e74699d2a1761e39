//! The canonical form of a value with volatile noise taken out.
//!
//! Two requests that differ in a request id only are one approach, and two answers that differ in a
//! time stamp only are one outcome. What stands under the name of a nonce, and in results under that
//! of a measured time, is replaced whole. The strings of results go through `noise.rs`; those of
//! arguments stay: there a uuid or a date is the thing that the call is about.

use super::canonical::{Scalars, write_scalar, write_text, write_with};
use super::json::JsonValue;
use super::noise::normalise;
use super::noise_names::{is_measure, is_nonce};

/// What stands for a value that is noise as a whole.
const PLACEHOLDER: &str = "\"<noise>\"";

/// What a value is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PayloadKind {
    /// The arguments of a call, or a program.
    Approach,
    /// A result.
    Outcome,
}

/// Appends `value` without noise, and returns whether that differs from its canonical form.
pub(super) fn write(value: &JsonValue<'_>, kind: PayloadKind, out: &mut String) -> bool {
    let mut scalars = WithoutNoise {
        kind,
        text: String::new(),
        changed: false,
    };
    write_with(value, None, out, &mut scalars);
    scalars.changed
}

struct WithoutNoise {
    kind: PayloadKind,
    text: String,
    changed: bool,
}

impl WithoutNoise {
    fn is_noise(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| {
            is_nonce(name) || self.kind == PayloadKind::Outcome && is_measure(name)
        })
    }
}

impl Scalars for WithoutNoise {
    fn scalar(&mut self, name: Option<&str>, scalar: &JsonValue<'_>, out: &mut String) {
        match scalar {
            JsonValue::Text(_) | JsonValue::Number(_) if self.is_noise(name) => {
                self.changed = true;
                out.push_str(PLACEHOLDER);
            }
            JsonValue::Text(text) if self.kind == PayloadKind::Outcome => {
                self.text.clear();
                normalise(text, &mut self.text);
                self.changed |= self.text != **text;
                write_text(&self.text, out);
            }
            scalar => write_scalar(scalar, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str, kind: PayloadKind) -> (String, bool) {
        let mut out = String::new();
        let changed = write(&JsonValue::parse(text).unwrap(), kind, &mut out);
        (out, changed)
    }

    #[test]
    fn a_nonce_is_replaced_wherever_it_stands() {
        let (out, changed) = normal(
            r#"{"meta":{"requestId":"a1","timestamp":17},"q":"x"}"#,
            PayloadKind::Approach,
        );
        assert_eq!(
            out,
            r#"{"meta":{"requestId":"<noise>","timestamp":"<noise>"},"q":"x"}"#
        );
        assert!(changed);
    }

    #[test]
    fn a_duration_is_noise_in_a_result_and_a_choice_in_arguments() {
        let text = r#"{"duration":5}"#;
        assert_eq!(
            normal(text, PayloadKind::Approach),
            (text.to_owned(), false)
        );
        assert!(normal(text, PayloadKind::Outcome).1);
    }
}
