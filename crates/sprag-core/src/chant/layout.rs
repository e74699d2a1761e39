//! Which kind of text a byte stands in: prose is judged, what repeats by its nature is not.
//!
//! Decided from how a line begins, so that a long line is judged while it is still being written.

/// How strictly repetition is judged at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grade {
    /// Prose.
    Plain,
    /// Indented lines, often code or a quotation: a longer stretch is needed.
    Indented,
    /// A dump of bytes or an answer in JSON: only a rich unit counts, over a longer stretch.
    Data,
    /// A code fence, a table or markup.
    Skip,
}

/// What the current line turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Open,
    Prose,
    Table,
    Markup,
    Fence { mark: u8, length: u16, pure: bool },
}

/// Bytes after which a dump must have shown many symbols.
const DUMP_BYTES: u16 = 64;
const DUMP_SYMBOLS: u32 = 12;
/// A tag that is still open after so many bytes is not taken for markup any more.
const MAX_TAG_BYTES: u32 = 64 * 1024;
const TAB_COLUMNS: u16 = 4;

#[derive(Debug, Clone)]
pub(super) struct Layout {
    line: Line,
    head: [u8; 3],
    head_bytes: usize,
    indent: u16,
    fence: Option<(u8, u16)>,
    tag_bytes: Option<u32>,
    started: bool,
    bracket: bool,
    json: bool,
    word_bytes: u16,
    symbols: u128,
    dump: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            line: Line::Open,
            head: [0; 3],
            head_bytes: 0,
            indent: 0,
            fence: None,
            tag_bytes: None,
            started: false,
            bracket: false,
            json: false,
            word_bytes: 0,
            symbols: 0,
            dump: false,
        }
    }
}

impl Layout {
    pub(super) fn read(&mut self, byte: u8) -> Grade {
        if !self.started {
            self.begin_answer(byte);
        }
        if byte == b'\n' {
            return self.end_line();
        }
        self.read_word(byte);
        match self.line {
            Line::Open => self.open(byte),
            Line::Fence { mark, length, pure } => {
                self.line = continued_fence(byte, mark, length, pure);
            }
            Line::Prose | Line::Table | Line::Markup => {}
        }
        self.read_tag(byte);
        self.grade()
    }

    fn grade(&self) -> Grade {
        let skipped = matches!(self.line, Line::Table | Line::Markup | Line::Fence { .. });
        if skipped || self.fence.is_some() || self.tag_bytes.is_some() {
            Grade::Skip
        } else if self.dump || self.json {
            Grade::Data
        } else if self.indent >= TAB_COLUMNS {
            Grade::Indented
        } else {
            Grade::Plain
        }
    }

    /// Collects the first bytes of a line until they say what it is.
    fn open(&mut self, byte: u8) {
        if self.head_bytes == 0 && matches!(byte, b' ' | b'\t' | b'\r') {
            let columns = if byte == b'\t' { TAB_COLUMNS } else { 1 };
            self.indent = self.indent.saturating_add(columns);
            return;
        }
        if let Some(place) = self.head.get_mut(self.head_bytes) {
            *place = byte;
            self.head_bytes += 1;
        }
        let head = self.head.get(..self.head_bytes).unwrap_or_default();
        self.line = line_of(head);
        if self.line == Line::Markup {
            self.tag_bytes = Some(0);
        }
    }

    /// An answer that opens an object or a list before any word is JSON.
    fn begin_answer(&mut self, byte: u8) {
        match (self.bracket, byte) {
            (false, b' ' | b'\t' | b'\r' | b'\n') => return,
            (false, b'[') => {
                self.bracket = true;
                return;
            }
            (false, _) => self.json = byte == b'{',
            (true, _) => {
                self.json = matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9')
                    || byte.is_ascii_whitespace();
            }
        }
        self.started = true;
    }

    fn end_line(&mut self) -> Grade {
        let grade = self.grade();
        match (self.line, self.fence) {
            (Line::Fence { mark, length, .. }, None) => self.fence = Some((mark, length)),
            (
                Line::Fence {
                    mark,
                    length,
                    pure: true,
                },
                Some((open, least)),
            ) if mark == open && length >= least => {
                self.fence = None;
            }
            _ => {}
        }
        self.line = Line::Open;
        self.head_bytes = 0;
        self.indent = 0;
        self.word_bytes = 0;
        self.symbols = 0;
        grade
    }

    /// Follows a tag over the lines of its attributes.
    fn read_tag(&mut self, byte: u8) {
        self.tag_bytes = match (self.tag_bytes, byte) {
            (Some(_), b'>') => {
                self.line = Line::Markup;
                None
            }
            (Some(read), _) => (read < MAX_TAG_BYTES).then_some(read + 1),
            (None, b'<') if self.line == Line::Markup => Some(0),
            (None, _) => None,
        };
    }

    /// A long word of many symbols, digits among them, is a dump of bytes. It goes on over the ends
    /// of lines, until a byte that such dumps do not hold.
    fn read_word(&mut self, byte: u8) {
        let dumped =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
        let indents = self.line == Line::Open && matches!(byte, b' ' | b'\t');
        if !dumped {
            self.word_bytes = 0;
            self.symbols = 0;
            self.dump = self.dump && (indents || byte == b'\r');
            return;
        }
        self.word_bytes = self.word_bytes.saturating_add(1);
        self.symbols |= 1u128 << (byte & 0x7f);
        let digits = self.symbols & (0x3ff << b'0') != 0;
        if self.word_bytes >= DUMP_BYTES && digits && self.symbols.count_ones() >= DUMP_SYMBOLS {
            self.dump = true;
        }
    }
}

fn continued_fence(byte: u8, mark: u8, length: u16, pure: bool) -> Line {
    if byte == mark && pure {
        return Line::Fence {
            mark,
            length: length.saturating_add(1),
            pure,
        };
    }
    // A line such as ```` ```x``` ```` is code within a line, not the start of a block.
    if byte == mark && mark == b'`' {
        return Line::Prose;
    }
    let pure = pure && byte.is_ascii_whitespace();
    Line::Fence { mark, length, pure }
}

fn line_of(head: &[u8]) -> Line {
    match head {
        [b'|', ..] => Line::Table,
        [b'+'] | [b'<'] | [b'`'] | [b'~'] | [b'`', b'`'] | [b'~', b'~'] => Line::Open,
        [b'+', b'-' | b'='] => Line::Table,
        // The box-drawing characters of Unicode.
        [0xe2] => Line::Open,
        [0xe2, 0x94 | 0x95] => Line::Table,
        [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'!' | b'?'] => Line::Markup,
        [b'`', b'`', b'`'] | [b'~', b'~', b'~'] => Line::Fence {
            mark: head.first().copied().unwrap_or_default(),
            length: 3,
            pure: true,
        },
        _ => Line::Prose,
    }
}
