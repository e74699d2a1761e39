//! What the fuzz targets run of what this crate keeps to itself: how streams are cut into messages.

use std::io::Read;

use hyper::body::Bytes;

use crate::http::sse::{MessageInspector, SseSplitter};
use crate::stdio::frames::{Frame, Frames};
use crate::stream_scan::StreamScan;

/// Writes each message that holds an `x` with a `y` instead, and keeps what it saw.
#[derive(Default)]
struct Letters {
    is_strict: bool,
    seen: Vec<Vec<u8>>,
}

impl MessageInspector for Letters {
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        self.seen.push(message.to_vec());
        let other = |byte: &u8| if *byte == b'x' { b'y' } else { *byte };
        let changes = self.is_strict && message.contains(&b'x');
        changes.then(|| message.iter().map(other).collect())
    }

    fn long(&mut self, long: &StreamScan) {
        let id = long.id().map(|id| id.get().as_bytes().to_vec());
        self.seen.push(id.unwrap_or_default());
    }
}

fn passed(stream: &[u8], length: usize, is_strict: bool) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut splitter = SseSplitter::default();
    let mut letters = Letters {
        is_strict,
        ..Letters::default()
    };
    let mut out = Vec::new();
    for piece in stream.chunks(length.max(1)) {
        out.extend_from_slice(&splitter.read(Bytes::copy_from_slice(piece), &mut letters));
    }
    out.extend_from_slice(&splitter.rest());
    (out, letters.seen)
}

/// A stream of events passes byte for byte if nothing is changed, and its messages are the same however it is cut.
pub fn stream(data: &[u8]) {
    let (out, seen) = passed(data, data.len(), false);
    assert!(out == data);
    let changed = passed(data, data.len(), true);
    assert!(changed.1 == seen);
    for length in [1, 2, 7] {
        assert!(passed(data, length, false) == (out.clone(), seen.clone()));
        assert!(passed(data, length, true) == changed);
    }
}

/// A reader that gives a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(room.len()).min(self.0.len());
        let (now, later) = self.0.split_at(length);
        for (to, from) in room.iter_mut().zip(now) {
            *to = *from;
        }
        self.0 = later;
        Ok(length)
    }
}

/// No byte of a stream of lines is lost or added, and only the last byte of a line ends it.
pub fn frames(data: &[u8]) {
    for (most, length) in [(1, 1), (16, 3), (1 << 20, 1 << 16)] {
        let mut frames = Frames::new(Slow(data, length), most);
        let mut out = Vec::new();
        let mut in_long = false;
        while let Ok(Some(frame)) = frames.next() {
            let (bytes, may_end, was_long) = match frame {
                Frame::Line(bytes) => (bytes, true, false),
                Frame::Start(bytes) => (bytes, false, false),
                Frame::More(bytes) => (bytes, false, true),
                Frame::Last(bytes) => (bytes, true, true),
            };
            assert!(was_long == in_long);
            let end = bytes.iter().position(|byte| *byte == b'\n');
            assert!(end.is_none_or(|end| may_end && end + 1 == bytes.len()));
            in_long = !may_end;
            out.extend_from_slice(bytes);
        }
        assert!(out == data && !in_long);
    }
}
