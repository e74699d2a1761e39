//! A stream of events, passed on byte for byte, with a look at each event that is whole.
//!
//! An event ends with an empty line and means nothing before, so holding its first bytes until the last has come
//! keeps nothing from the client. A comment is not an event: it keeps the connection alive and goes on at once.
//! An event that is too long to be held goes on as it comes and is looked at as it passes.

use hyper::body::Bytes;

use crate::stream_scan::StreamScan;

use super::limits::HELD_BYTES;

/// Who looks at the messages in a stream.
pub(crate) trait MessageInspector {
    /// What goes on in the place of this message; none: the message itself.
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>>;
    /// A message that has passed already.
    fn long(&mut self, long: &StreamScan);
}

/// Where a reader is in a stream.
#[derive(Debug, Default)]
pub(crate) struct SseSplitter {
    /// The event that has begun.
    held: Vec<u8>,
    /// Where its last line begins.
    line: usize,
    /// It has a line that is no comment.
    has_fields: bool,
    /// The last byte was a return that ended a line: a line feed belongs to it.
    after_return: bool,
    long: Option<LongEvent>,
}

impl SseSplitter {
    /// Takes what has come, and tells what goes on now.
    pub(crate) fn read(&mut self, chunk: Bytes, judge: &mut impl MessageInspector) -> Bytes {
        if self.long.is_none() && self.held.is_empty() && !self.after_return {
            return self.read_fresh(chunk, judge);
        }
        let mut out = Vec::with_capacity(chunk.len());
        self.read_into(&chunk, judge, &mut out);
        out.into()
    }

    /// What was held when the stream ended. It is no whole event.
    pub(crate) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.held).into()
    }

    /// The same as [`Self::read_into`] where nothing is held: what needs no change is not copied.
    fn read_fresh(&mut self, chunk: Bytes, judge: &mut impl MessageInspector) -> Bytes {
        let mut out = Vec::new();
        self.read_into(&chunk, judge, &mut out);
        if *out == *chunk {
            return chunk;
        }
        out.into()
    }

    fn read_into(&mut self, chunk: &[u8], judge: &mut impl MessageInspector, out: &mut Vec<u8>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return)
                && let Some(after) = rest.strip_prefix(b"\n")
            {
                self.put(b"\n", out);
                rest = after;
                continue;
            }
            if let Some(long) = &mut self.long {
                let used = long.read(rest);
                let (now, later) = rest.split_at(used);
                out.extend_from_slice(now);
                rest = later;
                if long.is_over {
                    self.after_return = now.last() == Some(&b'\r');
                    if let Some(long) = self.long.take() {
                        judge.long(&long.message);
                    }
                }
                continue;
            }
            rest = self.line(rest, judge, out);
        }
    }

    /// A line feed that belongs to the return before it.
    fn put(&mut self, byte: &[u8], out: &mut Vec<u8>) {
        if self.held.is_empty() {
            out.extend_from_slice(byte);
        } else {
            self.held.extend_from_slice(byte);
            self.line = self.held.len();
        }
    }

    /// Reads to the end of the line, and tells what is left.
    fn line<'c>(
        &mut self,
        bytes: &'c [u8],
        judge: &mut impl MessageInspector,
        out: &mut Vec<u8>,
    ) -> &'c [u8] {
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let Some(end) = end else {
            self.held.extend_from_slice(bytes);
            self.lengthen(out);
            return &[];
        };
        let (now, rest) = bytes.split_at(end + 1);
        self.after_return = now.last() == Some(&b'\r');
        self.held.extend_from_slice(now);
        let whole = self.held.get(self.line..).unwrap_or_default();
        let text = whole.get(..whole.len() - 1).unwrap_or_default();
        if text.is_empty() {
            self.over(judge, out);
        } else if text.starts_with(b":") && !self.has_fields {
            out.append(&mut self.held);
            self.line = 0;
        } else {
            self.has_fields = true;
            self.line = self.held.len();
            self.lengthen(out);
        }
        rest
    }

    /// An event ended.
    fn over(&mut self, judge: &mut impl MessageInspector, out: &mut Vec<u8>) {
        let event = std::mem::take(&mut self.held);
        self.line = 0;
        if !std::mem::take(&mut self.has_fields) {
            out.extend_from_slice(&event);
            return;
        }
        let data: Vec<&[u8]> = lines(&event).filter_map(|(line, _)| data(line)).collect();
        let new = match data.as_slice() {
            [] => None,
            [one] => judge.message(one),
            many => judge.message(&many.join(&b'\n')),
        };
        match new {
            None => out.extend_from_slice(&event),
            Some(new) => rewrite(&event, &new, out),
        }
    }

    /// Lets go of an event that has become too long.
    fn lengthen(&mut self, out: &mut Vec<u8>) {
        if self.held.len() <= HELD_BYTES {
            return;
        }
        let event = std::mem::take(&mut self.held);
        let mut long = LongEvent::default();
        long.read(&event);
        self.long = Some(long);
        self.line = 0;
        self.has_fields = false;
        out.extend_from_slice(&event);
    }
}

/// The lines of an event, each with its end.
fn lines(event: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = event;
    std::iter::from_fn(move || {
        let at = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        let (line, tail) = rest.split_at(at);
        let length = if tail.starts_with(b"\r\n") { 2 } else { 1 };
        let (end, after) = tail.split_at(length.min(tail.len()));
        rest = after;
        Some((line, end))
    })
}

/// What a line adds to the data of its event.
fn data(line: &[u8]) -> Option<&[u8]> {
    // A stream may start with a byte order mark.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line == b"data" {
        return Some(b"");
    }
    let value = line.strip_prefix(b"data:")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// The event with other data; every other line stays.
fn rewrite(event: &[u8], new: &[u8], out: &mut Vec<u8>) {
    let mut is_written = false;
    for (line, end) in lines(event) {
        if data(line).is_none() {
            out.extend_from_slice(line);
            out.extend_from_slice(end);
        } else if !is_written {
            is_written = true;
            for part in new.split(|byte| *byte == b'\n') {
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(part);
                out.extend_from_slice(end);
            }
        }
    }
}

/// An event that is too long to be held.
#[derive(Debug, Default)]
struct LongEvent {
    message: StreamScan,
    /// The beginning of the line that is being read, as far as it tells what the line is.
    start: Vec<u8>,
    /// The line is data.
    in_data: bool,
    /// The line is something else.
    is_other: bool,
    has_data: bool,
    after_return: bool,
    is_over: bool,
}

impl LongEvent {
    /// Looks at the next bytes up to the end of the event, and tells how many those were.
    fn read(&mut self, bytes: &[u8]) -> usize {
        let mut from = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if matches!(byte, b'\n' | b'\r') {
                if *byte == b'\n' && std::mem::take(&mut self.after_return) {
                    continue;
                }
                self.after_return = *byte == b'\r';
                if self.in_data {
                    self.message.read(bytes.get(from..at).unwrap_or_default());
                }
                if self.start.is_empty() && !self.in_data && !self.is_other {
                    self.is_over = true;
                    return at + 1;
                }
                (self.in_data, self.is_other) = (false, false);
                self.start.clear();
                continue;
            }
            self.after_return = false;
            if self.in_data || self.is_other {
                continue;
            }
            self.start.push(*byte);
            if self.start == b"data:" {
                self.in_data = true;
                from = at + 1;
                if std::mem::replace(&mut self.has_data, true) {
                    self.message.read(b"\n");
                }
            } else if !b"data:".starts_with(&self.start) {
                self.is_other = true;
            }
        }
        if self.in_data {
            self.message.read(bytes.get(from..).unwrap_or_default());
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers every message that says `word` with another one.
    #[derive(Default)]
    struct Words(Vec<String>, Vec<Option<String>>);

    impl MessageInspector for Words {
        fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
            let text = String::from_utf8(message.to_vec()).unwrap();
            let new = text.contains("word").then(|| text.replace("word", "WORDS"));
            self.0.push(text);
            new.map(String::into_bytes)
        }
        fn long(&mut self, long: &StreamScan) {
            self.1.push(long.id().map(|id| id.get().to_owned()));
        }
    }

    fn pass(stream: &str, chunk: usize) -> (String, Words) {
        let (mut events, mut words) = (SseSplitter::default(), Words::default());
        let mut out = Vec::new();
        for part in stream.as_bytes().chunks(chunk) {
            out.extend_from_slice(&events.read(Bytes::copy_from_slice(part), &mut words));
        }
        out.extend_from_slice(&events.rest());
        (String::from_utf8(out).unwrap(), words)
    }

    const CHUNKS: [usize; 5] = [1, 2, 3, 7, 1000];

    #[test]
    fn a_stream_passes_byte_for_byte_however_it_is_cut() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = "\u{feff}data: {\"id\":1}||: ping||||id: 7|event: message|data:{\"a\":|data: 1}|retry: 5||data|data||: c|data: x||half".replace('|', end);
            for chunk in CHUNKS {
                let (out, words) = pass(&stream, chunk);
                assert_eq!(out, stream, "{chunk}");
                assert_eq!(words.0, ["{\"id\":1}", "{\"a\":\n1}", "\n", "x"]);
            }
        }
    }

    #[test]
    fn one_event_changes_and_no_other_byte() {
        for end in ["\n", "\r\n", "\r"] {
            let stream =
                "data: a||id: 7|data: one|: c|data: word|event: e||data:b||".replace('|', end);
            let wanted =
                "data: a||id: 7|data: one|data: WORDS|: c|event: e||data:b||".replace('|', end);
            for chunk in CHUNKS {
                assert_eq!(pass(&stream, chunk).0, wanted);
            }
        }
    }

    #[test]
    fn a_comment_goes_on_at_once_and_an_event_when_it_is_whole() {
        let (mut events, mut words) = (SseSplitter::default(), Words::default());
        let mut read = |part: &'static str| {
            let passed = events.read(Bytes::from_static(part.as_bytes()), &mut words);
            String::from_utf8(passed.to_vec()).unwrap()
        };
        assert_eq!(read(": alive\n"), ": alive\n");
        assert_eq!(read("data: 1"), "");
        assert_eq!(read("\n"), "");
        assert_eq!(read("\n:"), "data: 1\n\n");
        assert_eq!(read("\n"), ":\n");
    }

    #[test]
    fn an_event_too_long_to_be_held_passes_and_its_answer_is_known() {
        let text = "x".repeat(HELD_BYTES + 10);
        for end in ["\n", "\r\n", "\r"] {
            let long =
                format!("id: 9|data: {{\"result\":\"{text}\",|data: \"id\":3}}||data: after||");
            let stream = long.replace('|', end);
            for chunk in [1000, 1 << 20, 1 << 23] {
                let (out, words) = pass(&stream, chunk);
                assert!(out == stream);
                assert_eq!(words.1, [Some("3".to_owned())]);
                assert_eq!(words.0, ["after"]);
            }
        }
    }
}
