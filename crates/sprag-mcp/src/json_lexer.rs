//! A JSON lexer that works byte by byte: where keys, strings and containers start and end.
//!
//! A proxy meets messages that are too long to hold (a result of a hundred megabytes) and messages that a
//! strict parser rejects but some server accepts. For both it needs a lexer that remembers only its
//! position. This one never fails: text that is not JSON gives tokens that mean little.
//!
//! Bounded by: one byte for each open container, at most [`MAX_DEPTH`].

/// The deepest nesting that is followed.
const MAX_DEPTH: usize = 4096;

/// The meaning of one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonToken {
    /// Inside a string, a number or white space.
    Plain,
    /// `{`: the following bytes are one level deeper.
    OpenObject,
    /// `[`, likewise.
    OpenArray,
    /// `}`: closes the level that was the depth before this byte.
    CloseObject,
    /// `]`, likewise.
    CloseArray,
    /// The quote before a key.
    KeyStart,
    /// The quote after a key.
    KeyEnd,
    /// `:`: a value follows.
    Colon,
    /// `,`: the value before it ended.
    Comma,
}

/// The position of a lexer in a text.
#[derive(Debug, Default)]
pub(crate) struct JsonLexer {
    /// For each open container, whether it is an object.
    open: Vec<bool>,
    string: StringState,
    /// The next string is a key.
    wants_key: bool,
    /// The text nested deeper than is followed, so depth and keys are no longer reliable.
    lost: bool,
}

/// Whether the lexer is inside a string, and of which kind. After a backslash the next byte is escaped, so
/// that an escaped quote does not end the string.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum StringState {
    #[default]
    Outside,
    Key,
    Value,
    KeyEscape,
    ValueEscape,
}

impl JsonLexer {
    /// How many containers are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether the text nested deeper than is followed.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Reads the next byte.
    #[inline]
    pub(crate) fn read(&mut self, byte: u8) -> JsonToken {
        match self.string {
            StringState::Outside => self.outside(byte),
            StringState::KeyEscape => self.inside(StringState::Key),
            StringState::ValueEscape => self.inside(StringState::Value),
            StringState::Key => match byte {
                b'"' => {
                    self.string = StringState::Outside;
                    JsonToken::KeyEnd
                }
                b'\\' => self.inside(StringState::KeyEscape),
                _ => JsonToken::Plain,
            },
            StringState::Value => {
                match byte {
                    b'"' => self.string = StringState::Outside,
                    b'\\' => self.string = StringState::ValueEscape,
                    _ => {}
                }
                JsonToken::Plain
            }
        }
    }

    fn inside(&mut self, string: StringState) -> JsonToken {
        self.string = string;
        JsonToken::Plain
    }

    fn outside(&mut self, byte: u8) -> JsonToken {
        match byte {
            b'"' if self.wants_key => {
                self.string = StringState::Key;
                self.wants_key = false;
                JsonToken::KeyStart
            }
            b'"' => self.inside(StringState::Value),
            b'{' => self.open(true, JsonToken::OpenObject),
            b'[' => self.open(false, JsonToken::OpenArray),
            b'}' => self.close(JsonToken::CloseObject),
            b']' => self.close(JsonToken::CloseArray),
            b',' => {
                self.wants_key = self.open.last() == Some(&true);
                JsonToken::Comma
            }
            b':' => JsonToken::Colon,
            _ => JsonToken::Plain,
        }
    }

    fn open(&mut self, object: bool, token: JsonToken) -> JsonToken {
        if self.open.len() >= MAX_DEPTH {
            self.lost = true;
            return JsonToken::Plain;
        }
        self.open.push(object);
        self.wants_key = object;
        token
    }

    fn close(&mut self, token: JsonToken) -> JsonToken {
        self.open.pop();
        self.wants_key = false;
        token
    }
}
