//! One text for each JSON value, however it was written.
//!
//! Two calls are the same when their arguments are the same *values*: key order, spaces, escapes and
//! the spelling of numbers are the serialiser's whim. The canonical form is itself JSON, without
//! spaces: keys sorted by their UTF-8 bytes, strings with the fewest escapes, numbers in the form of
//! `number.rs`.

use super::json::JsonValue;

/// Why a text has no canonical form: it is not JSON, or not one value that everybody reads alike.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CanonicalError(#[from] serde_json::Error);

/// The canonical form of a JSON text: the same for two texts if and only if they mean the same value.
///
/// ```
/// let one = sprag_core::canonical_json(r#"{ "b": 1.0, "a": "\u0041" }"#)?;
/// assert_eq!(one, r#"{"a":"A","b":1}"#);
/// # Ok::<(), sprag_core::CanonicalError>(())
/// ```
///
/// # Errors
/// Returns an error if the text is not JSON, repeats a key, nests too deep or holds a number beyond
/// `f64`.
pub fn canonical_json(text: &str) -> Result<String, CanonicalError> {
    let mut out = String::with_capacity(text.len());
    write(&JsonValue::parse(text)?, &mut out);
    Ok(out)
}

/// How the scalars of a value are written.
pub(super) trait Scalars {
    /// Appends `scalar`, which is not an array or object, found under the key `name`.
    fn scalar(&mut self, name: Option<&str>, scalar: &JsonValue<'_>, out: &mut String);
}

/// Scalars as they are.
struct AsTheyAre;

impl Scalars for AsTheyAre {
    fn scalar(&mut self, _: Option<&str>, scalar: &JsonValue<'_>, out: &mut String) {
        write_scalar(scalar, out);
    }
}

/// Appends the canonical form of `value`.
pub(crate) fn write(value: &JsonValue<'_>, out: &mut String) {
    write_with(value, None, out, &mut AsTheyAre);
}

/// Appends the canonical form of `value`, its scalars written by `scalars`.
pub(super) fn write_with(
    value: &JsonValue<'_>,
    name: Option<&str>,
    out: &mut String,
    scalars: &mut impl Scalars,
) {
    match value {
        JsonValue::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_with(item, name, out, scalars);
            }
            out.push(']');
        }
        JsonValue::Object(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_with(item, Some(key), out, scalars);
            }
            out.push('}');
        }
        scalar => scalars.scalar(name, scalar, out),
    }
}

/// Appends a scalar; an array or object is `write_with`'s.
pub(super) fn write_scalar(scalar: &JsonValue<'_>, out: &mut String) {
    match scalar {
        JsonValue::Bool(true) => out.push_str("true"),
        JsonValue::Bool(false) => out.push_str("false"),
        JsonValue::Number(number) => number.write(out),
        JsonValue::Text(text) => write_text(text, out),
        JsonValue::Null | JsonValue::Array(_) | JsonValue::Object(_) => out.push_str("null"),
    }
}

/// Appends a string. Only what JSON demands is escaped, always in the long form.
pub(super) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    // Nearly always all of it may stand as it is. Looking at every byte without stopping lets the
    // compiler look at many at once.
    let any = text
        .bytes()
        .fold(false, |found, byte| found | must_escape(byte));
    if !any {
        rest = "";
        out.push_str(text);
    }
    while let Some(at) = rest.bytes().position(must_escape) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = from.chars();
        if let Some(c) = chars.next() {
            let code = u32::from(c);
            out.push_str("\\u00");
            out.extend(
                [code >> 4, code & 15].map(|digit| char::from_digit(digit, 16).unwrap_or('0')),
            );
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn must_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}
