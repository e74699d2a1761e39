//! One file: what it is, who wrote it, and everything that its sessions did.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Serialize;
use sprag_core::Policy;
use sprag_hooks::Client;

use crate::elements::Elements;
use crate::file_sessions::FileSessions;
use crate::lines::{LineReader, MAX_LINE_BYTES};
use crate::opencode_store::{read_database, read_folder};
use crate::piece::{Piece, PieceReader};
use crate::reader::{
    TranscriptReader, chat::Chat, claude::Claude, codex::Codex, copilot::Copilot, gemini::Gemini,
    wire::Wire,
};
use crate::session_fold::SessionOutcome;
use crate::sniff::{SNIFFED_BYTES, TranscriptFormat, sniff};
use crate::transcript_source::TranscriptSource;
use crate::transcripts::{Transcript, is_storage};

/// Something that was passed over, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// The line or element, from 1, where it is not the whole file.
    pub line: Option<u64>,
    /// How many lines or elements of this file went the same way.
    pub count: u64,
    /// Why.
    pub why: String,
}

/// What came of a file.
#[derive(Debug, Default)]
pub(crate) struct FileRead {
    pub(crate) source: Option<TranscriptSource>,
    pub(crate) ended: Vec<SessionOutcome>,
    pub(crate) skipped: Option<Skipped>,
    /// It is something else; nobody said that it was a transcript.
    pub(crate) is_foreign: bool,
}

/// A file that counts what is read of it.
struct Counted<'c> {
    file: File,
    count: &'c (dyn Fn(u64) + Sync),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        (self.count)(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(read)
    }
}

/// The start of a file that was looked at, and the rest.
type Whole<'c> = Chain<Cursor<Vec<u8>>, Box<dyn Read + 'c>>;

/// Reads a transcript. `clients` are those that are asked for; none is all. `count` hears of every byte.
pub(crate) fn read_transcript(
    transcript: &Transcript,
    policy: &Policy,
    clients: &[Client],
    count: &(dyn Fn(u64) + Sync),
) -> FileRead {
    let path = &transcript.path;
    let wanted = |source: TranscriptSource| match source {
        TranscriptSource::Client(client) => clients.is_empty() || clients.contains(&client),
        _ => clients.is_empty(),
    };
    let is_folder = is_storage(path);
    let found = if is_folder {
        Ok(Some((
            TranscriptSource::Client(Client::Opencode),
            TranscriptFormat::Database,
            None,
        )))
    } else {
        open(path, count)
    };
    let (source, shape, whole) = match found {
        Err(error) => return whole_file(path, format!("it can't be read: {}", reason(&error))),
        Ok(None) if transcript.is_named => {
            return whole_file(path, "its format is not known".to_owned());
        }
        Ok(None) => {
            return FileRead {
                is_foreign: true,
                ..FileRead::default()
            };
        }
        Ok(Some((source, ..))) if !wanted(source) => return FileRead::default(),
        Ok(Some(found)) => found,
    };
    let place = || {
        FileSessions::new(
            source,
            path.display().to_string(),
            project(source, path),
            policy,
        )
    };
    let (ended, skipped) = match (shape, whole) {
        (TranscriptFormat::Database, _) => {
            count(transcript.bytes);
            stored(path, is_folder, place)
        }
        (TranscriptFormat::Lines, Some(whole)) => lines(path, source, whole, place()),
        (TranscriptFormat::Array, Some(whole)) => array(path, source, whole, place()),
        (_, None) => (Vec::new(), None),
    };
    let is_silent = ended.is_empty() && transcript.bytes > 0 && transcript.is_named;
    FileRead {
        source: Some(source),
        ended,
        skipped: skipped.or_else(|| is_silent.then(|| silent(path, source))),
        is_foreign: false,
    }
}

/// A transcript that tells nothing.
fn silent(path: &Path, source: TranscriptSource) -> Skipped {
    let why = format!(
        "nothing in it is understood; perhaps a newer version of {} wrote it",
        source.title()
    );
    skip(path, None, 1, why)
}

fn whole_file(path: &Path, why: String) -> FileRead {
    FileRead {
        skipped: Some(skip(path, None, 1, why)),
        ..FileRead::default()
    }
}

fn skip(path: &Path, line: Option<u64>, count: u64, why: String) -> Skipped {
    Skipped {
        file: path.display().to_string(),
        line,
        count,
        why,
    }
}

fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_lowercase()
}

/// What a file is, and the whole of it from its beginning.
fn open<'c>(
    path: &Path,
    count: &'c (dyn Fn(u64) + Sync),
) -> io::Result<Option<(TranscriptSource, TranscriptFormat, Option<Whole<'c>>)>> {
    let mut file = Counted {
        file: File::open(path)?,
        count,
    };
    let mut magic = Vec::new();
    (&mut file).take(2).read_to_end(&mut magic)?;
    let is_packed = magic == [0x1f, 0x8b];
    let joined = Cursor::new(magic).chain(file);
    let mut rest: Box<dyn Read + 'c> = if is_packed {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(
            128 * 1024,
            joined,
        )))
    } else {
        Box::new(joined)
    };
    let mut start = Vec::new();
    let most = u64::try_from(SNIFFED_BYTES).unwrap_or(u64::MAX);
    (&mut rest).take(most).read_to_end(&mut start)?;
    Ok(sniff(&start).map(|(source, shape)| {
        let whole = (shape != TranscriptFormat::Database).then(|| Cursor::new(start).chain(rest));
        (source, shape, whole)
    }))
}

/// The folder of Gemini's project stands in a file of its own, two or three levels up.
fn project(source: TranscriptSource, path: &Path) -> Option<String> {
    if source != TranscriptSource::Client(Client::Gemini) {
        return None;
    }
    let marks = path
        .ancestors()
        .skip(1)
        .take(4)
        .map(|folder| folder.join(".project_root"));
    let text = marks
        .into_iter()
        .find_map(|mark| fs::read_to_string(mark).ok())?;
    Some(text.trim().to_owned())
}

fn reader(source: TranscriptSource, path: &Path) -> Box<dyn TranscriptReader> {
    let name = |path: Option<&Path>| {
        let name = path
            .and_then(Path::file_name)
            .unwrap_or_default()
            .to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    };
    match source {
        TranscriptSource::Client(Client::Claude) => Box::new(Claude::default()),
        TranscriptSource::Client(Client::Codex) => Box::new(Codex::default()),
        TranscriptSource::Client(Client::Gemini) => Box::new(Gemini::default()),
        TranscriptSource::Client(Client::Copilot) => Box::new(Copilot::new(&name(path.parent()))),
        TranscriptSource::Sprag => Box::new(Wire::default()),
        TranscriptSource::Client(Client::Opencode | Client::Cursor) | TranscriptSource::Chat => {
            Box::new(Chat::new(&name(Some(path))))
        }
    }
}

/// The first of several things that went wrong, and how many there were.
#[derive(Default)]
struct Flaws(Option<Skipped>);

impl Flaws {
    fn add(&mut self, path: &Path, line: u64, why: impl FnOnce() -> String) {
        match &mut self.0 {
            Some(first) => first.count += 1,
            None => self.0 = Some(skip(path, Some(line), 1, why())),
        }
    }
}

fn too_long() -> String {
    format!("it has more than {} MiB", MAX_LINE_BYTES / 1024 / 1024)
}

fn lines(
    path: &Path,
    source: TranscriptSource,
    whole: Whole<'_>,
    sessions: FileSessions,
) -> (Vec<SessionOutcome>, Option<Skipped>) {
    let reader = reader(source, path);
    pieces(
        path,
        LineReader::new(whole),
        reader,
        sessions,
        Flaws::default(),
    )
}

fn array(
    path: &Path,
    source: TranscriptSource,
    whole: Whole<'_>,
    sessions: FileSessions,
) -> (Vec<SessionOutcome>, Option<Skipped>) {
    let mut elements = Elements::new(whole);
    let mut reader = reader(source, path);
    let mut flaws = Flaws::default();
    if let Err(error) = elements.find() {
        flaws.add(path, 1, || format!("it can't be read: {}", reason(&error)));
    }
    reader.header(&elements.header());
    pieces(path, elements, reader, sessions, flaws)
}

fn pieces<P: PieceReader>(
    path: &Path,
    mut pieces: P,
    mut reader: Box<dyn TranscriptReader>,
    mut sessions: FileSessions,
    mut flaws: Flaws,
) -> (Vec<SessionOutcome>, Option<Skipped>) {
    loop {
        let number = pieces.number() + 1;
        match pieces.next() {
            Ok(None) => break,
            Ok(Some(Piece::TooLong)) => flaws.add(path, number, too_long),
            Ok(Some(Piece::Text(piece))) if P::SKIPS_BLANKS && piece.trim_ascii().is_empty() => {}
            Ok(Some(Piece::Text(piece))) => {
                if let Err(error) = reader.read(piece, &mut |item| sessions.take(item)) {
                    flaws.add(path, number, || {
                        format!("it can't be read: {}", without_line(&error))
                    });
                }
            }
            Err(error) => {
                flaws.add(path, number, || {
                    format!("it can't be read: {}", reason(&error))
                });
                break;
            }
        }
    }
    (sessions.end(), flaws.0)
}

/// A piece is one line, and its number is told already.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.replace(" at line 1 column ", " at column ")
}

/// Why a database could not be read.
fn unread(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen) => {
            "it is in use, and can't be read without a trace just now; close opencode and try again"
                .to_owned()
        }
        _ => format!("it is not a database of a known version of opencode: {error}"),
    }
}

/// A store of opencode. Each session has a sessions of its own, so that a long history needs no more memory than a
/// short one.
fn stored(
    path: &Path,
    is_folder: bool,
    place: impl Fn() -> FileSessions,
) -> (Vec<SessionOutcome>, Option<Skipped>) {
    let sessions = RefCell::new(place());
    let ended = RefCell::new(Vec::new());
    let turn_over = || ended.borrow_mut().extend(sessions.replace(place()).end());
    let mut sink =
        |item: crate::transcript_item::TranscriptItem<'_>| sessions.borrow_mut().take(item);
    let read = if is_folder {
        read_folder(path, turn_over, &mut sink).map_err(|error| reason(&error))
    } else {
        let begin = || {
            turn_over();
            Ok(())
        };
        read_database(path, begin, &mut sink).map_err(|error| unread(&error))
    };
    turn_over();
    let skipped = match read {
        Ok(0) => None,
        Ok(bad) => Some(skip(
            path,
            None,
            bad,
            "parts of messages can't be read".to_owned(),
        )),
        Err(why) => Some(skip(path, None, 1, why)),
    };
    (ended.into_inner(), skipped)
}
