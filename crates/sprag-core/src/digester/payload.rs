//! Digests of results, programs and contents: texts mostly, any JSON sometimes.
//!
//! A JSON string is digested as its text, any other value in its canonical form. What is over
//! [`MAX_CANONICAL_BYTES`] is digested as the bytes it came as: reading it would cost more than it
//! is worth, and two such values that are equal are nearly always equal byte by byte.

use std::borrow::Cow;

use crate::digest::{Digest, DigestKey};
use crate::event::{EventError, Payload};

use super::canonical::{self, CanonicalError};
use super::json::{JsonValue, parse_text};
use super::noise::normalise;
use super::normal::{self, PayloadKind};

/// A value whose JSON text is longer than this is not canonicalised.
pub(super) const MAX_CANONICAL_BYTES: usize = 256 * 1024;

/// How much of a value that is not a string is looked at as a text.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// What the digester knows of a payload.
pub(super) struct Digested<'p> {
    pub(super) exact: Digest,
    pub(super) normal: Digest,
    pub(super) oversized: bool,
    /// Of a result that is not oversized: its form without noise.
    pub(super) form: String,
    /// What a person would read; of what is no string or is oversized, the beginning.
    pub(super) text: Cow<'p, str>,
}

/// The digests of a message's content.
pub(super) fn content<'p>(
    key: &DigestKey,
    content: &'p Payload,
) -> Result<Digested<'p>, EventError> {
    let kind = Some(PayloadKind::Outcome);
    digest(key, "content\n", content.as_json(), kind).map_err(|e| error("content", e))
}

/// What a model said, as text.
pub(super) fn text(payload: &Payload) -> Result<Cow<'_, str>, EventError> {
    let raw = payload.as_json();
    let text = parse_text(raw).map_err(|e| error("text", e))?;
    // What is not a string is read as it is written.
    Ok(text.unwrap_or(Cow::Borrowed(raw)))
}

/// The digests of a program.
pub(super) fn program<'p>(
    key: &DigestKey,
    program: &'p Payload,
) -> Result<Digested<'p>, EventError> {
    digest(
        key,
        "program\n",
        program.as_json(),
        Some(PayloadKind::Approach),
    )
    .map_err(|e| error("approach", e))
}

/// The digests of a result with its error flag; no result and null are the same.
pub(super) fn result<'p>(
    key: &DigestKey,
    result: Option<&'p Payload>,
    is_error: bool,
) -> Result<Digested<'p>, EventError> {
    let tag = if is_error { "error\n" } else { "outcome\n" };
    let raw = result.map_or("null", Payload::as_json);
    let mut digested =
        digest(key, tag, raw, Some(PayloadKind::Outcome)).map_err(|e| error("result", e))?;
    if raw == "null" {
        digested.text = Cow::Borrowed("");
    }
    Ok(digested)
}

/// Names the field of a payload that can't be read.
pub(super) fn error(field: &'static str, source: serde_json::Error) -> EventError {
    EventError::Payload {
        field,
        source: CanonicalError::from(source),
    }
}

/// The digests of the value in `raw`; the normal one is made only for a `kind` that has noise.
fn digest<'p>(
    key: &DigestKey,
    tag: &str,
    raw: &'p str,
    kind: Option<PayloadKind>,
) -> Result<Digested<'p>, serde_json::Error> {
    let under =
        |kind: &str, form: &str| key.digest(&[tag.as_bytes(), kind.as_bytes(), form.as_bytes()]);
    if raw.len() > MAX_CANONICAL_BYTES {
        let exact = under("raw\n", raw);
        return Ok(Digested {
            exact,
            normal: exact,
            oversized: true,
            form: String::new(),
            text: Cow::Borrowed(beginning(raw.strip_prefix('"').unwrap_or(raw))),
        });
    }
    if let Some(text) = parse_text(raw)? {
        let exact = under("text\n", &text);
        let mut form = String::new();
        let is_result = kind == Some(PayloadKind::Outcome);
        if is_result && !json_in_text(&text, &mut form) {
            form.clear();
            form.reserve(text.len());
            normalise(&text, &mut form);
        }
        let noisy = is_result && form != *text;
        return Ok(Digested {
            exact,
            normal: if noisy { under("text\n", &form) } else { exact },
            oversized: false,
            form,
            text,
        });
    }
    let value = JsonValue::parse(raw)?;
    let mut form = String::with_capacity(raw.len());
    canonical::write(&value, &mut form);
    let exact = under("json\n", &form);
    let text = Cow::Owned(beginning(&form).to_owned());
    form.clear();
    let noisy = kind.is_some_and(|kind| normal::write(&value, kind, &mut form));
    Ok(Digested {
        exact,
        normal: if noisy { under("json\n", &form) } else { exact },
        oversized: false,
        form: if kind == Some(PayloadKind::Outcome) {
            form
        } else {
            String::new()
        },
        text,
    })
}

/// Writes a result that is JSON in a string, as some clients hand it over, without the noise under its names.
fn json_in_text(text: &str, form: &mut String) -> bool {
    if !text.starts_with('{') {
        return false;
    }
    let Ok(value) = JsonValue::parse(text) else {
        return false;
    };
    normal::write(&value, PayloadKind::Outcome, form)
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT_BYTES))
        .unwrap_or(text)
}
