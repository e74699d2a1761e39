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
use super::noise::{normalise, shape};
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
    /// A fingerprint of a result without its numbers; 0 of anything else.
    pub(super) shape: u32,
    /// What a person would read; the beginning, if it is not a string or is oversized.
    pub(super) text: Cow<'p, str>,
}

/// The digest of a message's content.
pub(super) fn content(key: &DigestKey, content: &Payload) -> Result<Digest, EventError> {
    let digested = digest(key, "content\n", content.as_json(), None);
    Ok(digested.map_err(|e| error("content", e))?.exact)
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
            shape: 0,
            text: Cow::Borrowed(beginning(raw.strip_prefix('"').unwrap_or(raw))),
        });
    }
    if let Some(text) = parse_text(raw)? {
        let exact = under("text\n", &text);
        let mut form = String::new();
        let is_result = kind == Some(PayloadKind::Outcome);
        if is_result {
            form.reserve(text.len());
            normalise(&text, &mut form);
        }
        let noisy = is_result && form != *text;
        return Ok(Digested {
            exact,
            normal: if noisy { under("text\n", &form) } else { exact },
            oversized: false,
            shape: shape_of(key, kind, &form),
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
        shape: shape_of(key, kind, &form),
        text,
    })
}

/// The fingerprint of a result in its normal form without numbers.
fn shape_of(key: &DigestKey, kind: Option<PayloadKind>, form: &str) -> u32 {
    if kind != Some(PayloadKind::Outcome) {
        return 0;
    }
    let mut without = String::new();
    shape(form, &mut without);
    let digest = key.digest(&[b"shape\n", without.as_bytes()]);
    u32::try_from(digest.prefix() >> 32).unwrap_or_default()
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT_BYTES))
        .unwrap_or(text)
}
