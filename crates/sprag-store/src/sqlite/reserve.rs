//! Kills and blocks on a disk that is full: a file of its own whose room was taken in advance.
//!
//! A runaway agent is what fills disks, so just then its kill must hold. While the database can't be written, the
//! marks of the sessions that were stopped are written over this file, which needs no more room. Whoever opens
//! the database next puts them into it, with a note in the log, and empties the file.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sprag_core::encoding::{decode, encode};
use sprag_core::{CellKey, Id, Mark, SessionCell, Timestamp, numbered_fields};

use super::cell_rows::{CellRow, CellRows};
use super::lock::beside;
use super::log_rows::{HeadRow, LogRow};
use crate::cell_source::CellSource;
use crate::error::StoreError;
use crate::eviction::is_marked;
use crate::hash::Hash;
use crate::note::{Noted, RestoredMark};
use crate::store_state::StoreState;

/// How much room is taken in advance.
const SIZE: u64 = 1 << 20;
/// Before each entry: its length, and the first bytes of its hash.
const HEAD: usize = 8;

/// What stops a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReservedMark {
    pub(super) session: Id,
    pub(super) generation: u32,
    pub(super) killed: Option<Box<Mark>>,
    pub(super) blocked: Option<Box<Mark>>,
}

numbered_fields!(ReservedMark {
    1 session: Id,
    2 generation: u32,
    3 killed: Option<Box<Mark>>,
    4 blocked: Option<Box<Mark>>,
});

impl ReservedMark {
    /// The marks of a session; none if it has none.
    pub(super) fn of(session: &Id, cell: &SessionCell) -> Option<Self> {
        is_marked(cell).then(|| Self {
            session: session.clone(),
            generation: cell.generation(),
            killed: cell.killed().cloned().map(Box::new),
            blocked: cell.blocked().cloned().map(Box::new),
        })
    }

    /// What is missing in `cell` of these marks. A session that was reset since needs none.
    fn missing(&self, cell: Option<&SessionCell>) -> Vec<RestoredMark> {
        let generation = cell.map_or(1, SessionCell::generation);
        if generation > self.generation {
            return Vec::new();
        }
        let restored = |is_kill: bool, mark: &Mark| RestoredMark {
            session: self.session.clone(),
            generation: self.generation,
            is_kill,
            at: mark.at,
            rule: mark.rule,
            why: mark.why.clone(),
            by: mark.by.as_deref().map(str::to_owned),
        };
        let killed = self.killed.as_deref();
        let killed = killed.filter(|_| cell.is_none_or(|cell| cell.killed().is_none()));
        let blocked = self.blocked.as_deref();
        let blocked = blocked.filter(|_| cell.is_none_or(|cell| cell.blocked().is_none()));
        let killed = killed.map(|mark| restored(true, mark));
        killed
            .into_iter()
            .chain(blocked.map(|mark| restored(false, mark)))
            .collect()
    }
}

/// The file.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    file: File,
    used: u64,
}

impl Reserve {
    /// Opens the file beside `database`, and takes its room where it has none yet.
    pub(super) fn open(database: &Path) -> Result<Self, StoreError> {
        let path = beside(database, ".reserve");
        let failed = |source| StoreError::io(&path, "reserving room", source);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length < SIZE {
            let zeros = vec![0; usize::try_from(SIZE - length).unwrap_or(0)];
            let mut end = &file;
            let taken = end
                .seek(SeekFrom::Start(length))
                .and_then(|_| end.write_all(&zeros))
                .and_then(|()| end.sync_all());
            if let Err(source) = taken {
                // Half a reserve would only take what little room is left.
                let _ = file.set_len(0);
                return Err(failed(source));
            }
        }
        let mut reserve = Self {
            path,
            file,
            used: 0,
        };
        // Nearly always it is empty, which its first bytes say.
        reserve.look_again()?;
        Ok(reserve)
    }

    fn io(&self, doing: &'static str, source: std::io::Error) -> StoreError {
        StoreError::io(&self.path, doing, source)
    }

    /// Reads again how much there is in it.
    pub(super) fn look_again(&mut self) -> Result<(), StoreError> {
        let mut head = [0; 4];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.read_exact(&mut head))
            .map_err(|source| self.io("reading it", source))?;
        self.used = match head {
            [0, 0, 0, 0] => 0,
            _ => self.parse()?.1,
        };
        Ok(())
    }

    /// Whether there is anything in it.
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Every mark in it, in the order in which they were set.
    pub(super) fn marks(&self) -> Result<Vec<ReservedMark>, StoreError> {
        Ok(self.parse()?.0)
    }

    /// The entries up to the first that is not whole, and where they end.
    fn parse(&self) -> Result<(Vec<ReservedMark>, u64), StoreError> {
        let mut bytes = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(|source| self.io("reading it", source))?;
        let mut marks = Vec::new();
        let mut used = 0;
        while let Some((mark, length)) = bytes.get(used..).and_then(entry) {
            marks.push(mark);
            used += length;
        }
        Ok((marks, u64::try_from(used).unwrap_or(u64::MAX)))
    }

    /// Appends marks, durably. Returns false if there is no room left.
    pub(super) fn append(&mut self, marks: &[ReservedMark]) -> Result<bool, StoreError> {
        let mut bytes = Vec::new();
        for mark in marks {
            let body = encode(mark);
            let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(&checksum(&body));
            bytes.extend_from_slice(&body);
        }
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.used.saturating_add(length) > SIZE {
            return Ok(false);
        }
        self.write(self.used, &bytes)?;
        self.used += length;
        Ok(true)
    }

    /// Empties it: everything is in the database.
    pub(super) fn clear(&mut self) -> Result<(), StoreError> {
        if self.used > 0 {
            // All of it, or an older entry would look like the next one.
            let zeros = vec![0; usize::try_from(self.used).unwrap_or(0)];
            self.write(0, &zeros)?;
            self.used = 0;
        }
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.write_all(bytes))
            .and_then(|()| file.sync_data())
            .map_err(|source| self.io("writing a mark", source))
    }

    /// Puts every mark that the database lacks into it, and notes it.
    pub(super) fn restore(
        &self,
        conn: &Connection,
        row: &mut HeadRow,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        for mark in self.marks()? {
            let key = CellKey::Session(mark.session.clone());
            let mut state = StoreState::default();
            let is_known = CellRows(conn).fetch(&key, &mut state)?;
            let cell = state.cells.session(mark.session.as_str());
            let was_marked = cell.is_some_and(is_marked);
            let missing = mark.missing(cell);
            if missing.is_empty() {
                continue;
            }
            row.sessions += u64::from(!is_known);
            row.marked += u64::from(!was_marked);
            for restored in missing {
                let what = Noted::MarkRestored(restored);
                what.apply(&mut state.cells);
                let (note, _) = LogRow::of(row.head.note(at, "", what)?, None);
                note.save(conn)?;
                row.head = note.head();
            }
            CellRow::of(key, &state)?.save(conn)?;
        }
        Ok(())
    }
}

/// Cells of a database with the marks that are only in the reserve.
#[derive(Debug)]
pub(super) struct ReservedCells<'a> {
    pub(super) rows: CellRows<'a>,
    pub(super) marks: Vec<ReservedMark>,
}

impl CellSource for ReservedCells<'_> {
    fn fetch(&self, key: &CellKey, state: &mut StoreState) -> Result<bool, StoreError> {
        let mut is_there = self.rows.fetch(key, state)?;
        if let CellKey::Session(id) = key {
            for mark in self.marks.iter().filter(|mark| mark.session == *id) {
                for missing in mark.missing(state.cells.session(id.as_str())) {
                    Noted::MarkRestored(missing).apply(&mut state.cells);
                    is_there = true;
                }
            }
        }
        Ok(is_there)
    }
}

/// The marks in the reserve of the database at `path`, for who only reads.
pub(super) fn reserved_marks(path: &Path) -> Vec<ReservedMark> {
    let Ok(file) = File::open(beside(path, ".reserve")) else {
        return Vec::new();
    };
    let reserve = Reserve {
        path: path.to_path_buf(),
        file,
        used: 0,
    };
    reserve.marks().unwrap_or_default()
}

/// The first entry of `bytes` and its length; none if there is none that is whole.
fn entry(bytes: &[u8]) -> Option<(ReservedMark, usize)> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
    let body = bytes.get(HEAD..HEAD.checked_add(length)?)?;
    if bytes.get(4..HEAD)? != checksum(body) {
        return None;
    }
    Some((decode(body).ok()?, HEAD + length))
}

fn checksum(body: &[u8]) -> [u8; 4] {
    let hash = Hash::over(&[body]);
    let [a, b, c, d, ..] = *hash.as_bytes();
    [a, b, c, d]
}
