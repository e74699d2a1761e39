//! Lists of words as a person would write them: in one string, between spaces or bars.

/// Words between spaces.
pub(super) struct Words(pub(super) &'static str);

impl Words {
    pub(super) fn has(&self, word: &str) -> bool {
        self.0.split_ascii_whitespace().any(|listed| listed == word)
    }
}

/// Phrases between bars.
pub(super) struct Phrases(pub(super) &'static str);

impl Phrases {
    pub(super) fn any(&self, is: impl FnMut(&'static str) -> bool) -> bool {
        self.0.split('|').map(str::trim).any(is)
    }
}
