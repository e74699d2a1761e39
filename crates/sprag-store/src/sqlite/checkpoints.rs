//! Checkpoints, kept apart from the database: the number and hash of a record that was durable.
//!
//! A hash chain shows a changed record, not a missing end: a log cut after any record is a valid
//! shorter log. So every so often, and with every kill, block and reset, the log's head is written to
//! a small file of its own, after the record itself is safe. A log that doesn't reach its last
//! checkpoint was cut.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};

use super::cell_rows::stored;
use super::lock::{beside, open_private};
use super::log_rows::HeadRow;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::verify::CHECKPOINT_EVERY;
use crate::view::Checkpoint;

/// Past this size only the latest are kept.
const MAX_BYTES: u64 = 1 << 20;

/// No line is longer.
const LINE_BYTES: u64 = 128;

/// The file of one database's checkpoints.
#[derive(Debug)]
pub(super) struct Checkpoints {
    path: PathBuf,
}

impl Checkpoints {
    pub(super) fn of(database: &Path) -> Self {
        Self {
            path: beside(database, ".checkpoints"),
        }
    }

    /// Whether a log that grew from one record to another must be checkpointed for its length.
    pub(super) fn is_due(from: u64, to: u64) -> bool {
        from / CHECKPOINT_EVERY != to / CHECKPOINT_EVERY
    }

    /// Writes the head of a log down, durably.
    pub(super) fn write(&self, head: ChainHead) -> Result<(), StoreError> {
        let failed = |source| StoreError::io(&self.path, "writing a checkpoint", source);
        let mut file = open_private(&self.path)?;
        if file.metadata().map_err(failed)?.len() > MAX_BYTES {
            return self.start_over(head);
        }
        // What a full disk or a crash left half written must not become the beginning of this line.
        cut_half_line(&mut file).map_err(failed)?;
        let line = format!("{} {}\n", head.seq, head.hash);
        file.write_all(line.as_bytes()).map_err(failed)?;
        file.sync_data().map_err(failed)
    }

    /// Only the last one counts for a log that is sound, and the furthest one for a log that was cut; the file
    /// is replaced whole.
    fn start_over(&self, head: ChainHead) -> Result<(), StoreError> {
        let failed = |source| StoreError::io(&self.path, "replacing the checkpoints", source);
        let furthest = self.read()?.into_iter().max_by_key(|one| one.seq);
        let fresh = beside(&self.path, ".new");
        let mut file = open_private(&fresh)?;
        file.set_len(0).map_err(failed)?;
        let mut line = String::new();
        if let Some(furthest) = furthest.filter(|one| one.seq > head.seq) {
            line = format!("{} {}\n", furthest.seq, furthest.hash);
        }
        line += &format!("{} {}\n", head.seq, head.hash);
        file.write_all(line.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        std::fs::rename(&fresh, &self.path).map_err(failed)
    }

    /// The furthest checkpoint, if the log in the database does not hold what it says.
    pub(super) fn lost(&self, conn: &Connection) -> Result<Option<Checkpoint>, StoreError> {
        let Some(furthest) = self.read()?.into_iter().max_by_key(|one| one.seq) else {
            return Ok(None);
        };
        let head = HeadRow::load(conn)?.head;
        if furthest.seq > head.seq {
            return Ok(Some(furthest));
        }
        let sql = "SELECT hash FROM log WHERE seq = ?1";
        let held: Option<[u8; 32]> = conn
            .query_row(sql, [stored(furthest.seq)], |row| row.get(0))
            .optional()?;
        // A record that was pruned says nothing any more.
        let is_other = held.is_some_and(|hash| Hash::from_bytes(hash) != furthest.hash);
        Ok(is_other.then_some(furthest))
    }

    /// Puts the checkpoints of a log that was lost aside, for whoever looks for it, and starts anew.
    pub(super) fn set_aside(&self) -> Result<(), StoreError> {
        let failed = |source| StoreError::io(&self.path, "setting checkpoints aside", source);
        let mut old = open_private(&beside(&self.path, ".lost"))?;
        let lines = std::fs::read(&self.path).map_err(failed)?;
        old.write_all(&lines).map_err(failed)?;
        old.sync_all().map_err(failed)?;
        std::fs::remove_file(&self.path).map_err(failed)
    }

    /// All that can be read, oldest first. A last line without its end was being written when
    /// its process died, and says nothing.
    pub(super) fn read(&self) -> Result<Vec<Checkpoint>, StoreError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreError::io(&self.path, "reading it", source)),
        };
        let whole = text
            .rfind('\n')
            .and_then(|end| text.get(..end))
            .unwrap_or("");
        whole
            .lines()
            .map(|line| {
                parse(line).ok_or_else(|| StoreError::Damaged {
                    place: self.path.display().to_string(),
                    what: format!("`{line}` is no checkpoint"),
                })
            })
            .collect()
    }
}

/// Removes what stands after the last whole line.
fn cut_half_line(file: &mut File) -> std::io::Result<()> {
    let from = file.metadata()?.len().saturating_sub(LINE_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    if tail.last().is_none_or(|byte| *byte == b'\n') {
        return Ok(());
    }
    let whole = tail.iter().rposition(|byte| *byte == b'\n');
    let whole = whole.map_or(0, |end| end.saturating_add(1));
    file.set_len(from.saturating_add(u64::try_from(whole).unwrap_or(0)))
}

fn parse(line: &str) -> Option<Checkpoint> {
    let (seq, hash) = line.split_once(' ')?;
    Some(Checkpoint {
        seq: seq.parse().ok()?,
        hash: Hash::from_hex(hash)?,
    })
}
