//! One argument of a program, with what is not known about it.

/// Stands for a person's home.
pub(crate) const HOME: char = '\u{E000}';
/// Stands for text that is not known, and not empty.
pub(crate) const UNKNOWN: char = '\u{E001}';
/// Stand around the name of a variable that nobody set.
const UNSET_START: char = '\u{E002}';
const UNSET_END: char = '\u{E003}';

/// The longest text of a field; what is longer is unknown.
const MAX_FIELD_BYTES: usize = crate::shell::MAX_BYTES;

/// A word after expansion.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Field {
    text: String,
    /// A glob without quotes stands in it.
    pub(crate) globs: bool,
    /// Quotes stood in it, or text: it is an argument even if it is empty.
    pub(crate) present: bool,
}

impl Field {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            globs: false,
            present: true,
        }
    }

    pub(crate) fn unknown() -> Self {
        Self::literal(UNKNOWN)
    }

    pub(crate) fn unset(name: &str) -> Self {
        Self {
            text: format!("{UNSET_START}{name}{UNSET_END}"),
            globs: false,
            present: false,
        }
    }

    /// The text with its marks.
    pub(crate) fn raw(&self) -> &str {
        &self.text
    }

    /// Whether all of it is known.
    pub(crate) fn is_known(&self) -> bool {
        is_known(&self.text)
    }

    /// Whether all of it is known, or a home.
    pub(crate) fn has_unset(&self) -> bool {
        self.text.contains(UNSET_START)
    }

    pub(crate) fn push(&mut self, text: &str) {
        if self.text.len() + text.len() > MAX_FIELD_BYTES {
            self.text.clear();
            self.text.push(UNKNOWN);
        } else {
            self.text.push_str(text);
        }
        self.present = true;
    }

    pub(crate) fn append(&mut self, other: &Self) {
        let present = self.present || other.present;
        self.push(&other.text);
        self.globs |= other.globs;
        self.present = present;
    }

    /// The field without the line ends at its end, as `$(…)` takes them off.
    pub(crate) fn without_last_lines(mut self) -> Self {
        let length = self.text.trim_end_matches('\n').len();
        self.text.truncate(length);
        self
    }

    /// The text with unset variables empty.
    pub(crate) fn with_unset_empty(&self) -> String {
        if !self.has_unset() {
            return self.text.clone();
        }
        let mut text = String::with_capacity(self.text.len());
        let mut inside = false;
        for character in self.text.chars() {
            match character {
                UNSET_START => inside = true,
                UNSET_END => inside = false,
                _ if inside => {}
                _ => text.push(character),
            }
        }
        text
    }

    /// The text as a person would write it.
    pub(crate) fn shown(&self) -> String {
        show(&self.text)
    }
}

/// Whether there is no mark in `text`.
pub(crate) fn is_known(text: &str) -> bool {
    text.is_ascii() || !text.contains([UNKNOWN, UNSET_START, HOME])
}

/// `text` with its marks in words.
pub(crate) fn show(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            HOME => shown.push('~'),
            UNKNOWN => shown.push('…'),
            UNSET_START => shown.push('$'),
            UNSET_END => {}
            other => shown.push(other),
        }
    }
    shown
}
