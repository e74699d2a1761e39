//! BoundedLines from a stream that nobody promised to be well behaved.
//!
//! `read_line` believes its input: one line of a hundred megabytes is a hundred megabytes of
//! memory, and a line that is not UTF-8 ends the stream. Here a line that is too long is counted
//! and thrown away as it passes, and what is left is bytes for the caller to judge.

use std::io::{BufRead, ErrorKind, Result};

/// Buffers that grew beyond this are given back after use.
const KEPT_BYTES: usize = 1024 * 1024;

/// The lines of a reader, one at a time.
#[derive(Debug)]
pub(crate) struct BoundedLines<R> {
    reader: R,
    max_bytes: usize,
    number: u64,
    buffer: Vec<u8>,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BoundedLine<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// It had this many bytes, which is too many.
    TooLong(usize),
}

impl<R: BufRead> BoundedLines<R> {
    /// The lines of `reader`, none longer than `max_bytes`.
    pub(crate) fn new(reader: R, max_bytes: usize) -> Self {
        Self {
            reader,
            max_bytes,
            number: 0,
            buffer: Vec::new(),
        }
    }

    /// The next line with its number, counted from 1; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, BoundedLine<'_>)>> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BYTES);
        let mut length: usize = 0;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let at_end = chunk.is_empty();
            let (part, ended) = match chunk.iter().position(|byte| *byte == b'\n') {
                Some(at) => (chunk.get(..at).unwrap_or_default(), true),
                None => (chunk, at_end),
            };
            let taken = part.len() + usize::from(ended && !at_end);
            length = length.saturating_add(part.len());
            if length <= self.max_bytes {
                self.buffer.extend_from_slice(part);
            } else {
                self.buffer = Vec::new();
            }
            self.reader.consume(taken);
            if at_end && length == 0 {
                return Ok(None);
            }
            if ended {
                break;
            }
        }
        self.number = self.number.saturating_add(1);
        let line = if length <= self.max_bytes {
            BoundedLine::Bytes(&self.buffer)
        } else {
            BoundedLine::TooLong(length)
        };
        Ok(Some((self.number, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    fn lines(text: &[u8], max: usize, chunk: usize) -> Vec<String> {
        let mut lines = BoundedLines::new(BufReader::with_capacity(chunk, text), max);
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            found.push(match line {
                BoundedLine::Bytes(bytes) => format!("{number} {}", String::from_utf8_lossy(bytes)),
                BoundedLine::TooLong(length) => format!("{number} too long: {length}"),
            });
        }
        found
    }

    #[test]
    fn lines_are_numbered_and_the_last_needs_no_end() {
        for chunk in 1..8 {
            assert_eq!(
                lines(b"a\n\nbc\r\nd", 10, chunk),
                ["1 a", "2 ", "3 bc\r", "4 d"]
            );
            assert_eq!(lines(b"a\n", 10, chunk), ["1 a"]);
            assert!(lines(b"", 10, chunk).is_empty());
        }
    }

    #[test]
    fn a_line_of_the_limit_is_read_and_one_byte_more_is_not() {
        for chunk in 1..8 {
            assert_eq!(
                lines(b"1234\n12345\nok\n123456", 4, chunk),
                ["1 1234", "2 too long: 5", "3 ok", "4 too long: 6"]
            );
        }
    }

    #[test]
    fn a_line_without_end_is_not_held_in_memory() {
        let endless = std::io::repeat(b'x').take(200_000_000);
        let mut lines = BoundedLines::new(BufReader::with_capacity(65_536, endless), 1000);
        assert_eq!(
            lines.next().unwrap(),
            Some((1, BoundedLine::TooLong(200_000_000)))
        );
        assert!(lines.buffer.capacity() <= 1000);
    }
}
