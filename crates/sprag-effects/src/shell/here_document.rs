//! Here-documents: announced by `<<`, read after the next line end.

use super::NotParsed;
use super::ast::{Part, Redirect, Word};
use super::reader::Reader;
use super::word::WordParts;

/// A here-document that was announced and not yet read.
#[derive(Debug)]
pub(super) struct Announced {
    pub(super) index: usize,
    delimiter: String,
    literal: bool,
    strip_tabs: bool,
}

impl Reader<'_> {
    /// The delimiter after `<<`; the body comes with the next line end.
    pub(super) fn announce(&mut self) -> Result<Redirect, NotParsed> {
        let strip_tabs = self.cursor.eat("-");
        self.cursor.skip_blanks();
        let from = self.cursor.at();
        let word = self.redirect_word()?;
        let raw = self.cursor.slice(from, self.cursor.at());
        let mut delimiter = String::new();
        for part in word.parts {
            match part {
                Part::Bare(text) | Part::Quoted(text) => delimiter.push_str(&text),
                _ => return Err(NotParsed),
            }
        }
        if delimiter.contains('\n') || raw.contains("$'") || raw.contains("$\"") {
            return Err(NotParsed);
        }
        let index = self.bodies.len();
        self.bodies.push(Word::default());
        self.announced.push(Announced {
            index,
            delimiter,
            literal: raw.contains(['\'', '"', '\\']),
            strip_tabs,
        });
        Ok(Redirect::HereDocument(index))
    }

    /// The body of a here-document, from the start of a line to the line of its delimiter.
    pub(super) fn here_document(&mut self, announced: &Announced) -> Result<Word, NotParsed> {
        let mut body = String::new();
        let mut joined = false;
        loop {
            if self.cursor.is_end() {
                return Err(NotParsed);
            }
            let rest = self.cursor.rest();
            let length = rest.find('\n').unwrap_or(rest.len());
            let mut line = rest.get(..length).unwrap_or_default();
            self.cursor.skip(length + 1);
            if announced.strip_tabs {
                line = line.trim_start_matches('\t');
            }
            if !joined && line == announced.delimiter {
                return self.finish_body(announced.literal, &body);
            }
            // A continued line takes the next one with it, whether that is the delimiter or not.
            let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            joined = !announced.literal && backslashes % 2 == 1;
            if joined && announced.strip_tabs {
                return Err(NotParsed);
            }
            body.push_str(line);
            body.push('\n');
        }
    }

    fn finish_body(&mut self, literal: bool, body: &str) -> Result<Word, NotParsed> {
        let mut parts = WordParts::default();
        if literal {
            parts.quoted(body);
            return Ok(parts.into_word());
        }
        self.cursor.enter()?;
        let mut nested = Reader {
            cursor: self.cursor.nested(body),
            bodies: std::mem::take(&mut self.bodies),
            announced: Vec::new(),
        };
        while !nested.cursor.is_end() {
            nested.quoted_part(&mut parts, false)?;
        }
        self.cursor.adopt(&nested.cursor);
        self.bodies = nested.bodies;
        self.cursor.leave();
        Ok(parts.into_word())
    }
}
