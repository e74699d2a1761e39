//! Words: quoting of every kind, parameters and substitutions.

use super::NotParsed;
use super::ast::{Operation, Param, Part, Word};
use super::cursor::{ends_word, is_name, is_name_start};
use super::reader::Reader;

/// Collects the parts of one word; neighbouring text of one kind becomes one part.
#[derive(Default)]
pub(super) struct WordParts(Vec<Part>);

impl WordParts {
    pub(super) fn bare(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Bare(before)) => before.push_str(text),
            _ => self.0.push(Part::Bare(text.to_owned())),
        }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Quoted(before)) => before.push_str(text),
            _ => self.0.push(Part::Quoted(text.to_owned())),
        }
    }

    pub(super) fn push(&mut self, part: Part) {
        self.0.push(part);
    }

    pub(super) fn into_word(self) -> Word {
        Word { parts: self.0 }
    }
}

/// How a word ends, and what parentheses mean in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordEnd {
    /// An argument: ends at blanks and operators.
    Argument,
    /// The right side of `=~`: parentheses and `|` belong to it.
    Regex,
    /// Inside `${…}`: ends at the closing brace. The flag: double quotes are open around it, so that
    /// single quotes are text.
    Brace(bool),
}

impl Reader<'_> {
    /// The word that starts here.
    pub(super) fn word(&mut self, end: WordEnd) -> Result<Word, NotParsed> {
        self.cursor.node()?;
        let mut parts = WordParts::default();
        let mut open = 0_usize;
        while !self.cursor.is_end() {
            let (byte, next) = (self.cursor.byte(0), self.cursor.byte(1));
            let process = matches!(byte, b'<' | b'>') && next == b'(';
            if process && end == WordEnd::Argument {
                // Bash reads what follows twice, and quotes in it another time.
                if self.cursor.byte(2) == b'(' {
                    return Err(NotParsed);
                }
                self.cursor.skip(2);
                let list = self.substituted()?;
                parts.push(Part::Process(list));
                continue;
            }
            match end {
                WordEnd::Argument if ends_word(byte) => break,
                WordEnd::Regex if open == 0 && (byte == b')' || ends_regex(byte)) => break,
                WordEnd::Regex if byte == b'(' => open += 1,
                WordEnd::Regex if byte == b')' => open -= 1,
                WordEnd::Brace(_) if byte == b'}' => break,
                _ => {}
            }
            let quotes = end != WordEnd::Brace(true);
            self.word_part(&mut parts, quotes)?;
        }
        Ok(parts.into_word())
    }

    /// One part of a word; single quotes mean something if `quotes`.
    pub(super) fn word_part(
        &mut self,
        parts: &mut WordParts,
        quotes: bool,
    ) -> Result<(), NotParsed> {
        match (self.cursor.byte(0), self.cursor.byte(1)) {
            (b'\\', b'\n') => self.cursor.skip(2),
            (b'\\', _) => {
                self.cursor.skip(1);
                match self.cursor.next_char() {
                    Some(escaped) => parts.quoted(escaped.encode_utf8(&mut [0; 4])),
                    None => parts.quoted("\\"),
                }
            }
            (b'\'', _) if quotes => {
                self.cursor.skip(1);
                let text = self.until_quote()?;
                parts.quoted(text);
            }
            (b'"', _) => self.double_quoted(parts)?,
            (b'$', b'\'') if quotes => {
                self.cursor.skip(2);
                let text = super::ansi::read(&mut self.cursor)?;
                parts.quoted(&text);
            }
            (b'$', b'"') if quotes => {
                self.cursor.skip(1);
                self.double_quoted(parts)?;
            }
            (b'$', _) => self.dollar(parts, !quotes)?,
            (b'`', _) => self.backquoted(parts, !quotes)?,
            _ => {
                let from = self.cursor.at();
                self.cursor.next_char();
                self.cursor.take_while(is_plain);
                parts.bare(self.cursor.slice(from, self.cursor.at()));
            }
        }
        Ok(())
    }

    fn until_quote(&mut self) -> Result<&str, NotParsed> {
        let from = self.cursor.at();
        let length = self.cursor.rest().find('\'').ok_or(NotParsed)?;
        self.cursor.skip(length + 1);
        Ok(self.cursor.slice(from, from + length))
    }

    /// A text in double quotes, from the first to the last of them.
    fn double_quoted(&mut self, parts: &mut WordParts) -> Result<(), NotParsed> {
        self.cursor.skip(1);
        // Empty quotes make a word too.
        parts.quoted("");
        loop {
            if self.cursor.is_end() {
                return Err(NotParsed);
            }
            if self.cursor.eat("\"") {
                return Ok(());
            }
            self.quoted_part(parts, true)?;
        }
    }

    /// One part of a text in double quotes, or of a here-document, where a double quote is text.
    pub(super) fn quoted_part(
        &mut self,
        parts: &mut WordParts,
        in_quotes: bool,
    ) -> Result<(), NotParsed> {
        match (self.cursor.byte(0), self.cursor.byte(1)) {
            (b'\\', b'\n') => self.cursor.skip(2),
            (b'\\', next @ (b'$' | b'`' | b'\\')) => {
                self.cursor.skip(2);
                parts.quoted(char::from(next).encode_utf8(&mut [0; 4]));
            }
            (b'\\', b'"') if in_quotes => {
                self.cursor.skip(2);
                parts.quoted("\"");
            }
            (b'$', _) => self.dollar(parts, true)?,
            (b'`', _) => self.backquoted(parts, true)?,
            _ => {
                let from = self.cursor.at();
                self.cursor.next_char();
                self.cursor
                    .take_while(|byte| !matches!(byte, b'\\' | b'$' | b'`' | b'"'));
                parts.quoted(self.cursor.slice(from, self.cursor.at()));
            }
        }
        Ok(())
    }

    /// What starts with `$`.
    fn dollar(&mut self, parts: &mut WordParts, quoted: bool) -> Result<(), NotParsed> {
        self.cursor.node()?;
        match self.cursor.byte(1) {
            b'(' if self.cursor.byte(2) == b'(' => {
                let part = self.arithmetic_or_substitution(quoted)?;
                parts.push(part);
            }
            b'(' => {
                self.cursor.skip(2);
                let list = self.substituted()?;
                parts.push(Part::Substitution { list, quoted });
            }
            b'{' => {
                self.cursor.skip(2);
                self.cursor.enter()?;
                let param = self.braced(quoted)?;
                self.cursor.leave();
                parts.push(Part::Param(param));
            }
            // The old form of arithmetic; nobody writes it, and it ends in another way.
            b'[' => return Err(NotParsed),
            byte if is_name_start(byte) => {
                self.cursor.skip(1);
                let name = self.cursor.take_while(is_name);
                parts.push(Part::Param(plain_param(name, quoted)));
            }
            byte if is_special(byte) => {
                let from = self.cursor.at() + 1;
                self.cursor.skip(2);
                let name = self.cursor.slice(from, from + 1);
                parts.push(Part::Param(plain_param(name, quoted)));
            }
            _ => {
                self.cursor.skip(1);
                if quoted {
                    parts.quoted("$");
                } else {
                    parts.bare("$");
                }
            }
        }
        Ok(())
    }

    /// `$((…))`, or `$(` before a subshell: arithmetic if its parentheses close together.
    fn arithmetic_or_substitution(&mut self, quoted: bool) -> Result<Part, NotParsed> {
        let start = self.cursor.at();
        self.cursor.skip(3);
        if let Some(word) = self.arithmetic()? {
            return Ok(Part::Arithmetic(word));
        }
        self.cursor.go_to(start + 2);
        let list = self.substituted()?;
        Ok(Part::Substitution { list, quoted })
    }

    /// What stands up to `))`; none if the parentheses do not close together.
    pub(super) fn arithmetic(&mut self) -> Result<Option<Word>, NotParsed> {
        self.cursor.enter()?;
        let mut parts = WordParts::default();
        let mut open = 0_usize;
        let from = self.cursor.at();
        loop {
            match (self.cursor.byte(0), self.cursor.byte(1)) {
                (0, _) if self.cursor.is_end() => return self.no_arithmetic(from),
                (b')', b')') if open == 0 => {
                    self.cursor.skip(2);
                    self.cursor.leave();
                    return Ok(Some(parts.into_word()));
                }
                (b')', _) if open == 0 => return self.no_arithmetic(from),
                (b'(', _) => {
                    open += 1;
                    self.cursor.skip(1);
                }
                (b')', _) => {
                    open -= 1;
                    self.cursor.skip(1);
                }
                (b'#', _) if self.cursor.at() > 0 && open == 0 => self.cursor.skip(1),
                (b'"', _) => self.cursor.skip(1),
                // Bash has a view of its own on single quotes here.
                (b'\'', _) => return Err(NotParsed),
                _ => self.quoted_part_of_arithmetic(&mut parts)?,
            }
        }
    }

    /// What was read since `from` is read again as something else.
    fn no_arithmetic(&mut self, from: usize) -> Result<Option<Word>, NotParsed> {
        self.cursor.leave();
        self.cursor.read_in_vain(self.cursor.at() - from)?;
        Ok(None)
    }

    fn quoted_part_of_arithmetic(&mut self, parts: &mut WordParts) -> Result<(), NotParsed> {
        match self.cursor.byte(0) {
            b'$' => self.dollar(parts, true),
            b'`' => self.backquoted(parts, true),
            b'\\' => {
                self.cursor.skip(1);
                self.cursor.next_char();
                Ok(())
            }
            _ => {
                self.cursor.next_char();
                Ok(())
            }
        }
    }

    /// `` `…` ``: one level of backslashes is removed, then it is a script of its own.
    fn backquoted(&mut self, parts: &mut WordParts, quoted: bool) -> Result<(), NotParsed> {
        self.cursor.skip(1);
        let mut text = String::new();
        loop {
            match self.cursor.next_char().ok_or(NotParsed)? {
                '`' => break,
                '\\' => match self.cursor.next_char().ok_or(NotParsed)? {
                    escaped @ ('`' | '\\' | '$') => text.push(escaped),
                    '"' if quoted => text.push('"'),
                    other => text.extend(['\\', other]),
                },
                other => text.push(other),
            }
        }
        let list = self.nested_script(&text)?;
        parts.push(Part::Substitution { list, quoted });
        Ok(())
    }
}

fn plain_param(name: &str, quoted: bool) -> Param {
    Param {
        name: name.into(),
        operation: Operation::None,
        quoted,
    }
}

/// Bytes that have no meaning of their own in a word.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'=' | b'+' | b'@' | b'%'
        )
        || byte >= 0x80
}

const fn ends_regex(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

pub(super) const fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9'
    )
}
