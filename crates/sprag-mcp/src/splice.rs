//! Changes to a text at known offsets; every other byte stays as it is.
//!
//! Messages are bytes, not strings: what a server sends may hold invalid UTF-8 in members that nobody here
//! reads, and it must pass all the same.

use std::ops::Range;

use serde_json::value::RawValue;

/// One change: `text` takes the place of the bytes at `at`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    at: Range<usize>,
    text: String,
}

impl Splice {
    /// Puts `text` in the place of a part.
    #[must_use]
    pub fn replace(at: Range<usize>, text: String) -> Self {
        Self { at, text }
    }

    /// Puts `text` in, and takes nothing away.
    #[must_use]
    pub fn insert(at: usize, text: String) -> Self {
        Self { at: at..at, text }
    }
}

/// The text with all changes, which must not overlap.
#[must_use]
pub fn apply(text: &[u8], mut splices: Vec<Splice>) -> Vec<u8> {
    splices.sort_by_key(|splice| splice.at.start);
    let added: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut new = Vec::with_capacity(text.len() + added);
    let mut done = 0;
    for splice in splices {
        new.extend_from_slice(text.get(done..splice.at.start).unwrap_or_default());
        new.extend_from_slice(splice.text.as_bytes());
        done = splice.at.end;
    }
    new.extend_from_slice(text.get(done..).unwrap_or_default());
    new
}

/// The range in `text` of a part that was borrowed from it; none if it was borrowed from elsewhere.
#[must_use]
pub fn range_of(text: &[u8], part: &RawValue) -> Option<Range<usize>> {
    let start = part.get().as_ptr().addr();
    let start = start.checked_sub(text.as_ptr().addr())?;
    let end = start + part.get().len();
    (end <= text.len()).then_some(start..end)
}
