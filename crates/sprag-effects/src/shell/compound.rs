//! Compound commands: groups, conditions, loops, `case`, functions and tests.

use std::rc::Rc;

use super::NotParsed;
use super::ast::{Command, Kind, List, Redirect, Word};
use super::cursor::{ends_word, is_name, is_name_start};
use super::reader::Reader;
use super::word::WordEnd;

impl Reader<'_> {
    /// A compound command, if one stands here.
    pub(super) fn compound(&mut self) -> Result<Option<Kind>, NotParsed> {
        if self.cursor.byte(0) == b'(' {
            return self.parenthesis().map(Some);
        }
        let Some(word) = self.reserved() else {
            return Ok(None);
        };
        self.cursor.enter()?;
        self.cursor.skip(word.len());
        let kind = match word {
            "{" => self.group()?,
            "if" => self.condition()?,
            "while" | "until" => self.loop_while()?,
            "for" | "select" => self.loop_for()?,
            "case" => self.case()?,
            "function" => self.function()?,
            "[[" => self.test()?,
            // A name for it may stand before a compound command only; that form is not read.
            "coproc" => Kind::Subshell(vec![self.command()?]),
            _ => return Err(NotParsed),
        };
        self.cursor.leave();
        Ok(Some(kind))
    }

    fn parenthesis(&mut self) -> Result<Kind, NotParsed> {
        self.cursor.enter()?;
        let start = self.cursor.at();
        if self.cursor.eat("((") {
            if let Some(word) = self.arithmetic()? {
                self.cursor.leave();
                return Ok(Kind::Test(vec![word]));
            }
            self.cursor.go_to(start);
        }
        self.cursor.skip(1);
        let list = self.filled_list()?;
        if !self.cursor.eat(")") {
            return Err(NotParsed);
        }
        self.cursor.leave();
        Ok(Kind::Subshell(list))
    }

    /// A list that must not be empty.
    fn filled_list(&mut self) -> Result<List, NotParsed> {
        let list = self.list()?;
        if list.is_empty() {
            Err(NotParsed)
        } else {
            Ok(list)
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), NotParsed> {
        if self.eat_reserved(word) {
            Ok(())
        } else {
            Err(NotParsed)
        }
    }

    fn group(&mut self) -> Result<Kind, NotParsed> {
        let list = self.filled_list()?;
        self.expect("}")?;
        Ok(Kind::Group(list))
    }

    fn condition(&mut self) -> Result<Kind, NotParsed> {
        let mut branches = Vec::new();
        loop {
            let condition = self.filled_list()?;
            self.expect("then")?;
            branches.push((condition, self.filled_list()?));
            if self.eat_reserved("elif") {
                continue;
            }
            if self.eat_reserved("else") {
                branches.push((List::new(), self.filled_list()?));
            }
            self.expect("fi")?;
            return Ok(Kind::Branches(branches));
        }
    }

    fn loop_while(&mut self) -> Result<Kind, NotParsed> {
        let condition = self.filled_list()?;
        self.expect("do")?;
        let body = self.filled_list()?;
        self.expect("done")?;
        Ok(Kind::Branches(vec![(condition, body)]))
    }

    fn loop_for(&mut self) -> Result<Kind, NotParsed> {
        self.cursor.skip_blanks();
        if self.cursor.eat("((") {
            let head = self.arithmetic()?.ok_or(NotParsed)?;
            let mut body = vec![Command {
                kind: Kind::Test(vec![head]),
                redirects: Vec::new(),
            }];
            body.extend(self.body()?);
            return Ok(Kind::Group(body));
        }
        let name = self.name()?;
        self.skip_lines()?;
        let words = self.loop_words()?;
        let body = self.body()?;
        Ok(Kind::For { name, words, body })
    }

    fn name(&mut self) -> Result<Box<str>, NotParsed> {
        if !is_name_start(self.cursor.byte(0)) {
            return Err(NotParsed);
        }
        let name = self.cursor.take_while(is_name);
        if self.cursor.is_end() || ends_word(self.cursor.byte(0)) {
            Ok(name.into())
        } else {
            Err(NotParsed)
        }
    }

    /// `in words`, up to the `;` or line end that ends them.
    fn loop_words(&mut self) -> Result<Option<Vec<Word>>, NotParsed> {
        if !(self.cursor.starts_with("in") && ends_word(self.cursor.byte(2))) {
            self.cursor.eat(";");
            return Ok(None);
        }
        self.cursor.skip(2);
        let mut words = Vec::new();
        loop {
            self.cursor.skip_blanks();
            match self.cursor.byte(0) {
                b';' => {
                    self.cursor.skip(1);
                    return Ok(Some(words));
                }
                b'\n' => return Ok(Some(words)),
                b'<' | b'>' if self.cursor.byte(1) == b'(' => {}
                byte if ends_word(byte) || self.cursor.is_end() => return Err(NotParsed),
                _ => {}
            }
            words.push(self.word(WordEnd::Argument)?);
        }
    }

    /// `do … done`, or the same in braces.
    fn body(&mut self) -> Result<List, NotParsed> {
        self.cursor.skip_blanks();
        self.cursor.eat(";");
        self.skip_lines()?;
        let close = if self.eat_reserved("{") {
            "}"
        } else {
            self.expect("do")?;
            "done"
        };
        let list = self.filled_list()?;
        self.expect(close)?;
        Ok(list)
    }

    fn case(&mut self) -> Result<Kind, NotParsed> {
        self.cursor.skip_blanks();
        let word = self.word(WordEnd::Argument)?;
        self.skip_lines()?;
        if !(self.cursor.starts_with("in") && ends_word(self.cursor.byte(2))) {
            return Err(NotParsed);
        }
        self.cursor.skip(2);
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved("esac") {
                return Ok(Kind::Case { word, arms });
            }
            let patterns = self.patterns()?;
            let list = self.list()?;
            arms.push((patterns, list));
            if !(self.cursor.eat(";;&") || self.cursor.eat(";;") || self.cursor.eat(";&")) {
                self.expect("esac")?;
                return Ok(Kind::Case { word, arms });
            }
        }
    }

    /// `(a | b)`, the first parenthesis being optional.
    fn patterns(&mut self) -> Result<Vec<Word>, NotParsed> {
        self.cursor.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.cursor.skip_blanks();
            if self.cursor.is_end() || ends_word(self.cursor.byte(0)) {
                return Err(NotParsed);
            }
            patterns.push(self.word(WordEnd::Argument)?);
            self.cursor.skip_blanks();
            if self.cursor.eat(")") {
                return Ok(patterns);
            }
            if !self.cursor.eat("|") {
                return Err(NotParsed);
            }
        }
    }

    /// `function name`, with parentheses or without.
    fn function(&mut self) -> Result<Kind, NotParsed> {
        self.cursor.skip_blanks();
        let from = self.cursor.at();
        self.cursor.take_while(|byte| !ends_word(byte));
        let name = self.cursor.slice(from, self.cursor.at());
        if name.is_empty() || !name.bytes().all(is_function_name) {
            return Err(NotParsed);
        }
        self.cursor.skip_blanks();
        if self.cursor.eat("(") {
            self.cursor.skip_blanks();
            if !self.cursor.eat(")") {
                return Err(NotParsed);
            }
        }
        self.function_body(name)
    }

    /// The function that `name` begins, if `()` follows it.
    pub(super) fn function_after(
        &mut self,
        name: &str,
        redirects: &[Redirect],
    ) -> Result<Option<Command>, NotParsed> {
        let after = self.cursor.at();
        self.cursor.skip_blanks();
        if !self.cursor.eat("(") {
            self.cursor.go_to(after);
            return Ok(None);
        }
        self.cursor.skip_blanks();
        let named = !name.is_empty() && name.bytes().all(is_function_name);
        if !self.cursor.eat(")") || !named || !redirects.is_empty() {
            return Err(NotParsed);
        }
        self.cursor.enter()?;
        let kind = self.function_body(name)?;
        self.cursor.leave();
        Ok(Some(Command {
            kind,
            redirects: Vec::new(),
        }))
    }

    fn function_body(&mut self, name: &str) -> Result<Kind, NotParsed> {
        self.skip_lines()?;
        let body = self.command()?;
        if matches!(body.kind, Kind::Simple(_)) {
            return Err(NotParsed);
        }
        Ok(Kind::Function {
            name: name.into(),
            body: Rc::new(body),
        })
    }

    /// `[[ … ]]`: operators are skipped, words are kept for what is substituted in them.
    fn test(&mut self) -> Result<Kind, NotParsed> {
        let mut words = Vec::new();
        let mut regex = false;
        loop {
            self.skip_lines()?;
            if self.cursor.is_end() {
                return Err(NotParsed);
            }
            let closes = self.cursor.starts_with("]]")
                && (ends_word(self.cursor.byte(2)) || self.cursor.byte(2) == 0);
            if closes {
                self.cursor.skip(2);
                return Ok(Kind::Test(words));
            }
            let byte = self.cursor.byte(0);
            if !regex && matches!(byte, b'(' | b')' | b'<' | b'>' | b'&' | b'|') {
                self.cursor.skip(1);
                continue;
            }
            let end = if regex {
                WordEnd::Regex
            } else {
                WordEnd::Argument
            };
            let at = self.cursor.at();
            regex = self.cursor.starts_with("=~ ");
            words.push(self.word(end)?);
            if self.cursor.at() == at {
                return Err(NotParsed);
            }
        }
    }
}

const fn is_function_name(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'-' | b'.' | b':' | b'/' | b'+' | b'@') || byte >= 0x80
}
