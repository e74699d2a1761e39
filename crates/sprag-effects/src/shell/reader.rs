//! Lists, pipelines, simple commands, redirections and here-documents.

use super::NotParsed;
use super::ast::{
    AssignedValue, Assignment, Command, Kind, List, Part, Redirect, Script, Simple, Word,
};
use super::cursor::{Cursor, ends_word, is_name, is_name_start};
use super::here_document::Announced;
use super::word::WordEnd;

/// Builtins whose arguments may be assignments of arrays.
const DECLARES: [&str; 6] = ["export", "local", "declare", "typeset", "readonly", "alias"];

/// Reserved words that end a list.
const ENDS: [&str; 7] = ["then", "else", "elif", "fi", "do", "done", "esac"];

#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) bodies: Vec<Word>,
    pub(super) announced: Vec<Announced>,
}

pub(super) fn parse(text: &str) -> Result<Script, NotParsed> {
    let mut reader = Reader {
        cursor: Cursor::new(text)?,
        bodies: Vec::new(),
        announced: Vec::new(),
    };
    let list = reader.list()?;
    reader.finish()?;
    Ok(Script {
        list,
        here_documents: reader.bodies,
    })
}

impl Reader<'_> {
    /// Nothing may be left when a text ends.
    fn finish(&mut self) -> Result<(), NotParsed> {
        // A here-document whose text never came: bash takes it as empty, with a warning.
        if self.cursor.is_end() && self.announced.is_empty() {
            return Ok(());
        }
        Err(NotParsed)
    }

    /// Parses a script nested in this one, such as the inside of backquotes.
    pub(super) fn nested_script(&mut self, text: &str) -> Result<List, NotParsed> {
        self.cursor.enter()?;
        let mut nested = Reader {
            cursor: self.cursor.nested(text),
            bodies: std::mem::take(&mut self.bodies),
            announced: Vec::new(),
        };
        let list = nested.list()?;
        nested.finish()?;
        self.cursor.adopt(&nested.cursor);
        self.bodies = nested.bodies;
        self.cursor.leave();
        Ok(list)
    }

    /// The list of `$(…)` or `<(…)`, with its closing parenthesis.
    pub(super) fn substituted(&mut self) -> Result<List, NotParsed> {
        self.cursor.enter()?;
        // A here-document announced outside must not take its body from inside.
        let outer = std::mem::take(&mut self.announced);
        let from = self.cursor.at();
        let list = self.list()?;
        if !self.announced.is_empty() || !self.cursor.eat(")") {
            return Err(NotParsed);
        }
        let lines = self.cursor.slice(from, self.cursor.at()).contains('\n');
        if lines && !outer.is_empty() {
            return Err(NotParsed);
        }
        self.announced = outer;
        self.cursor.leave();
        Ok(list)
    }

    /// Goes past blanks, comments and line ends; here-documents follow a line end.
    pub(super) fn skip_lines(&mut self) -> Result<(), NotParsed> {
        loop {
            self.cursor.skip_blanks();
            if !self.line_end()? {
                return Ok(());
            }
        }
    }

    fn line_end(&mut self) -> Result<bool, NotParsed> {
        if !self.cursor.eat("\n") {
            return Ok(false);
        }
        for announced in std::mem::take(&mut self.announced) {
            let body = self.here_document(&announced)?;
            if let Some(slot) = self.bodies.get_mut(announced.index) {
                *slot = body;
            }
        }
        Ok(true)
    }

    /// Commands up to the end, a closing parenthesis, `}` or a reserved word that ends a list.
    pub(super) fn list(&mut self) -> Result<List, NotParsed> {
        let mut list = List::new();
        loop {
            self.skip_lines()?;
            if self.is_list_end() {
                return Ok(list);
            }
            let start = list.len();
            list.push(self.pipeline()?);
            self.cursor.skip_blanks();
            loop {
                let joined = self.cursor.eat("&&") || self.cursor.eat("||");
                if !joined {
                    break;
                }
                self.skip_lines()?;
                list.push(self.pipeline()?);
                self.cursor.skip_blanks();
            }
            match self.cursor.byte(0) {
                b';' if self.cursor.byte(1) != b';' && self.cursor.byte(1) != b'&' => {
                    self.cursor.skip(1);
                }
                b'&' if self.cursor.byte(1) != b'&' => {
                    self.cursor.skip(1);
                    // What runs in the background changes nothing of this shell.
                    let background = list.split_off(start);
                    list.push(Command {
                        kind: Kind::Subshell(background),
                        redirects: Vec::new(),
                    });
                }
                b'\n' => {}
                _ => return Ok(list),
            }
        }
    }

    fn is_list_end(&self) -> bool {
        if self.cursor.is_end() || self.cursor.byte(0) == b')' || self.cursor.starts_with(";;") {
            return true;
        }
        self.reserved() == Some("}") || self.reserved().is_some_and(|word| ENDS.contains(&word))
    }

    /// The reserved word that stands here, if one does.
    pub(super) fn reserved(&self) -> Option<&'static str> {
        #[rustfmt::skip]
    const WORDS: [&str; 20] = [
        "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
        "select", "function", "time", "coproc", "{", "}", "!", "[[",
    ];
        let rest = self.cursor.rest();
        let end = rest.bytes().position(ends_word).unwrap_or(rest.len());
        let word = rest.get(..end)?;
        WORDS.into_iter().find(|reserved| *reserved == word)
    }

    pub(super) fn eat_reserved(&mut self, word: &str) -> bool {
        let found = self.reserved() == Some(word);
        if found {
            self.cursor.skip(word.len());
        }
        found
    }

    fn pipeline(&mut self) -> Result<Command, NotParsed> {
        self.cursor.node()?;
        loop {
            if self.eat_reserved("!") {
                self.cursor.skip_blanks();
            } else if self.eat_reserved("time") {
                self.cursor.skip_blanks();
                if self.cursor.starts_with("-p ") {
                    self.cursor.skip(3);
                    self.cursor.skip_blanks();
                }
            } else {
                break;
            }
        }
        let first = self.command()?;
        let mut all = vec![first];
        loop {
            self.cursor.skip_blanks();
            let piped = self.cursor.byte(0) == b'|' && self.cursor.byte(1) != b'|';
            if !piped {
                break;
            }
            self.cursor.skip(1);
            self.cursor.eat("&");
            self.skip_lines()?;
            all.push(self.command()?);
        }
        if all.len() > 1 {
            return Ok(Command {
                kind: Kind::Pipeline(all),
                redirects: Vec::new(),
            });
        }
        Ok(all.pop().unwrap_or_default())
    }

    /// One command, with its redirections.
    pub(super) fn command(&mut self) -> Result<Command, NotParsed> {
        self.cursor.node()?;
        self.cursor.skip_blanks();
        match self.compound()? {
            Some(kind) => {
                let mut redirects = Vec::new();
                self.cursor.skip_blanks();
                while let Some(redirect) = self.redirect()? {
                    redirects.push(redirect);
                    self.cursor.skip_blanks();
                }
                Ok(Command { kind, redirects })
            }
            None => self.simple(),
        }
    }

    fn simple(&mut self) -> Result<Command, NotParsed> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        let mut declares = false;
        loop {
            self.cursor.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            let process = matches!(self.cursor.byte(0), b'<' | b'>') && self.cursor.byte(1) == b'(';
            if self.cursor.is_end() || ends_word(self.cursor.byte(0)) && !process {
                break;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                continue;
            }
            let from = self.cursor.at();
            let mut word = self.word(WordEnd::Argument)?;
            if declares && self.cursor.byte(0) == b'(' {
                word.parts.push(Part::ArrayArgument(self.array()?));
            }
            let raw = self.cursor.slice(from, self.cursor.at());
            if simple.words.is_empty() {
                declares = DECLARES.contains(&raw);
                if let Some(function) = self.function_after(raw, &redirects)? {
                    return Ok(function);
                }
            }
            simple.words.push(word);
        }
        let empty = simple.words.is_empty() && simple.assignments.is_empty();
        if empty && redirects.is_empty() || self.cursor.byte(0) == b'(' {
            return Err(NotParsed);
        }
        Ok(Command {
            kind: Kind::Simple(simple),
            redirects,
        })
    }

    /// `name=value` before a command.
    fn assignment(&mut self) -> Result<Option<Assignment>, NotParsed> {
        let start = self.cursor.at();
        if !is_name_start(self.cursor.byte(0)) {
            return Ok(None);
        }
        let name = self.cursor.take_while(is_name);
        let element = self.cursor.byte(0) == b'[';
        if element {
            let rest = self.cursor.rest();
            let plain = |byte: u8| is_name(byte) || matches!(byte, b'$' | b'[' | b'-' | b'+');
            let end = rest.bytes().position(|byte| !plain(byte)).unwrap_or(0);
            if rest.as_bytes().get(end) != Some(&b']') {
                self.cursor.go_to(start);
                self.cursor.read_in_vain(rest.len())?;
                return if rest.contains("]=") {
                    Err(NotParsed)
                } else {
                    Ok(None)
                };
            }
            self.cursor.skip(end + 1);
        }
        let adds = self.cursor.byte(0) == b'+' && self.cursor.byte(1) == b'=';
        self.cursor.skip(usize::from(adds));
        if !self.cursor.eat("=") {
            self.cursor.go_to(start);
            return Ok(None);
        }
        let value = if self.cursor.byte(0) == b'(' {
            AssignedValue::Array(self.array()?)
        } else {
            AssignedValue::Scalar(self.word(WordEnd::Argument)?)
        };
        Ok(Some(Assignment {
            name: name.into(),
            value,
            partial: adds || element,
        }))
    }

    /// `( words )` of an array.
    fn array(&mut self) -> Result<Vec<Word>, NotParsed> {
        self.cursor.skip(1);
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.cursor.eat(")") {
                let ended = self.cursor.is_end() || ends_word(self.cursor.byte(0));
                return if ended { Ok(words) } else { Err(NotParsed) };
            }
            if self.cursor.is_end() || ends_word(self.cursor.byte(0)) {
                return Err(NotParsed);
            }
            words.push(self.word(WordEnd::Argument)?);
        }
    }

    /// A redirection, if one stands here.
    fn redirect(&mut self) -> Result<Option<Redirect>, NotParsed> {
        let start = self.cursor.at();
        // A number right before the operator is a file descriptor.
        self.cursor.take_while(|byte| byte.is_ascii_digit());
        let described = self.cursor.at() > start;
        let all = !described && self.cursor.byte(0) == b'&' && self.cursor.byte(1) == b'>';
        self.cursor.skip(usize::from(all));
        let process = self.cursor.byte(1) == b'(';
        if !matches!(self.cursor.byte(0), b'<' | b'>') || process {
            self.cursor.go_to(start);
            return Ok(None);
        }
        if self.cursor.eat("<<<") {
            self.cursor.skip_blanks();
            return Ok(Some(Redirect::HereString(self.redirect_word()?)));
        }
        if self.cursor.eat("<<") {
            return self.announce().map(Some);
        }
        let writes = self.cursor.byte(0) == b'>' || self.cursor.byte(1) == b'>';
        for operator in [">&-", "<&-", "<>", "<&", ">>", ">|", ">&", "<", ">"] {
            if self.cursor.eat(operator) {
                // A closed descriptor has no target; what follows is a word of its own.
                if operator.ends_with('-') {
                    let target = Word::default();
                    return Ok(Some(Redirect::File {
                        target,
                        writes: false,
                    }));
                }
                break;
            }
        }
        self.cursor.skip_blanks();
        let target = self.redirect_word()?;
        Ok(Some(Redirect::File { target, writes }))
    }

    pub(super) fn redirect_word(&mut self) -> Result<Word, NotParsed> {
        let process = matches!(self.cursor.byte(0), b'<' | b'>') && self.cursor.byte(1) == b'(';
        if self.cursor.is_end() || ends_word(self.cursor.byte(0)) && !process {
            return Err(NotParsed);
        }
        self.word(WordEnd::Argument)
    }
}
