//! Messages out of a stream: one a line, and no line held beyond a bound.

use std::io::{ErrorKind, Read, Result};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// A buffer that grew beyond this is given back after its line.
const KEPT: usize = 1024 * 1024;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A whole line with its end; at the end of the stream it may have none.
    Line(&'a [u8]),
    /// The beginning of a line that is longer than the bound.
    Start(&'a [u8]),
    /// More of it.
    More(&'a [u8]),
    /// The last of it.
    Last(&'a [u8]),
}

/// The frames of a stream.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    reader: R,
    max_bytes: usize,
    buffer: Vec<u8>,
    /// What was given out already.
    from: usize,
    /// How much of the rest is known to hold no line end.
    looked: usize,
    in_long: bool,
    at_end: bool,
}

impl<R: Read> Frames<R> {
    /// The frames of `reader`, with lines of at most `max_bytes` held whole.
    pub(crate) fn new(reader: R, max_bytes: usize) -> Self {
        Self {
            reader,
            max_bytes,
            buffer: Vec::new(),
            from: 0,
            looked: 0,
            in_long: false,
            at_end: false,
        }
    }

    /// The next frame; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Frame<'_>>> {
        loop {
            let rest = self.buffer.get(self.from..).unwrap_or_default();
            let unseen = rest.get(self.looked..).unwrap_or_default();
            if let Some(at) = unseen.iter().position(|byte| *byte == b'\n') {
                let length = self.looked + at + 1;
                let is_last = std::mem::take(&mut self.in_long);
                let bytes = self.give(length);
                return Ok(Some(if is_last {
                    Frame::Last(bytes)
                } else {
                    Frame::Line(bytes)
                }));
            }
            self.looked = rest.len();
            if self.at_end {
                return Ok(self.tail());
            }
            if self.in_long && self.looked > 0 {
                return Ok(Some(Frame::More(self.give(self.looked))));
            }
            if self.looked > self.max_bytes {
                self.in_long = true;
                return Ok(Some(Frame::Start(self.give(self.looked))));
            }
            self.fill()?;
        }
    }

    fn tail(&mut self) -> Option<Frame<'_>> {
        let length = self.looked;
        match (std::mem::take(&mut self.in_long), length) {
            (true, _) => Some(Frame::Last(self.give(length))),
            (false, 0) => None,
            (false, _) => Some(Frame::Line(self.give(length))),
        }
    }

    fn give(&mut self, length: usize) -> &[u8] {
        let from = self.from;
        self.from += length;
        self.looked = 0;
        self.buffer.get(from..self.from).unwrap_or_default()
    }

    fn fill(&mut self) -> Result<()> {
        if self.from > 0 {
            self.buffer.drain(..self.from);
            self.from = 0;
        }
        if self.buffer.is_empty() {
            self.buffer.shrink_to(KEPT);
        }
        let held = self.buffer.len();
        self.buffer.resize(held + CHUNK, 0);
        let read = loop {
            let room = self.buffer.get_mut(held..).unwrap_or_default();
            match self.reader.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer
            .truncate(held + read.as_ref().copied().unwrap_or_default());
        self.at_end = read? == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, room: &mut [u8]) -> Result<usize> {
            let length = self.1.min(room.len()).min(self.0.len());
            let (now, later) = self.0.split_at(length);
            room[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    fn frames(text: &[u8], max: usize, drop: usize) -> Vec<String> {
        let mut frames = Frames::new(Drops(text, drop), max);
        let mut found = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            found.push(match frame {
                Frame::Line(bytes) => format!("line {:?}", String::from_utf8_lossy(bytes)),
                Frame::Start(bytes) => format!("start {:?}", String::from_utf8_lossy(bytes)),
                Frame::More(bytes) => format!("more {:?}", String::from_utf8_lossy(bytes)),
                Frame::Last(bytes) => format!("last {:?}", String::from_utf8_lossy(bytes)),
            });
        }
        found
    }

    #[test]
    fn lines_keep_their_ends_and_the_last_needs_none() {
        for drop in 1..9 {
            assert_eq!(
                frames(b"a\n\nbc\r\nd", 10, drop),
                [
                    r#"line "a\n""#,
                    r#"line "\n""#,
                    r#"line "bc\r\n""#,
                    r#"line "d""#
                ]
            );
            assert!(frames(b"", 10, drop).is_empty());
        }
    }

    #[test]
    fn a_long_line_comes_in_parts_and_the_next_one_whole() {
        assert_eq!(
            frames(b"123456\nok\n", 3, 2),
            [
                r#"start "1234""#,
                r#"more "56""#,
                r#"last "\n""#,
                r#"line "ok\n""#
            ]
        );
        assert_eq!(frames(b"1234", 3, 4), [r#"start "1234""#, r#"last """#]);
    }

    #[test]
    fn no_byte_is_lost_or_added_and_little_is_held() {
        let long = vec![b'x'; 3_000_000];
        let mut frames = Frames::new(long.as_slice(), 1000);
        let mut total = 0;
        while let Some(frame) = frames.next().unwrap() {
            let (Frame::Line(bytes)
            | Frame::Start(bytes)
            | Frame::More(bytes)
            | Frame::Last(bytes)) = frame;
            total += bytes.len();
        }
        assert_eq!(total, long.len());
        assert!(frames.buffer.capacity() <= 4 * CHUNK);
    }
}
