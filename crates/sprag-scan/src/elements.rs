//! The elements of a JSON array in a file, one at a time, however long the array is.
//!
//! Some clients and most programs keep a conversation as one JSON document. Reading it whole would cost as much memory as the
//! file is long, so only brackets, quotes and commas are followed, and each element is handed out by itself. The
//! array is the document itself, or what stands under `messages` in an object; what stands before it is kept as the
//! header, since it names the session.

use std::io::{self, Read};

use memchr::memchr2;

use crate::lines::MAX_LINE_BYTES;
use crate::piece::{Piece, PieceReader};

/// How much is read at once.
const CHUNK_BYTES: usize = 128 * 1024;
/// How much of what stands before the array is kept.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// The keys under which messages stand.
const KEYS: [&[u8]; 2] = [b"messages", b"history"];

/// Where in the document it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementPosition {
    /// Before the array.
    Before,
    /// Inside it.
    Inside,
    /// Behind it.
    Behind,
}

/// The elements of the array in `source`.
pub(crate) struct Elements<R> {
    source: R,
    /// What was read and is not yet followed, from `at` on.
    chunk: Vec<u8>,
    at: usize,
    chunk_bytes: usize,
    place: ElementPosition,
    /// Open brackets.
    depth: usize,
    /// Open brackets where an element starts.
    inside: usize,
    in_string: bool,
    escaped: bool,
    /// The string that was read last, before the array.
    key: Vec<u8>,
    header: Vec<u8>,
    element: Vec<u8>,
    too_long: bool,
    number: u64,
    most: usize,
}

impl<R: Read> Elements<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            chunk: Vec::new(),
            at: 0,
            chunk_bytes: CHUNK_BYTES,
            place: ElementPosition::Before,
            depth: 0,
            inside: 0,
            in_string: false,
            escaped: false,
            key: Vec::new(),
            header: Vec::new(),
            element: Vec::new(),
            too_long: false,
            number: 0,
            most: MAX_LINE_BYTES,
        }
    }

    /// Reads up to the array, so that the header is known.
    pub(crate) fn find(&mut self) -> io::Result<()> {
        while self.place == ElementPosition::Before {
            if !self.has_more()? {
                self.place = ElementPosition::Behind;
                break;
            }
            let chunk = std::mem::take(&mut self.chunk);
            while self.place == ElementPosition::Before
                && let Some(byte) = chunk.get(self.at..=self.at)
            {
                self.follow(byte);
                self.at += 1;
            }
            self.chunk = chunk;
        }
        Ok(())
    }

    /// Whether there is something to follow; reads on where all is followed.
    fn has_more(&mut self) -> io::Result<bool> {
        if self.at < self.chunk.len() {
            return Ok(true);
        }
        self.chunk.resize(self.chunk_bytes, 0);
        let read = loop {
            match self.source.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.chunk.truncate(read);
        self.at = 0;
        Ok(read > 0)
    }

    /// What stands before the array, made whole again: `{"sessionId":"…","messages":[]}`.
    pub(crate) fn header(&self) -> Vec<u8> {
        let mut header = self.header.clone();
        header.extend_from_slice(b"]}");
        header
    }

    /// Follows the bytes up to the end of an element, or of the chunk: how many, and which of the two.
    fn follow(&mut self, chunk: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(byte) = chunk.get(at).copied() {
            if self.in_string {
                at += self.in_text(chunk.get(at..).unwrap_or_default());
                continue;
            }
            at += 1;
            if self.place == ElementPosition::Inside && self.depth == self.inside {
                match byte {
                    b',' | b']' => {
                        if byte == b']' {
                            self.place = ElementPosition::Behind;
                        }
                        if self.too_long || !self.element.is_empty() {
                            return (at, true);
                        }
                        continue;
                    }
                    b' ' | b'\n' | b'\r' | b'\t' => continue,
                    _ => {}
                }
            }
            self.keep(&[byte]);
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.key.clear();
                }
                b'{' | b'[' => self.open(byte),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        (at, false)
    }

    fn open(&mut self, bracket: u8) {
        let is_messages = match self.depth {
            0 => true,
            1 => KEYS.contains(&self.key.as_slice()),
            _ => false,
        };
        self.depth += 1;
        if self.place == ElementPosition::Before && bracket == b'[' && is_messages {
            self.place = ElementPosition::Inside;
            self.inside = self.depth;
        }
    }

    /// Takes the part of a string that the chunk holds, its closing quote included.
    fn in_text(&mut self, chunk: &[u8]) -> usize {
        if self.escaped {
            self.escaped = false;
            self.keep(chunk.get(..1).unwrap_or_default());
            return 1;
        }
        let found = memchr2(b'"', b'\\', chunk);
        let length = found.map_or(chunk.len(), |at| at + 1);
        let text = chunk.get(..length).unwrap_or_default();
        self.keep(text);
        let last = found.and_then(|at| chunk.get(at));
        self.escaped = last == Some(&b'\\');
        self.in_string = last != Some(&b'"');
        if self.place == ElementPosition::Before && self.key.len() < 64 {
            self.key
                .extend_from_slice(text.strip_suffix(b"\"").unwrap_or(text));
        }
        length
    }

    fn keep(&mut self, bytes: &[u8]) {
        match self.place {
            ElementPosition::Before => {
                let room = MAX_HEADER_BYTES.saturating_sub(self.header.len());
                self.header
                    .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            }
            ElementPosition::Inside if self.element.len() + bytes.len() > self.most => {
                self.too_long = true;
                self.element = Vec::new();
            }
            ElementPosition::Inside if !self.too_long => self.element.extend_from_slice(bytes),
            _ => {}
        }
    }
}

impl<R: Read> PieceReader for Elements<R> {
    const SKIPS_BLANKS: bool = false;

    /// The number of the element that was handed out last, from 1.
    fn number(&self) -> u64 {
        self.number
    }

    /// The next element; none at the end of the array or of the file.
    fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.find()?;
        self.element.clear();
        self.too_long = false;
        loop {
            if self.place == ElementPosition::Behind {
                return Ok(None);
            }
            if !self.has_more()? {
                // Half an element at the end of a file that was cut off.
                self.place = ElementPosition::Behind;
                return Ok(None);
            }
            let chunk = std::mem::take(&mut self.chunk);
            let (used, whole) = self.follow(chunk.get(self.at..).unwrap_or_default());
            self.at += used;
            self.chunk = chunk;
            if whole {
                self.number += 1;
                return Ok(Some(if self.too_long {
                    Piece::TooLong
                } else {
                    Piece::Text(&self.element)
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn read(text: &str, chunk: usize, most: usize) -> (Vec<Option<String>>, String) {
        let mut elements = Elements::new(text.as_bytes());
        (elements.most, elements.chunk_bytes) = (most, chunk);
        let mut all = Vec::new();
        while let Some(element) = elements.next().unwrap() {
            all.push(match element {
                Piece::Text(value) => Some(String::from_utf8(value.to_vec()).unwrap()),
                Piece::TooLong => None,
            });
        }
        (all, String::from_utf8(elements.header()).unwrap())
    }

    #[test]
    fn elements_of_an_array_and_of_messages_are_the_same() {
        for text in [
            r#"[ {"a":"],["} , [1,2], "x\"]" ]"#,
            r#"{"sessionId":"s","n":{"messages":[9]},"messages":[ {"a":"],["} , [1,2], "x\"]" ],"late":[7]}"#,
        ] {
            for chunk in [1, 3, 4096] {
                let (all, _) = read(text, chunk, 1000);
                let expected = [r#"{"a":"],["}"#, "[1,2]", r#""x\"]""#];
                assert_eq!(all, expected.map(|e| Some(e.to_owned())), "{chunk}");
            }
        }
        let (_, header) = read(r#"{"sessionId":"s","messages":[1]}"#, 5, 1000);
        assert_eq!(header, r#"{"sessionId":"s","messages":[]}"#);
    }

    #[test]
    fn what_is_cut_off_or_too_long_ends_nothing() {
        assert_eq!(read(r#"[1, {"a": "b"#, 4, 1000).0, [Some("1".to_owned())]);
        assert_eq!(
            read(r#"["xxxxxxxxxxxxxxxxxxxx", 2]"#, 4, 10).0,
            [None, Some("2".to_owned())]
        );
        assert_eq!(
            read(r#"{"other": 1}"#, 4, 10).0,
            Vec::<Option<String>>::new()
        );
        assert_eq!(read("]]}},,", 4, 10).0, Vec::<Option<String>>::new());
    }

    proptest! {
        #[test]
        fn any_array_comes_apart_as_it_is(texts in proptest::collection::vec("\\PC{0,20}", 0..8), chunk in 1_usize..20) {
            let values: Vec<Value> = texts.iter().map(|text| json!({"t": text, "n": [text, {}]})).collect();
            let document = json!({"id": "x", "messages": values}).to_string();
            let (all, _) = read(&document, chunk, 10_000);
            let back: Vec<Value> = all.iter().map(|e| serde_json::from_str(e.as_deref().unwrap()).unwrap()).collect();
            prop_assert_eq!(back, values);
        }

        #[test]
        fn nothing_makes_it_fail(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut elements = Elements::new(bytes.as_slice());
            while elements.next().unwrap().is_some() {}
        }
    }
}
