//! The two ways through the gate, each a thread that reads, asks and writes.
//!
//! Blocking reads and writes on the pipes themselves: a message that arrives wakes exactly one thread,
//! and a peer that reads slowly holds up its own direction only.

use std::io::{Read, Result, Write};
use std::sync::{Mutex, PoisonError};

use super::frames::{Frame, Frames};
use crate::gate::{ClientAction, Gate, RequestScope, ServerAction};
use crate::stream_scan::StreamScan;

/// The longest message of a client that is held whole: calls are judged by all of what they say.
const MAX_FROM_CLIENT: usize = sprag_core::MAX_EVENT_BYTES;
/// The longest message of a server that is held whole; results beyond it stream through.
const MAX_FROM_SERVER: usize = 4 * 1024 * 1024;

/// The way back to the client, which both directions write to: whole messages only.
pub(super) struct ClientWriter<W>(Mutex<W>);

impl<W: Write> ClientWriter<W> {
    pub(super) fn new(writer: W) -> Self {
        Self(Mutex::new(writer))
    }

    fn with<T>(&self, write: impl FnOnce(&mut W) -> T) -> T {
        write(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        self.with(|writer| writer.write_all(bytes))
    }
}

/// Why a direction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PumpEnd {
    /// The one who writes closed or broke.
    SourceClosed,
    /// The client takes nothing any more.
    ClientDeaf,
    /// The server is to be ended because a session was killed.
    Killed,
}

/// From client to server, until the client closes.
pub(super) fn client_to_server(
    gate: &Gate,
    scope: &RequestScope,
    from: impl Read,
    mut to: impl Write,
    client: &ClientWriter<impl Write>,
) -> PumpEnd {
    let mut frames = Frames::new(from, MAX_FROM_CLIENT);
    let mut is_deaf = false;
    let mut is_dropping = false;
    // A server that takes nothing any more is not yet gone, and whether the client goes is seen only
    // by reading on.
    let mut send = |bytes: &[u8]| is_deaf = is_deaf || to.write_all(bytes).is_err();
    while let Ok(Some(frame)) = frames.next() {
        let (bytes, verdict) = match frame {
            Frame::Line(line) => (line, gate.from_client(scope, split(line).0)),
            Frame::Start(start) => {
                let verdict = gate.long_from_client(start);
                is_dropping = verdict != ClientAction::Pass;
                (start, verdict)
            }
            Frame::More(_) | Frame::Last(_) if is_dropping => continue,
            Frame::More(more) | Frame::Last(more) => (more, ClientAction::Pass),
        };
        match verdict {
            ClientAction::Pass => send(bytes),
            ClientAction::Stop { onward, answer } => {
                if let Some(onward) = onward {
                    send(&with_end(onward, b"\n"));
                }
                if answer.is_some_and(|answer| client.write(&with_end(answer, b"\n")).is_err()) {
                    return PumpEnd::ClientDeaf;
                }
            }
        }
        if gate.must_end() {
            return PumpEnd::Killed;
        }
    }
    PumpEnd::SourceClosed
}

/// From server to client, until the server closes. `count_message` is told of each message.
pub(super) fn server_to_client(
    gate: &Gate,
    scope: &RequestScope,
    from: impl Read,
    client: &ClientWriter<impl Write>,
    count_message: impl Fn(),
) -> PumpEnd {
    let mut frames = Frames::new(from, MAX_FROM_SERVER);
    loop {
        let Ok(Some(frame)) = frames.next() else {
            return PumpEnd::SourceClosed;
        };
        count_message();
        let written = match frame {
            Frame::Line(bytes) => {
                let (message, end) = split(bytes);
                match gate.from_server(scope, message) {
                    ServerAction::Pass => client.write(bytes),
                    ServerAction::Replace(message) => client.write(&with_end(message, end)),
                }
            }
            Frame::Start(start) | Frame::More(start) | Frame::Last(start) => {
                // Nobody else may write into the middle of it.
                let start = start.to_vec();
                client.with(|writer| long((gate, scope), &start, &mut frames, writer))
            }
        };
        if written.is_err() {
            return PumpEnd::ClientDeaf;
        }
        if gate.must_end() {
            return PumpEnd::Killed;
        }
    }
}

fn long(
    (gate, scope): (&Gate, &RequestScope),
    start: &[u8],
    frames: &mut Frames<impl Read>,
    to: &mut impl Write,
) -> Result<()> {
    let mut long = StreamScan::default();
    long.read(start);
    to.write_all(start)?;
    while let Some(frame) = frames.next()? {
        let (Frame::Line(bytes) | Frame::Start(bytes) | Frame::More(bytes) | Frame::Last(bytes)) =
            frame;
        long.read(bytes);
        to.write_all(bytes)?;
        if matches!(frame, Frame::Last(_) | Frame::Line(_)) {
            break;
        }
    }
    gate.long_from_server(scope, &long);
    Ok(())
}

/// A line without its end, and its end.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    match line.strip_suffix(b"\n") {
        Some(message) => (message, b"\n"),
        None => (line, b""),
    }
}

fn with_end(mut message: Vec<u8>, end: &[u8]) -> Vec<u8> {
    message.extend_from_slice(end);
    message
}
