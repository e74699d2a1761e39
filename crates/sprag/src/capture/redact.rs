//! Taking secrets out of a payload.
//!
//! Three things give a secret away: the name it stands under (`password`, `api_key`, `Authorization`),
//! the shape that its issuer gave it (`ghp_…`, `AKIA…`, a JWT, a private key), and sheer randomness. All
//! three are looked for in every string, in JSON that stands inside of strings, in headers, command
//! lines and addresses. What has none of them (a short password in a sentence) is not found: whoever
//! handles such things leaves capture at `digest`.

use serde_json::{Map, Value};
use sprag_core::{is_secret_name, is_token_count};

use super::byte_pairs::BytePairs;
use super::spans::Spans;
use super::{shapes, text, words};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// A JSON value without what looks like a secret.
#[must_use]
pub fn redact(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact_string(&text)),
        Value::Array(items) => Value::Array(list(items)),
        Value::Object(entries) => Value::Object(object(entries)),
        other => other,
    }
}

/// A text without what looks like a secret.
#[must_use]
pub fn redact_text(text: &str) -> String {
    let (mut spans, pairs) = (Spans::default(), BytePairs::of(text));
    text::find(text, &pairs, &mut spans);
    shapes::find(text, &pairs, &mut spans);
    spans.replace(text, REDACTED)
}

/// Tools often answer with JSON as a text.
fn redact_string(text: &str) -> String {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        return redact(inner).to_string();
    }
    redact_text(text)
}

/// A list; what a name or flag announces is taken out, as in `["--password", "…"]`.
fn list(items: Vec<Value>) -> Vec<Value> {
    let mut announced = false;
    let mut kept = Vec::with_capacity(items.len());
    for item in items {
        let next = item.as_str().is_some_and(words::announces_next);
        kept.push(match item {
            Value::String(_) if announced && !next => Value::String(REDACTED.to_owned()),
            other => redact(other),
        });
        announced = next;
    }
    kept
}

fn object(entries: Map<String, Value>) -> Map<String, Value> {
    // `{"name": "Authorization", "value": "…"}`
    let named = ["name", "key", "header", "Name", "Key"].iter();
    let announced = named
        .filter_map(|field| entries.get(*field)?.as_str())
        .any(is_secret_name);
    let is_kubernetes = entries.get("kind").and_then(Value::as_str) == Some("Secret");
    let redacted = entries.into_iter().map(|(name, value)| {
        let is_value = announced && name.eq_ignore_ascii_case("value")
            || is_kubernetes && matches!(&*name, "data" | "stringData");
        let value = if is_secret_name(&name) || is_value {
            whole(&name, value)
        } else {
            redact(value)
        };
        (redact_text(&name), value)
    });
    redacted.collect()
}

/// Everything below a secret-looking name.
fn whole(name: &str, value: Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value,
        Value::Number(number) if is_token_count(name, &number.to_string()) => Value::Number(number),
        Value::Number(_) | Value::String(_) => Value::String(REDACTED.to_owned()),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| whole(name, item)).collect())
        }
        Value::Object(entries) => Value::Object(
            entries
                .into_iter()
                .map(|(key, item)| (redact_text(&key), whole(name, item)))
                .collect(),
        ),
    }
}
