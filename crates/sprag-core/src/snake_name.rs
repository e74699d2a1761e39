//! One spelling for names that people write in four: `deleteAsset`, `Delete-Asset`, `delete.asset`.
//!
//! Names are looked at on every call, so the snake-case form is written into a buffer on the stack.
//! What does not fit is cut: the longest tool name always fits, and no name that means anything to
//! the rules is longer.

/// A name in snake case: camelCase split, lower case, `-` and `.` as `_`.
pub(crate) struct SnakeName<const SIZE: usize> {
    bytes: [u8; SIZE],
    len: usize,
}

impl<const SIZE: usize> SnakeName<SIZE> {
    pub(crate) fn new(name: &str) -> Self {
        let mut snake = Self {
            bytes: [0; SIZE],
            len: 0,
        };
        let mut before = '_';
        let mut rest = name.chars();
        while let Some(c) = rest.next() {
            let next_is_lower = rest.clone().next().is_some_and(char::is_lowercase);
            let starts_word = c.is_uppercase()
                && (before.is_lowercase()
                    || before.is_numeric()
                    || before.is_uppercase() && next_is_lower);
            let fits = match c {
                '-' | '.' => snake.push('_'),
                _ => (!starts_word || snake.push('_')) && c.to_lowercase().all(|c| snake.push(c)),
            };
            if !fits {
                break;
            }
            before = c;
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
        self.bytes
            .get(..self.len)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default()
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
