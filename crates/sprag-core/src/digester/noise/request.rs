//! What numbers one request after the other: noise, however far it has counted.

use super::Scanner;

/// The id of a request has at least so many letters and digits.
const REQUEST_LETTERS: usize = 6;

impl Scanner<'_> {
    /// `In [12]:`, `Out[12]:`, which count what an interpreter was told.
    pub(super) fn prompt(&self, end: usize) -> Option<usize> {
        if !matches!(self.text.get(self.at..end)?, "In" | "Out") {
            return None;
        }
        let bracket = self.spaces_end(end);
        if self.byte(bracket) != Some(b'[') {
            return None;
        }
        let close = self.digits_end(bracket + 1);
        let counts = close > bracket + 1 && self.bytes.get(close..)?.starts_with(b"]:");
        counts.then_some(close)
    }

    /// Where the value of `req=5813` or `request 1a2b3c4d` begins, if it names one request.
    pub(super) fn request_value(&self, name_end: usize) -> Option<usize> {
        let named = matches!(self.byte(name_end), Some(b'=' | b':' | b' '));
        let at = self.spaces_end(name_end + 1);
        let word = self.bytes.get(at..self.word_end(at)).filter(|_| named)?;
        let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_equal = self.byte(name_end) == Some(b'=') && digits > 0;
        let is_mixed = digits >= 2 && digits < word.len() && word.len() >= REQUEST_LETTERS;
        (is_equal || is_mixed).then_some(at)
    }
}
