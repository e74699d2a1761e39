//! The canonical form of a value with volatile noise taken out.
//!
//! Two requests that differ in a request id only are one approach, and two answers that differ in a
//! time stamp only are one outcome. What stands under the name of a nonce, and in results under that
//! of a measured time, is replaced whole. The strings of results go through `noise.rs`; those of
//! arguments stay: there a uuid or a date is the thing that the call is about. Only comments, and
//! parameters of URLs that keep a cache from answering, are left out.

use super::canonical::{Scalars, write_scalar, write_text, write_with};
use super::comment::without_comments;
use super::json::JsonValue;
use super::noise::normalise;
use super::noise_names::{is_cache_buster, is_measure, is_nonce};

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
        is_rpc: value.get("jsonrpc").is_some(),
        text: String::new(),
        changed: false,
    };
    write_with(value, None, out, &mut scalars);
    scalars.changed
}

struct WithoutNoise {
    kind: PayloadKind,
    /// A message of JSON-RPC, whose id counts the requests.
    is_rpc: bool,
    text: String,
    changed: bool,
}

impl WithoutNoise {
    /// Whether the text of an argument has comments; what is left of it is kept then.
    fn is_commented(&mut self, name: Option<&str>, text: &str) -> bool {
        let program = name.and_then(|name| without_comments(name, text));
        program.is_some_and(|program| {
            self.text = program;
            self.text != text
        })
    }

    fn is_noise(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| {
            is_nonce(name)
                || self.is_rpc && name == "id"
                || self.kind == PayloadKind::Outcome && is_measure(name)
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
            JsonValue::Text(text) if self.is_commented(name, text) => {
                self.changed = true;
                write_text(&self.text, out);
            }
            JsonValue::Text(text) if text.contains("://") && text.contains('?') => {
                self.text.clear();
                without_cache_busters(text, &mut self.text);
                self.changed |= self.text != **text;
                write_text(&self.text, out);
            }
            scalar => write_scalar(scalar, out),
        }
    }
}

/// Appends `text` without the values of URL parameters such as `nocache`.
fn without_cache_busters(text: &str, out: &mut String) {
    for (at, part) in text.split_inclusive(['?', '&']).enumerate() {
        let parameter = part.split_once('=').filter(|_| at > 0);
        match parameter {
            Some((name, value)) if is_cache_buster(name) => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '&' | '?' | '#' | '"' | '\'');
                let end = value.find(ends).unwrap_or(value.len());
                out.push_str(name);
                out.push('=');
                out.push_str(value.get(end..).unwrap_or_default());
            }
            _ => out.push_str(part),
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
    fn a_parameter_that_keeps_a_cache_from_answering_is_no_other_question() {
        let of = |text: &str| normal(text, PayloadKind::Approach).0;
        for (one, other) in [
            (
                r#"{"url":"https://h/a?nocache=1&x=2"}"#,
                r#"{"url":"https://h/a?nocache=94&x=2"}"#,
            ),
            (
                r#"{"command":"curl -s 'https://h/a?x=2&_=17' | head"}"#,
                r#"{"command":"curl -s 'https://h/a?x=2&_=18' | head"}"#,
            ),
        ] {
            assert_eq!(of(one), of(other));
        }
        let page = r#"{"url":"https://h/a?page=1&ts"}"#;
        assert_eq!(of(page), page);
    }

    #[test]
    fn the_id_of_a_json_rpc_message_is_noise_and_that_of_a_thing_is_not() {
        let message = r#"{"jsonrpc":"2.0","id":7,"result":null}"#;
        assert!(normal(message, PayloadKind::Outcome).1);
        assert!(!normal(r#"{"id":7,"result":null}"#, PayloadKind::Outcome).1);
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
