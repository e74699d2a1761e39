//! Taking secrets out of whatever tools answer.

use serde_json::Value;
use sprag::capture::{REDACTED, redact, redact_text};

/// A token as one of its issuers makes them.
const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// A token between spaces is found whatever stands around it; JSON stays JSON of the same shape.
pub(crate) fn redaction(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let _ = redact_text(text);
    let hidden = redact_text(&format!("{text} {TOKEN} {text}"));
    assert!(!hidden.contains(TOKEN));
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        same_shape(&value, &redact(value.clone()));
    }
}

/// A value is what it was, or hidden; no member is lost.
fn same_shape(before: &Value, after: &Value) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            assert_eq!(before.len(), after.len());
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len());
            for (before, after) in before.iter().zip(after) {
                same_shape(before, after);
            }
        }
        (_, Value::String(text)) if text.contains(REDACTED) => {}
        (Value::String(_), Value::String(_)) => {}
        (before, after) => assert_eq!(before, after),
    }
}
