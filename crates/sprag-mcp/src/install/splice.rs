//! Changes to a text at known places, all others untouched.

use std::ops::Range;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) at: Range<usize>,
    pub(crate) text: String,
}

impl Splice {
    pub(crate) fn replace(at: Range<usize>, text: String) -> Self {
        Self { at, text }
    }

    pub(crate) fn insert(at: usize, text: String) -> Self {
        Self { at: at..at, text }
    }
}

/// The text with all changes.
pub(crate) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.at.start);
    let mut new = String::with_capacity(text.len());
    let mut done = 0;
    for splice in splices {
        new.push_str(text.get(done..splice.at.start).unwrap_or_default());
        new.push_str(&splice.text);
        done = splice.at.end;
    }
    new.push_str(text.get(done..).unwrap_or_default());
    new
}
