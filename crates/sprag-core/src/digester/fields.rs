//! The top-level scalar arguments of a call, one by one.
//!
//! A rule asks whether two calls have the same target, a what-if under another policy asks it for
//! other names: so each scalar has a digest of its own. Secrets are left out, because a digest of a
//! short one can be guessed, and so are names too long to be anybody's target.
//!
//! A name is what the tool's schema calls an argument, and stands in clear. An agent may put data there instead: an
//! address, a path, a key. So a name that no schema would have is digested like a value.
//!
//! Bounded by: [`MAX_FIELDS`] names, [`MAX_ELEMENTS`] entries for each.

use std::borrow::Cow;

use crate::MAX_FIELDS;
use crate::destructive_name::is_destructive;
use crate::digest::DigestKey;
use crate::observation::{Field, Hints};
use crate::policy::DestructiveLimits;
use crate::secret_name::{is_secret_name, is_token_count};

use super::canonical::write_scalar;
use super::json::JsonValue;

/// The most entries for one name that holds an array.
const MAX_ELEMENTS: usize = 64;
/// Longer names are left out.
const MAX_NAME_BYTES: usize = 64;
/// What keeps the digest of a name apart from every other digest.
const NAME_TAG: &[u8] = b"name\n";
/// The longest name of a schema, its longest word, and its longest word with a digit in it.
const MAX_SCHEMA_NAME_BYTES: usize = 48;
const MAX_WORD_CHARS: usize = 24;
const MAX_NUMBERED_CHARS: usize = 12;
const MAX_NAME_DIGITS: usize = 4;
/// The most characters of a target that are kept in clear.
const MAX_TEXT_CHARS: usize = 80;
/// What keeps the digest of a scalar apart from every other digest.
const TAG: &[u8] = b"field\n";

/// The fields of `args`: the names that are targets under `limits` first, then in the order of keys.
pub(super) fn fields(
    key: &DigestKey,
    tool: &str,
    hints: Hints,
    args: &JsonValue<'_>,
    limits: &DestructiveLimits,
) -> Vec<Field> {
    let JsonValue::Object(entries) = args else {
        return Vec::new();
    };
    let is_target = |name: &str| limits.targets.iter().any(|target| **target == *name);
    let mut fields = FieldList {
        key,
        list: Vec::with_capacity(entries.len().min(MAX_FIELDS)),
        names: 0,
        form: String::with_capacity(64),
    };
    let clear = is_destructive(tool, hints, limits);
    for (name, value) in entries.iter().filter(|(name, _)| is_target(name)) {
        fields.add(name, value, clear);
    }
    for (name, value) in entries.iter().filter(|(name, _)| !is_target(name)) {
        fields.add(name, value, false);
    }
    fields.list
}

struct FieldList<'k> {
    key: &'k DigestKey,
    list: Vec<Field>,
    names: usize,
    form: String,
}

impl FieldList<'_> {
    /// Adds the value under `name`, also in clear if `clear` is set.
    fn add(&mut self, name: &str, value: &JsonValue<'_>, clear: bool) {
        let values = match value {
            JsonValue::Array(items) if items.iter().all(is_scalar) => items.as_slice(),
            scalar if is_scalar(scalar) => std::slice::from_ref(scalar),
            _ => return,
        };
        if self.names >= MAX_FIELDS || name.len() > MAX_NAME_BYTES {
            return;
        }
        let before = self.list.len();
        let secret = is_secret_name(name);
        let shown = if clear || is_schema_name(name) {
            Cow::Borrowed(name)
        } else {
            let digest = self.key.digest(&[NAME_TAG, name.as_bytes()]);
            Cow::Owned(format!("#{:016x}", digest.prefix()))
        };
        // Null names nothing.
        let told = values.iter().filter(|value| **value != JsonValue::Null);
        for value in told.take(MAX_ELEMENTS) {
            self.form.clear();
            write_scalar(value, &mut self.form);
            if secret && !is_token_count(name, &self.form) {
                continue;
            }
            self.list.push(Field {
                name: (&*shown).into(),
                digest: self.key.digest(&[TAG, self.form.as_bytes()]),
                text: clear.then(|| match value {
                    JsonValue::Text(text) => shorten(text, MAX_TEXT_CHARS),
                    _ => shorten(&self.form, MAX_TEXT_CHARS),
                }),
            });
        }
        if self.list.len() > before {
            self.names += 1;
        }
    }
}

/// Whether a tool's schema may call an argument so: words of letters, with a few digits among them.
fn is_schema_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    if name.len() <= MAX_WORD_CHARS && name.bytes().all(is_plain) {
        return true;
    }
    // The last one is our own: it marks a name that was there twice.
    let is_between = |c: char| matches!(c, '_' | '-' | '.' | '$' | '\u{fffd}');
    let (mut digits, mut length, mut digits_before) = (0, 0, 0);
    // Its end is the end of its last word.
    for c in name.chars().chain(['_']) {
        if is_between(c) {
            let numbered = digits > digits_before;
            if length > MAX_WORD_CHARS || numbered && length > MAX_NUMBERED_CHARS {
                return false;
            }
            (length, digits_before) = (0, digits);
        } else if c.is_alphanumeric() {
            digits += usize::from(c.is_ascii_digit());
            length += 1;
        } else {
            return false;
        }
    }
    name.len() <= MAX_SCHEMA_NAME_BYTES && digits <= MAX_NAME_DIGITS
}

fn is_scalar(value: &JsonValue<'_>) -> bool {
    !matches!(value, JsonValue::Array(_) | JsonValue::Object(_))
}

/// The first characters of `text`, fit for a line in a log.
pub(super) fn shorten(text: &str, max_chars: usize) -> Box<str> {
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut short: String = text.chars().take(max_chars).map(visible).collect();
    if text.chars().nth(max_chars).is_some() {
        short.pop();
        short.push('…');
    }
    short.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemas_stand_in_clear_and_data_in_their_place_does_not() {
        for name in [
            "file_path",
            "assetId",
            "max-results",
            "x1",
            "utf8",
            "$filter",
            "名前",
            "include_archived_items",
        ] {
            assert!(is_schema_name(name), "{name}");
        }
        for data in [
            "ann@example.com",
            "/home/user/.ssh/id_rsa",
            "AKIAIOSFODNN7EXAMPLE",
            "sk_live_51H8xkqLmnopqrstuvwxyz",
            "ghp_abcdefghijklmnopqrstuvwxyzabcdefghij",
            "4111 1111 1111 1111",
            "+49 30 123456",
            "the words of a letter",
            "6fa459ea-ee8a-3ca4-894e-db77e160355e",
        ] {
            assert!(!is_schema_name(data), "{data}");
        }
    }
}
