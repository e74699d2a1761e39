//! Paths that every server reads alike.
//!
//! A guard that judges one path while the server behind reads another is useless. Servers differ: some decode
//! `%2F`, some decode twice, some take `\` for `/`, collapse `//`, resolve `..`, cut at `;` or at a NUL, or drop a
//! dot at the end. So a path is taken only if the strictest and the laxest of them read the same segments. Everything
//! else is refused, not repaired: whoever sends it may have meant something else.

use sprag_core::is_hidden;

use crate::percent;

/// Why servers may read a path in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Two slashes in a row, or one at the end.
    #[error("it has an empty part: a doubled slash, or one at the end")]
    Empty,
    /// `.`, `..`, or a dot or blank at an end of a part.
    #[error("it has a part that is `.` or `..`, or that ends in a dot or a blank")]
    Dots,
    /// A percent sign without two hexadecimal digits.
    #[error("it has a `%` that is not followed by two hexadecimal digits")]
    Escape,
    /// Bytes that are not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// A character that some servers drop, or take for another one.
    #[error("it has a {0:?}, which some servers drop or take for another character")]
    Lookalike(char),
    /// A character that some servers give a meaning to.
    #[error("it has a {0:?}, plain or encoded, which servers read in different ways")]
    Character(char),
}

/// The decoded segments of `path`, which is empty or starts with a slash.
///
/// # Errors
/// Returns an error if two servers may read different segments.
pub fn segments(path: &str) -> Result<Vec<String>, PathError> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/').map(segment).collect()
}

/// One segment of a path, as everybody decodes it.
fn segment(raw: &str) -> Result<String, PathError> {
    let text = decoded(raw)?;
    if text.is_empty() {
        return Err(PathError::Empty);
    }
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ';' | '%' | '?' | '#');
    if let Some(odd) = text.chars().find(|c| is_odd(*c)) {
        return Err(PathError::Character(odd));
    }
    if let Some(other) = text.chars().find(|c| is_lookalike(*c)) {
        return Err(PathError::Lookalike(other));
    }
    if text == "." || text.ends_with('.') || text.trim() != text {
        return Err(PathError::Dots);
    }
    Ok(text)
}

/// What nobody sees, and wide letters and digits: a server that normalises names reads `2` where `2` and a blank of no
/// width stand.
fn is_lookalike(c: char) -> bool {
    is_hidden(c)
        || matches!(c, '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{2070}'..='\u{2089}' | '\u{ff01}'..='\u{ff5e}')
}

fn decoded(raw: &str) -> Result<String, PathError> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            let digit = rest.next().map(char::from)?;
            u8::try_from(digit.to_digit(16)?).ok()
        };
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(PathError::Escape);
        };
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).map_err(|_| PathError::NotText)
}

/// The one way in which `segments` are written in a path, with a slash before each.
#[must_use]
pub fn joined<S: AsRef<str>>(segments: &[S]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,=:@".contains(&byte);
    let segments = segments.iter().map(AsRef::as_ref);
    segments
        .map(|segment| format!("/{}", percent::encoded(segment, is_plain)))
        .collect()
}

/// A word as the laxest server compares it: without its case and without what nobody sees, by what Unicode folds
/// together; wide letters are letters.
#[must_use]
pub fn folded(word: &str) -> String {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    };
    let seen = word.chars().filter(|c| !is_hidden(*c));
    let upper = seen.map(narrow).flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_path_is_its_segments_and_back() {
        for (path, parts) in [
            ("", vec![]),
            ("/2/messages", vec!["2", "messages"]),
            ("/coder-1:a@b/%6dessages", vec!["coder-1:a@b", "messages"]),
            ("/a%20b/flu%C3%9F", vec!["a b", "fluß"]),
            ("/%E4%BC%9A%E8%AF%9D/%F0%9F%9A%80", vec!["会话", "🚀"]),
        ] {
            let read = segments(path).unwrap();
            assert_eq!(read, parts, "{path}");
            assert_eq!(segments(&joined(&read)).unwrap(), read, "{path}");
        }
        assert_eq!(joined(&["a b", "c:d"]), "/a%20b/c:d");
    }

    #[test]
    fn what_two_servers_could_read_differently_is_refused() {
        use PathError as E;
        for (path, why) in [
            ("/", E::Empty),
            ("/2/messages/", E::Empty),
            ("/2//messages", E::Empty),
            ("/./messages", E::Dots),
            ("/%2e%2E/messages", E::Dots),
            ("/2/messages.", E::Dots),
            ("/2/messages%20", E::Dots),
            ("/2\\messages", E::Character('\\')),
            ("/2%5cmessages", E::Character('\\')),
            ("/2%2Fmessages", E::Character('/')),
            ("/2/messages;x", E::Character(';')),
            ("/2/messages%3bx", E::Character(';')),
            ("/2/messages%00", E::Character('\0')),
            ("/2/messages%23x", E::Character('#')),
            ("/2/messages%3fx", E::Character('?')),
            ("/2/%256dessages", E::Character('%')),
            ("/2%E2%80%8B/messages", E::Lookalike('\u{200b}')),
            ("/%EF%BC%92/messages", E::Lookalike('\u{ff12}')),
            ("/2%C2%AD/messages", E::Lookalike('\u{ad}')),
            ("/%C2%B2/messages", E::Lookalike('\u{b2}')),
            ("/2/%6", E::Escape),
            ("/2/%zz", E::Escape),
            ("/2/%ff", E::NotText),
        ] {
            assert_eq!(segments(path), Err(why), "{path}");
        }
    }

    #[test]
    fn words_are_compared_as_the_laxest_would() {
        for word in ["MESSAGES", "Messages", "meſſages"] {
            assert_eq!(folded(word), "messages");
        }
        assert_eq!(folded("\u{212a}ey"), "key");
    }
}
