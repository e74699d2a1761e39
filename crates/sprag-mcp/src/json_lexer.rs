//! The bones of JSON, byte by byte: where keys, texts and containers start and end.
//!
//! A proxy meets messages that it may not hold (a result of a hundred megabytes) and messages that a
//! strict reader refuses but some server accepts. For both it needs a reader that remembers only where
//! it is. This one does not judge: what is not JSON gives tokens that mean little, never an error.

/// How deep a message may nest before its tokens are no longer told apart.
const MAX_DEPTH: usize = 4096;

/// What one byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonToken {
    /// Between the parts, or inside of one.
    Plain,
    /// `{`: what follows is one level deeper.
    OpenObject,
    /// `[`, likewise.
    OpenArray,
    /// `}`: the level that ends was the depth before it.
    CloseObject,
    /// `]`, likewise.
    CloseArray,
    /// The quote before a key.
    KeyStart,
    /// The quote after a key.
    KeyEnd,
    /// `:`, so a value follows.
    Colon,
    /// `,`, so the value before it ended.
    Comma,
}

/// Where a reader is in a text.
#[derive(Debug, Default)]
pub(crate) struct JsonLexer {
    /// For each open container whether it is an object.
    open: Vec<bool>,
    text: Text,
    /// A key may follow.
    wants_key: bool,
    lost: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Text {
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

    /// Whether the text nests deeper than anything is told apart.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// What the next byte is.
    #[inline]
    pub(crate) fn read(&mut self, byte: u8) -> JsonToken {
        match self.text {
            Text::Outside => self.outside(byte),
            Text::KeyEscape => self.inside(Text::Key),
            Text::ValueEscape => self.inside(Text::Value),
            Text::Key => match byte {
                b'"' => {
                    self.text = Text::Outside;
                    JsonToken::KeyEnd
                }
                b'\\' => self.inside(Text::KeyEscape),
                _ => JsonToken::Plain,
            },
            Text::Value => {
                match byte {
                    b'"' => self.text = Text::Outside,
                    b'\\' => self.text = Text::ValueEscape,
                    _ => {}
                }
                JsonToken::Plain
            }
        }
    }

    fn inside(&mut self, text: Text) -> JsonToken {
        self.text = text;
        JsonToken::Plain
    }

    fn outside(&mut self, byte: u8) -> JsonToken {
        match byte {
            b'"' if self.wants_key => {
                self.text = Text::Key;
                self.wants_key = false;
                JsonToken::KeyStart
            }
            b'"' => self.inside(Text::Value),
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
