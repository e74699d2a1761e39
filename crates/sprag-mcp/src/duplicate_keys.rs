//! Detects objects that contain a key twice.
//!
//! JSON does not define what `{"id":1,"id":2}` means, and parsers differ: some take the first, most the
//! last. A guard that judges one call while the server runs another is useless.

use std::borrow::Cow;
use std::ops::Range;

use crate::json_lexer::{JsonLexer, JsonToken};

/// Why two parsers may read different messages in the same text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AmbiguousJson {
    /// An object contains a key twice.
    #[error("the key {0:?} appears twice")]
    Twice(String),
    /// It nests deeper than the lexer follows.
    #[error("it nests too deep")]
    TooDeep,
}

/// Checks all objects of `message`.
pub(crate) fn check(message: &[u8]) -> Result<(), AmbiguousJson> {
    let mut lexer = JsonLexer::default();
    // The keys of all open objects, innermost last, and where those of each object start: an object is
    // checked when it closes, and its keys are forgotten, so that only open objects take memory.
    let mut keys: Vec<Range<usize>> = Vec::new();
    let mut first_of_object: Vec<usize> = Vec::new();
    let mut start = 0;
    for (at, byte) in message.iter().enumerate() {
        match lexer.read(*byte) {
            JsonToken::KeyStart => start = at + 1,
            JsonToken::KeyEnd => keys.push(start..at),
            JsonToken::OpenObject => first_of_object.push(keys.len()),
            JsonToken::CloseObject => {
                let first = first_of_object.pop().unwrap_or_default();
                check_object(message, keys.get_mut(first..).unwrap_or_default())?;
                keys.truncate(first);
            }
            _ => {}
        }
    }
    if lexer.is_lost() {
        return Err(AmbiguousJson::TooDeep);
    }
    Ok(())
}

fn check_object(message: &[u8], keys: &mut [Range<usize>]) -> Result<(), AmbiguousJson> {
    let name = |key: &Range<usize>| unescaped(message.get(key.clone()).unwrap_or_default());
    if keys.len() < 2 {
        return Ok(());
    }
    keys.sort_by_cached_key(name);
    let twice = keys
        .iter()
        .zip(keys.iter().skip(1))
        .find(|(one, next)| name(one) == name(next));
    match twice {
        None => Ok(()),
        Some((key, _)) => {
            let name = String::from_utf8_lossy(&name(key)).into_owned();
            Err(AmbiguousJson::Twice(name.chars().take(80).collect()))
        }
    }
}

/// A key without its escapes: `"\u0061"` is `"a"`.
pub(crate) fn unescaped(inner: &[u8]) -> Cow<'_, [u8]> {
    if !inner.contains(&b'\\') {
        return Cow::Borrowed(inner);
    }
    let quoted = [b"\"", inner, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(text) => Cow::Owned(text.into_bytes()),
        Err(_) => Cow::Borrowed(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice(key: &str) -> Result<(), AmbiguousJson> {
        Err(AmbiguousJson::Twice(key.to_owned()))
    }

    #[test]
    fn a_key_that_appears_twice_is_found_at_every_depth() {
        assert_eq!(check(br#"{"a":1,"b":[{"a":2},{"a":3}]}"#), Ok(()));
        assert_eq!(check(br#"{"a":1,"b":2,"a":3}"#), twice("a"));
        assert_eq!(check(br#"{"x":[0,{"k":{"b":1,"b":2}}]}"#), twice("b"));
        assert_eq!(check(br#"[{"a":1},{"a":1,"a":1}]"#), twice("a"));
        assert_eq!(check(br#"{"a":{"b":1},"b":{"a":1},"c":{}}"#), Ok(()));
    }

    #[test]
    fn keys_are_compared_without_their_escapes() {
        assert_eq!(check(br#"{"id":1,"\u0069d":2}"#), twice("id"));
        assert_eq!(check(br#"{"a\"b":1,"a\\\"b":2}"#), Ok(()));
        assert_eq!(check(br#"{"a":"\"a\":1,\"a\":2"}"#), Ok(()));
    }

    #[test]
    fn nesting_without_end_is_reported_as_too_deep() {
        assert_eq!(check(&b"[".repeat(10_000)), Err(AmbiguousJson::TooDeep));
    }
}
