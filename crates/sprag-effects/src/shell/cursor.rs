//! A position in a text, and the bounds within which it is read.
//!
//! A nested text (backquotes) is read by a cursor of its own that goes on counting, so no way of nesting
//! escapes the bounds.

use super::NotParsed;

/// The longest text that is read.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// The most commands, words and parts of words.
const MAX_NODES: usize = 10_000;
/// The most levels of nesting.
const MAX_LEVELS: usize = 64;

#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    nodes: usize,
    levels: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, NotParsed> {
        if text.len() > MAX_BYTES || text.contains('\0') {
            return Err(NotParsed);
        }
        Ok(Self {
            text,
            at: 0,
            nodes: 0,
            levels: 0,
        })
    }

    /// A cursor for a text nested in this one, with the same counts.
    pub(super) fn nested<'n>(&self, text: &'n str) -> Cursor<'n> {
        Cursor {
            text,
            at: 0,
            nodes: self.nodes,
            levels: self.levels,
        }
    }

    /// Goes on counting from what a nested cursor has counted.
    pub(super) fn adopt(&mut self, nested: &Cursor<'_>) {
        self.nodes = nested.nodes;
    }

    pub(super) fn node(&mut self) -> Result<(), NotParsed> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(NotParsed);
        }
        Ok(())
    }

    /// Counts `bytes` that were read in vain, so that no text is read over and over.
    pub(super) fn read_in_vain(&mut self, bytes: usize) -> Result<(), NotParsed> {
        self.nodes += bytes / 8;
        self.node()
    }

    pub(super) fn enter(&mut self) -> Result<(), NotParsed> {
        self.levels += 1;
        if self.levels > MAX_LEVELS {
            return Err(NotParsed);
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.levels = self.levels.saturating_sub(1);
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn is_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The byte `ahead` of the position; 0 after the end.
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.text
            .as_bytes()
            .get(self.at + ahead)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn starts_with(&self, what: &str) -> bool {
        self.rest().starts_with(what)
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    /// Goes past `what` if it stands here.
    pub(super) fn eat(&mut self, what: &str) -> bool {
        let found = self.starts_with(what);
        if found {
            self.skip(what.len());
        }
        found
    }

    /// The next character, gone past.
    pub(super) fn next_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.skip(next.len_utf8());
        Some(next)
    }

    /// Goes past a row of bytes that `accepts` takes, and returns them.
    pub(super) fn take_while(&mut self, accepts: impl Fn(u8) -> bool) -> &'t str {
        let from = self.at;
        while !self.is_end() && accepts(self.byte(0)) {
            self.at += 1;
        }
        self.slice(from, self.at)
    }

    /// Goes past blanks, continued lines and a comment.
    pub(super) fn skip_blanks(&mut self) {
        let mut blank = self.at == 0
            || matches!(
                self.text.as_bytes().get(self.at.wrapping_sub(1)),
                Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
            );
        loop {
            match self.byte(0) {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                b'#' if blank => {
                    let line = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.skip(line);
                }
                _ => return,
            }
            blank = true;
        }
    }
}

/// Whether a word ends before `byte`, if it is not quoted.
pub(super) const fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

pub(super) const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
