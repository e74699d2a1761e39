//! One spelling for names that people write in four: `deleteAsset`, `Delete-Asset`, `delete.asset`.
//!
//! Names are looked at on every call, so a name that is in snake case is taken as it is, and the form
//! of any other is written into a buffer on the stack. What does not fit is cut: the longest tool name
//! always fits, and no name that means anything to the rules is longer.

/// A name in snake case: camelCase split, lower case, `-` and `.` as `_`.
pub(crate) struct SnakeName<'n, const SIZE: usize> {
    /// The name itself, if it is in snake case and fits.
    same: Option<&'n str>,
    bytes: [u8; SIZE],
    len: usize,
}

/// Whether `c` begins a word: a capital after a small letter or digit, or the last of a row of
/// capitals before a small one.
fn starts_word(before: char, c: char, next: Option<char>) -> bool {
    // Most names are ASCII, and the tables of all other letters are slow.
    if c.is_ascii() && !c.is_ascii_uppercase() {
        return false;
    }
    c.is_uppercase()
        && (before.is_lowercase()
            || before.is_numeric()
            || before.is_uppercase() && next.is_some_and(char::is_lowercase))
}

/// Whether nothing in `name` is written differently in snake case.
fn is_snake_case(name: &str) -> bool {
    let differs =
        |byte: u8| !byte.is_ascii() || byte.is_ascii_uppercase() || matches!(byte, b'-' | b'.');
    // Looking at every byte without stopping lets the compiler look at many at once.
    !name
        .bytes()
        .fold(false, |found, byte| found | differs(byte))
}

/// The small form of one character, which may be several.
fn lower(c: char) -> impl Iterator<Item = char> + Clone {
    let ascii = c.is_ascii().then(|| c.to_ascii_lowercase());
    let other = (!c.is_ascii()).then(|| c.to_lowercase());
    ascii.into_iter().chain(other.into_iter().flatten())
}

fn joined(c: char) -> char {
    if matches!(c, '-' | '.') { '_' } else { c }
}

/// The characters of `name` in snake case, one by one: a glob that does not match looks at few.
pub(crate) fn snake_chars(name: &str) -> impl Iterator<Item = char> + Clone {
    let mut before = '_';
    let mut rest = name.chars();
    std::iter::from_fn(move || {
        let c = rest.next()?;
        let starts = starts_word(before, c, rest.clone().next());
        before = c;
        Some((starts, joined(c)))
    })
    .flat_map(|(starts, c)| starts.then_some('_').into_iter().chain(lower(c)))
}

impl<'n, const SIZE: usize> SnakeName<'n, SIZE> {
    pub(crate) fn new(name: &'n str) -> Self {
        let mut snake = Self {
            same: Some(name).filter(|name| name.len() <= SIZE && is_snake_case(name)),
            bytes: [0; SIZE],
            len: 0,
        };
        if snake.same.is_some() {
            return snake;
        }
        let mut before = '_';
        let mut rest = name.chars();
        while let Some(c) = rest.next() {
            let starts = starts_word(before, c, rest.clone().next());
            before = c;
            let c = joined(c);
            let fits = (!starts || snake.push('_'))
                && if c.is_ascii() {
                    snake.push(c.to_ascii_lowercase())
                } else {
                    c.to_lowercase().all(|c| snake.push(c))
                };
            if !fits {
                break;
            }
        }
        snake
    }

    fn push(&mut self, c: char) -> bool {
        let end = self.len + c.len_utf8();
        let Some(room) = self.bytes.get_mut(self.len..end) else {
            return false;
        };
        c.encode_utf8(room);
        self.len = end;
        true
    }

    pub(crate) fn as_str(&self) -> &str {
        let written = || std::str::from_utf8(self.bytes.get(..self.len)?).ok();
        self.same.or_else(written).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_name_has_one_snake_case() {
        for (name, snake) in [
            ("delete_asset", "delete_asset"),
            ("deleteAsset", "delete_asset"),
            ("DeleteAsset", "delete_asset"),
            ("delete-asset", "delete_asset"),
            ("delete.asset", "delete_asset"),
            ("DELETE_ASSET", "delete_asset"),
            ("HTTPDelete", "http_delete"),
            ("deleteHTTPAsset", "delete_http_asset"),
            ("v2Delete", "v2_delete"),
            ("assetID", "asset_id"),
            ("löscheÄste", "lösche_äste"),
            ("", ""),
        ] {
            assert_eq!(SnakeName::<64>::new(name).as_str(), snake, "{name}");
        }
    }

    #[test]
    fn a_name_that_does_not_fit_is_cut_between_characters() {
        assert_eq!(SnakeName::<4>::new("abcdef").as_str(), "abcd");
        assert_eq!(SnakeName::<4>::new("abcé").as_str(), "abc");
    }
}
