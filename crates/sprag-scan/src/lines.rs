//! Lines of a file, one at a time, in memory that is bounded whatever the file holds.
//!
//! Transcripts grow to gigabytes, and one line of them can hold a whole picture. A line is handed out as a slice of one
//! buffer; a line over [`MAX_LINE_BYTES`] is passed over and told, and the next one is read as if nothing had been.

use std::io::{self, Read};

use memchr::memchr;

use crate::piece::{Piece, PieceReader};

/// The longest line that is read.
pub const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;
/// How much is read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// The lines of what `source` holds.
pub(crate) struct LineReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// What of the buffer is not yet handed out.
    start: usize,
    end: usize,
    /// How much of that holds no end of a line.
    searched: usize,
    number: u64,
    most: usize,
    finished: bool,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self::with_limit(source, MAX_LINE_BYTES)
    }

    fn with_limit(source: R, most: usize) -> Self {
        Self {
            source,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            end: 0,
            searched: 0,
            number: 0,
            most,
            finished: false,
        }
    }

    fn hand_out(&mut self, start: usize, end: usize, too_long: bool) -> Piece<'_> {
        self.number += 1;
        if too_long || end - start > self.most {
            return Piece::TooLong;
        }
        let line = self.buffer.get(start..end).unwrap_or_default();
        Piece::Text(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Makes room and reads on.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let room = self.end.saturating_add(CHUNK_BYTES);
        if self.buffer.len() < room {
            self.buffer.resize(
                room.max(self.buffer.len().saturating_mul(2))
                    .min(room.max(self.most)),
                0,
            );
        } else if self.end == 0 && self.buffer.len() > 8 * CHUNK_BYTES {
            // One long line must not hold its memory for the rest of the file.
            self.buffer = vec![0; CHUNK_BYTES];
        }
        let free = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = loop {
            match self.source.read(free) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.end += read;
        self.finished = read == 0;
        Ok(())
    }
}

impl<R: Read> PieceReader for LineReader<R> {
    const SKIPS_BLANKS: bool = true;

    /// The number of the line that was handed out last, from 1.
    fn number(&self) -> u64 {
        self.number
    }

    /// The next line; none at the end.
    fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        let mut too_long = false;
        loop {
            let from = self.start + self.searched;
            let held = self.buffer.get(from..self.end).unwrap_or_default();
            if let Some(at) = memchr(b'\n', held) {
                let (start, end) = (self.start, from + at);
                self.start = end + 1;
                self.searched = 0;
                return Ok(Some(self.hand_out(start, end, too_long)));
            }
            self.searched = self.end - self.start;
            if self.finished {
                let (start, end) = (self.start, self.end);
                self.start = end;
                self.searched = 0;
                let some = too_long || end > start;
                return Ok(some.then(|| self.hand_out(start, end, too_long)));
            }
            if self.searched > self.most {
                too_long = true;
                self.start = self.end;
                self.searched = 0;
            }
            self.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], most: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = LineReader::with_limit(bytes, most);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(match line {
                Piece::Text(text) => Some(text.to_vec()),
                Piece::TooLong => None,
            });
        }
        all
    }

    #[test]
    fn a_line_that_is_too_long_costs_no_other() {
        let text = format!(
            "one\n{}\nthree\r\n{}",
            "x".repeat(3 * CHUNK_BYTES),
            "y".repeat(30)
        );
        let lines = read(text.as_bytes(), 20);
        assert_eq!(
            lines,
            [Some(b"one".to_vec()), None, Some(b"three".to_vec()), None]
        );
    }

    #[test]
    fn the_memory_of_a_long_line_is_given_back() {
        let text = format!(
            "{}\n{}",
            "x".repeat(20 * CHUNK_BYTES),
            "short\n".repeat(CHUNK_BYTES)
        );
        let mut lines = LineReader::with_limit(text.as_bytes(), MAX_LINE_BYTES);
        while lines.next().unwrap().is_some() {}
        assert!(lines.buffer.len() <= 8 * CHUNK_BYTES);
        assert_eq!(lines.number(), 1 + u64::try_from(CHUNK_BYTES).unwrap());
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(parts in proptest::collection::vec("[a-z]{0,40}", 0..40)) {
            let text = parts.join("\n");
            let expected: Vec<Option<Vec<u8>>> = text
                .lines()
                .map(|line| (line.len() <= 20).then(|| line.as_bytes().to_vec()))
                .collect();
            prop_assert_eq!(read(text.as_bytes(), 20), expected);
        }
    }
}
