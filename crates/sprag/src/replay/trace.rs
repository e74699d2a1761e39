//! A trace file as a recording: one event a line in the wire format, plain or gzipped.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use sprag_core::{Event, Id, MAX_EVENT_BYTES, Timestamp};

use super::assumed_time::assumed_time;

use super::error::ReplayError;
use super::recorded::{RecordedEvent, RecordedForm, RecordedItem};

/// How a gzipped file starts.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The events of a file, line by line. Empty lines are skipped; fields that no event has (`trace`,
/// `seq`) are ignored. A line that is not an event does not end the recording. An event without a time
/// happened a second after the one before it in its session, as for `sprag eval`.
pub struct TraceRecording {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    line: u64,
    buffer: Vec<u8>,
    /// When each session was last seen, for events that have no time.
    last: HashMap<Id, Timestamp>,
    failed: bool,
}

impl std::fmt::Debug for TraceRecording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceRecording")
            .field("path", &self.path)
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

impl TraceRecording {
    /// Opens a file; its first bytes show whether it is gzipped.
    ///
    /// # Errors
    /// Returns an error if it can't be read.
    pub fn open(path: &Path) -> Result<Self, ReplayError> {
        let reader = open(path).map_err(|source| unreadable(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            reader,
            line: 0,
            buffer: Vec::new(),
            last: HashMap::new(),
            failed: false,
        })
    }

    /// The next line that is not empty; false at the end. One byte too many is enough to refuse it.
    fn next_line(&mut self) -> std::io::Result<bool> {
        let most = u64::try_from(MAX_EVENT_BYTES).unwrap_or(u64::MAX);
        loop {
            self.buffer.clear();
            let mut line = (&mut self.reader).take(most.saturating_add(2));
            if line.read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(false);
            }
            self.line += 1;
            if !self.buffer.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    fn event(&mut self) -> RecordedItem {
        let number = self.line;
        let event = match Event::parse(self.buffer.trim_ascii()) {
            Ok(event) => event,
            Err(error) => {
                // An event is one line here, and the error names that line already.
                let why = error
                    .to_string()
                    .replace(" at line 1 column ", " at column ");
                return RecordedItem::Bad { number, why };
            }
        };
        let session = event.session();
        let last = self.last.get(session).copied();
        let at = event.at().unwrap_or_else(|| assumed_time(last));
        self.last.insert(session.clone(), at);
        RecordedItem::Event(Box::new(RecordedEvent {
            number,
            at,
            what: RecordedForm::Raw(event),
            recorded: None,
            policy: None,
        }))
    }
}

fn open(path: &Path) -> std::io::Result<Box<dyn BufRead>> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    (&mut file).take(2).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(if start == GZIP {
        Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file))))
    } else {
        Box::new(BufReader::new(file))
    })
}

fn unreadable(path: &Path, source: std::io::Error) -> ReplayError {
    ReplayError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

impl Iterator for TraceRecording {
    type Item = Result<RecordedItem, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = match self.next_line() {
            Ok(true) => Some(Ok(self.event())),
            Ok(false) => None,
            Err(source) => Some(Err(unreadable(&self.path, source))),
        };
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}
