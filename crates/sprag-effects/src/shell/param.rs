//! `${name…}`: the name, a subscript, an operation.

use super::NotParsed;
use super::ast::{Operation, Param, Trim, Word};
use super::cursor::is_name;
use super::reader::Reader;
use super::word::{WordEnd, WordParts, is_special};

impl Reader<'_> {
    /// The inside of `${…}`, with its closing brace.
    pub(super) fn braced(&mut self, quoted: bool) -> Result<Param, NotParsed> {
        let from = self.cursor.at();
        let first = self.cursor.byte(0);
        let counted = first == b'#' && !matches!(self.cursor.byte(1), b'}' | b':' | b'-' | b'?');
        let indirect = first == b'!' && self.cursor.byte(1) != b'}';
        if counted || indirect {
            self.cursor.skip(1);
        }
        let at = self.cursor.at();
        let mut name = self.cursor.take_while(is_name);
        if name.is_empty() {
            if !is_special(self.cursor.byte(0)) {
                return Err(NotParsed);
            }
            self.cursor.skip(1);
            name = self.cursor.slice(at, at + 1);
        }
        let mut operation = Operation::None;
        if self.cursor.eat("[") {
            operation = self.subscript()?;
        }
        if !self.cursor.eat("}") {
            let subscripted = operation != Operation::None;
            operation = self.operation(quoted)?;
            if !self.cursor.eat("}") {
                return Err(NotParsed);
            }
            if subscripted {
                operation = Operation::Other(word_of(operation));
            }
        }
        if counted || indirect {
            operation = Operation::Other(word_of(operation));
            name = self.cursor.slice(from + 1, at + name.len());
        }
        Ok(Param {
            name: name.into(),
            operation,
            quoted,
        })
    }

    fn subscript(&mut self) -> Result<Operation, NotParsed> {
        if self.cursor.eat("@]") || self.cursor.eat("*]") {
            return Ok(Operation::All);
        }
        let mut parts = WordParts::default();
        while !self.cursor.eat("]") {
            if self.cursor.is_end() || self.cursor.byte(0) == b'[' {
                return Err(NotParsed);
            }
            self.word_part_of_subscript(&mut parts)?;
        }
        Ok(Operation::Other(parts.into_word()))
    }

    fn word_part_of_subscript(&mut self, parts: &mut WordParts) -> Result<(), NotParsed> {
        if self.cursor.byte(0) == b'$' || self.cursor.byte(0) == b'`' {
            return self.word_part(parts, true);
        }
        self.cursor.next_char();
        Ok(())
    }

    /// What stands after the name in `${name…}`.
    fn operation(&mut self, quoted: bool) -> Result<Operation, NotParsed> {
        let colon =
            self.cursor.byte(0) == b':' && matches!(self.cursor.byte(1), b'-' | b'=' | b'?' | b'+');
        if colon {
            self.cursor.skip(1);
        }
        let operator = self.cursor.byte(0);
        // In double quotes, single quotes are text after these operators, and quotes after the others.
        let word_like = matches!(operator, b'-' | b'=' | b'?' | b'+');
        if !matches!(
            operator,
            b'-' | b'=' | b'?' | b'+' | b':' | b'#' | b'%' | b'/' | b'^' | b',' | b'@'
        ) {
            return Err(NotParsed);
        }
        self.cursor.skip(1);
        let trims = !colon && matches!(operator, b'#' | b'%');
        let longest = trims && self.cursor.byte(0) == operator;
        self.cursor.skip(usize::from(longest));
        let word = self.word(WordEnd::Brace(quoted && word_like))?;
        Ok(match operator {
            b'-' => Operation::Default(word, false),
            b'=' => Operation::Default(word, true),
            b'+' => Operation::Alternative(word),
            b'?' => Operation::Required,
            _ if trims => {
                let end = operator == b'%';
                Operation::Trim(Trim { end, longest }, word)
            }
            _ => Operation::Other(word),
        })
    }
}

fn word_of(operation: Operation) -> Word {
    match operation {
        Operation::Default(word, _)
        | Operation::Alternative(word)
        | Operation::Trim(_, word)
        | Operation::Other(word) => word,
        Operation::None | Operation::All | Operation::Required => Word::default(),
    }
}
