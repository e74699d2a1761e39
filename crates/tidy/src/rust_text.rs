//! Rust source with its strings and comments blanked out, so that counting braces counts code.
//!
//! Not a parser: it knows just enough of the grammar to tell where text ends and code goes on.
//! Lines stay lines, so that numbers found in the blanked text hold for the file.

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// The line of its `fn`, counted from 1.
    pub(crate) line: usize,
    /// How many lines it takes from there to its closing brace.
    pub(crate) lines: usize,
}

/// The source with every character of a string, a char or a comment made a blank.
pub(crate) fn code_only(source: &str) -> String {
    let mut cursor = SourceCursor {
        rest: source,
        code: String::with_capacity(source.len()),
    };
    while cursor.step() {}
    cursor.code
}

/// All functions with a body in text that went through [`code_only`].
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut before = ' ';
    for (at, character) in code.char_indices() {
        let rest = code.get(at..).unwrap_or_default();
        if !is_word(before)
            && let Some(after) = rest.strip_prefix("fn")
            && after.starts_with(char::is_whitespace)
            && let Some(lines) = lines_to_the_end(after)
        {
            let name = after.trim_start();
            let name = name.split(|c| !is_word(c) && c != '$').next();
            found.push(Function {
                name: name.unwrap_or_default().to_owned(),
                line,
                lines,
            });
        }
        before = character;
        line += usize::from(character == '\n');
    }
    found
}

/// From behind a `fn` to the brace that closes its body; none for a function without one.
fn lines_to_the_end(after: &str) -> Option<usize> {
    let mut lines = 1;
    let mut brackets = 0_usize;
    let mut braces = 0_usize;
    for character in after.chars() {
        match character {
            '\n' => lines += 1,
            '(' | '[' => brackets += 1,
            // A closing bracket of something around it: the `fn` was part of a macro's pattern.
            ')' | ']' => brackets = brackets.checked_sub(1)?,
            ';' if brackets == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces = braces.checked_sub(1)?;
                if braces == 0 && brackets == 0 {
                    return Some(lines);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

struct SourceCursor<'a> {
    rest: &'a str,
    code: String,
}

impl SourceCursor<'_> {
    /// Passes one piece of code, text or comment; false at the end.
    fn step(&mut self) -> bool {
        let Some(character) = self.rest.chars().next() else {
            return false;
        };
        match character {
            '/' if self.rest.starts_with("//") => self.blank(length_to(self.rest, "\n")),
            '/' if self.rest.starts_with("/*") => self.blank(block_comment(self.rest)),
            '"' => self.blank(quoted(self.rest, '"')),
            'r' => match raw_string(self.rest) {
                Some(length) => self.blank(length),
                None => self.keep(character),
            },
            '\'' if is_char(self.rest) => self.blank(quoted(self.rest, '\'')),
            _ => self.keep(character),
        }
        true
    }

    fn keep(&mut self, character: char) {
        self.code.push(character);
        self.advance(character.len_utf8());
    }

    fn blank(&mut self, bytes: usize) {
        let text = self.rest.get(..bytes).unwrap_or(self.rest);
        self.code
            .extend(text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.advance(text.len());
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }
}

/// Bytes before `end`, or all there are.
fn length_to(text: &str, end: &str) -> usize {
    text.find(end).unwrap_or(text.len())
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut skip = false;
    for (at, _) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        if std::mem::take(&mut skip) {
            continue;
        }
        if rest.starts_with("/*") {
            depth += 1;
            skip = true;
        } else if rest.starts_with("*/") {
            depth -= 1;
            skip = true;
            if depth == 0 {
                return at + 2;
            }
        }
    }
    text.len()
}

/// The length of a string or char with its quotes; a backslash guards what follows it.
fn quoted(text: &str, quote: char) -> usize {
    let mut guarded = false;
    for (at, character) in text.char_indices().skip(1) {
        if guarded {
            guarded = false;
        } else if character == '\\' {
            guarded = true;
        } else if character == quote {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

/// The length of a raw string that starts here with its `r`; none for a name like `r#fn` or `rest`.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let body = after.trim_start_matches('#');
    let hashes = after.len() - body.len();
    let body = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some((hashes + 2 + length_to(body, &end) + end.len()).min(text.len()))
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_char(text: &str) -> bool {
    let mut characters = text.chars().skip(1);
    match characters.next() {
        Some('\\') => true,
        Some(_) => characters.next() == Some('\''),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(source: &str) -> Vec<(String, usize, usize)> {
        functions(&code_only(source))
            .into_iter()
            .map(|function| (function.name, function.line, function.lines))
            .collect()
    }

    #[test]
    fn braces_in_text_and_comments_are_not_code() {
        let source = r##"fn a() {
    let s = "}";          // }
    let r = r#"}"}"#;     /* } /* } */ } */
    let c = ('}', '\'', b'}', '"');
    let l: &'static str = "\"}\\";
}
fn b() {}
"##;
        assert_eq!(
            lengths(source),
            [("a".to_owned(), 1, 6), ("b".to_owned(), 7, 1)]
        );
    }

    #[test]
    fn a_signature_may_take_lines_and_hold_array_types() {
        let source = "fn a(\n    x: [u8; 4],\n) -> [u8; 4]\nwhere\n    T: Fn(u8),\n{\n    x\n}\n";
        assert_eq!(lengths(source), [("a".to_owned(), 1, 8)]);
    }

    #[test]
    fn what_has_no_body_is_no_function() {
        assert_eq!(
            lengths("trait T { fn a(&self); }\ntype F = fn (u8) -> u8;\n"),
            []
        );
        assert_eq!(
            lengths("macro_rules! m { ($v:vis fn $n:ident) => {} }\n"),
            []
        );
    }

    #[test]
    fn functions_in_functions_are_both_seen() {
        let source = "fn outer() {\n    fn inner() {\n    }\n}\n";
        assert_eq!(
            lengths(source),
            [("outer".to_owned(), 1, 4), ("inner".to_owned(), 2, 2)]
        );
    }

    #[test]
    fn raw_names_and_words_that_end_in_fn_are_left_alone() {
        assert_eq!(
            code_only("let r#type = rest; my_fn (); {}"),
            "let r#type = rest; my_fn (); {}"
        );
        assert_eq!(lengths("my_fn (); {}"), []);
    }

    #[test]
    fn unfinished_text_ends_with_the_file() {
        assert_eq!(code_only("a \"bc"), "a    ");
        assert_eq!(code_only("a /* b"), "a     ");
        assert_eq!(code_only("a r#\"b"), "a     ");
    }
}
