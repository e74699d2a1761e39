//! What opencode keeps: a database in use, read without a trace, or a folder of small files.
//!
//! SQLite writes beside a database even for those who only read it, unless it is told how not to. A database with a
//! write-ahead log that somebody has open is read through the index that is there (`readonly_shm`); one that was closed
//! properly has no log, and nobody else to heed (`immutable`).

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use sprag_core::Timestamp;

use crate::lines::MAX_LINE_BYTES;
use crate::reader::opencode::{OpencodeMessage, PartContext, part};
use crate::transcript_item::{ItemKind, Sink, TranscriptItem};

/// A session of opencode.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StoredSession {
    id: String,
    #[serde(rename = "parentID")]
    parent: Option<String>,
    directory: Option<String>,
}

impl StoredSession {
    /// The session as others name it: below its parent.
    fn name(&self) -> String {
        match &self.parent {
            Some(parent) => format!("{parent}/{}", self.id),
            None => self.id.clone(),
        }
    }
}

/// Reads every session of the database at `path`; `begin` is called before each.
///
/// # Errors
/// Returns an error if it is not a database of opencode.
pub(crate) fn read_database(
    path: &Path,
    mut begin: impl FnMut() -> Result<(), rusqlite::Error>,
    sink: Sink<'_>,
) -> Result<u64, rusqlite::Error> {
    let database = open(path)?;
    let mut sessions =
        database.prepare("SELECT id, parent_id, directory FROM session ORDER BY time_created")?;
    let rows = sessions.query_map([], |row| {
        Ok(StoredSession {
            id: row.get(0)?,
            parent: row.get(1)?,
            directory: row.get(2)?,
        })
    })?;
    let stored: Vec<StoredSession> = rows.collect::<Result<_, _>>()?;
    let mut parts = database.prepare(
        "SELECT m.id, m.data, p.data, p.time_created FROM part p JOIN message m ON m.id = p.message_id \
         WHERE p.session_id = ?1 AND length(p.data) <= ?2 ORDER BY m.time_created, m.id, p.id",
    )?;
    let most = i64::try_from(MAX_LINE_BYTES).unwrap_or(i64::MAX);
    let mut bad = 0;
    for session in &stored {
        begin()?;
        let mut replay = SessionReplay::new(session, sink);
        let mut rows = parts.query((&session.id, most))?;
        while let Some(row) = rows.next()? {
            let (id, message) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_bytes()?);
            let at = row
                .get::<_, Option<i64>>(3)?
                .and_then(|at| u64::try_from(at).ok());
            replay.message(id, message);
            bad += replay.part(row.get_ref(2)?.as_bytes()?, at.map(Timestamp));
        }
        replay.end();
    }
    Ok(bad)
}

fn open(path: &Path) -> Result<Connection, rusqlite::Error> {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let has_log = fs::metadata(beside("-wal")).is_ok_and(|wal| wal.len() > 0);
    let how = if has_log && beside("-shm").exists() {
        "mode=ro&readonly_shm=1"
    } else {
        "mode=ro&immutable=1"
    };
    let address = format!("file:{}?{how}", escaped(path));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(address, flags)
}

/// A path in an address.
fn escaped(path: &Path) -> String {
    path.to_string_lossy()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23")
}

/// Reads every session of the folder at `path`; `begin` is called before each.
///
/// # Errors
/// Returns an error if the folder can't be read.
pub(crate) fn read_folder(
    path: &Path,
    mut begin: impl FnMut(),
    sink: Sink<'_>,
) -> std::io::Result<u64> {
    let mut bad = 0;
    for session in sessions(path)? {
        begin();
        let mut replay = SessionReplay::new(&session, sink);
        for message in inside(&path.join("message").join(&session.id)) {
            let id = message
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let Some(data) = read(&message) else {
                bad += 1;
                continue;
            };
            replay.message(&id, &data);
            for part in inside(&path.join("part").join(&id)) {
                bad +=
                    read(&part).map_or(1, |data| replay.part(&data, created(&replay.message_data)));
            }
        }
        replay.end();
    }
    Ok(bad)
}

/// The sessions of a folder, as their files tell them, else as their messages do.
fn sessions(path: &Path) -> std::io::Result<Vec<StoredSession>> {
    let mut found: Vec<StoredSession> = inside(&path.join("session"))
        .iter()
        .flat_map(|project| inside(project))
        .filter_map(|file| serde_json::from_slice(&read(&file)?).ok())
        .collect();
    for entry in fs::read_dir(path.join("message"))?.flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        if !found.iter().any(|known| known.id == id) {
            found.push(StoredSession {
                id,
                parent: None,
                directory: None,
            });
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// What is in a folder, by name: the names grow with time.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let most = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
    fs::metadata(path)
        .ok()
        .filter(|file| file.is_file() && file.len() <= most)?;
    fs::read(path).ok()
}

fn created(message: &[u8]) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Dated {
        time: Time,
    }
    #[derive(Deserialize)]
    struct Time {
        created: u64,
    }
    let dated: Dated = serde_json::from_slice(message).ok()?;
    Some(Timestamp(dated.time.created))
}

/// A session while its messages come.
struct SessionReplay<'t, 'h> {
    name: String,
    is_child: bool,
    message_id: String,
    message_data: Vec<u8>,
    is_user: bool,
    sink: &'t mut (dyn FnMut(TranscriptItem<'_>) + 'h),
}

impl<'t, 'h> SessionReplay<'t, 'h> {
    fn new(session: &StoredSession, sink: &'t mut (dyn FnMut(TranscriptItem<'_>) + 'h)) -> Self {
        let name = session.name();
        if let Some(project) = &session.directory {
            sink(TranscriptItem {
                session: &name,
                at: None,
                what: ItemKind::Project(project),
            });
        }
        Self {
            name,
            is_child: session.parent.is_some(),
            message_id: String::new(),
            message_data: Vec::new(),
            is_user: false,
            sink,
        }
    }

    fn message(&mut self, id: &str, data: &[u8]) {
        if id == self.message_id {
            return;
        }
        self.end();
        id.clone_into(&mut self.message_id);
        data.clone_into(&mut self.message_data);
        let Ok(message) = serde_json::from_slice::<OpencodeMessage<'_>>(data) else {
            return;
        };
        self.is_user = message.is_user();
        if let Some(tokens) = message.tokens() {
            (self.sink)(TranscriptItem {
                session: &self.name,
                at: created(data),
                what: ItemKind::Tokens(tokens),
            });
        }
    }

    /// How many parts could not be read: one or none.
    fn part(&mut self, data: &[u8], at: Option<Timestamp>) -> u64 {
        let of = PartContext {
            session: &self.name,
            is_child: self.is_child,
            is_user: self.is_user,
            at,
        };
        u64::from(part(data, &of, self.sink).is_err())
    }

    /// A message is over: perhaps because a person stopped it.
    fn end(&mut self) {
        let message = serde_json::from_slice::<OpencodeMessage<'_>>(&self.message_data);
        if message.is_ok_and(|message| message.is_interrupted()) {
            (self.sink)(TranscriptItem {
                session: &self.name,
                at: None,
                what: ItemKind::Interrupted,
            });
        }
    }
}
