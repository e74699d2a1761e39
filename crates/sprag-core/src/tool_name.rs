//! Tool names as rules compare them: bare, in lower case, with `_` between words.
//!
//! `deleteAsset`, `Delete-Asset` and `DELETE.asset` are one tool to a person, so they are one to the
//! destructive rules. Matching happens on every call and must not allocate: the normal form is
//! built in a buffer on the stack.

use crate::observation::Hints;
use crate::policy::DestructiveLimits;

/// Twice the longest id: a `_` may stand before every letter.
const BUFFER: usize = 512;

/// Whether a call of `tool` destroys something.
pub(crate) fn is_destructive(tool: &str, hints: &Hints, limits: &DestructiveLimits) -> bool {
    if limits.trust_hints && hints.destructive == Some(true) {
        return true;
    }
    let mut buffer = [0; BUFFER];
    let name = normal_form(tool, &mut buffer);
    limits.tools.iter().any(|glob| glob.matches(name))
}

fn normal_form<'a>(name: &str, buffer: &'a mut [u8; BUFFER]) -> &'a str {
    let mut len = 0;
    let mut put = |c: char| {
        let mut utf8 = [0; 4];
        for byte in c.encode_utf8(&mut utf8).bytes() {
            if let Some(slot) = buffer.get_mut(len) {
                *slot = byte;
                len += 1;
            }
        }
    };
    let mut before: Option<char> = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let follows_lower = before.is_some_and(|b| b.is_lowercase() || b.is_numeric());
        let ends_acronym = before.is_some_and(char::is_uppercase)
            && chars.peek().is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (follows_lower || ends_acronym) {
            put('_');
        }
        match c {
            '-' | '.' => put('_'),
            _ => c.to_lowercase().for_each(&mut put),
        }
        before = Some(c);
    }
    // A name that did not fit was cut at a byte: the part before is still what people see first.
    match std::str::from_utf8(buffer.get(..len).unwrap_or_default()) {
        Ok(text) => text,
        Err(error) => buffer
            .get(..error.valid_up_to())
            .and_then(|valid| std::str::from_utf8(valid).ok())
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_capitals_and_joined_by_underscores() {
        for (name, expected) in [
            ("delete_asset", "delete_asset"),
            ("deleteAsset", "delete_asset"),
            ("Delete-Asset", "delete_asset"),
            ("DELETE.asset", "delete_asset"),
            ("asset.delete", "asset_delete"),
            ("HTTPDelete", "http_delete"),
            ("deleteS3Bucket", "delete_s3_bucket"),
            ("", ""),
        ] {
            assert_eq!(normal_form(name, &mut [0; BUFFER]), expected, "{name}");
        }
    }
}
