//! Cells that were written down at a moment: where a pruned log starts, and where other rules began.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};
use sprag_core::{CellKey, CellMap, RULES_VERSION, Timestamp};

use super::cell_rows::{blob, load_all, loaded, stored};
use super::log_rows::{HeadRow, LogRow};
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::note::{Noted, Snapshot, SnapshotReason};
use crate::pack::{CellsDigest, Packed, unpack_cell};
use crate::view::{Base, WrittenCells};

/// Cells on their way to being written down.
#[derive(Debug)]
pub(super) struct SnapshotRows {
    after: ChainHead,
    cells: Vec<(u8, String, Vec<u8>)>,
    digest: Hash,
    reason: SnapshotReason,
}

impl SnapshotRows {
    pub(super) fn of(
        after: ChainHead,
        cells: &CellMap,
        reason: SnapshotReason,
    ) -> Result<Self, StoreError> {
        let mut digest = CellsDigest::default();
        let mut rows = Vec::new();
        for key in cells.keys() {
            if let Some(packed) = Packed::of(cells, &key) {
                let name = key.name();
                digest.add(key.kind(), &name, &packed.bytes);
                rows.push((key.kind(), name, packed.bytes));
            }
        }
        Ok(Self {
            after,
            cells: rows,
            digest: digest.finish(),
            reason,
        })
    }

    /// What the log says of it.
    pub(super) fn noted(&self) -> Noted {
        Noted::Snapshot(Snapshot {
            reason: self.reason,
            after: self.after.seq,
            hash: self.after.hash,
            cells: self.digest,
            count: u64::try_from(self.cells.len()).unwrap_or(u64::MAX),
        })
    }

    pub(super) fn save(&self, conn: &Connection) -> Result<(), StoreError> {
        let after = stored(self.after.seq);
        conn.execute(
            "INSERT OR REPLACE INTO snapshot VALUES (?1, ?2, ?3)",
            (
                after,
                self.after.hash.as_bytes(),
                self.reason == SnapshotReason::Prune,
            ),
        )?;
        conn.execute("DELETE FROM snapshot_cell WHERE after = ?1", [after])?;
        let mut statement =
            conn.prepare_cached("INSERT INTO snapshot_cell VALUES (?1, ?2, ?3, ?4)")?;
        for (kind, name, bytes) in &self.cells {
            statement.execute((after, kind, name, bytes))?;
        }
        Ok(())
    }

    /// Removes every record up to here, and what was written down before.
    pub(super) fn cut_before(&self, conn: &Connection) -> Result<(), StoreError> {
        let after = stored(self.after.seq);
        conn.execute("DELETE FROM log WHERE seq <= ?1", [after])?;
        conn.execute("DELETE FROM log_cell WHERE seq <= ?1", [after])?;
        conn.execute("DELETE FROM snapshot_cell WHERE after < ?1", [after])?;
        conn.execute("DELETE FROM snapshot WHERE after < ?1", [after])?;
        Ok(())
    }
}

/// Where the log starts, without its cells.
pub(super) fn base_head(conn: &Connection) -> Result<ChainHead, StoreError> {
    let sql = "SELECT after, hash FROM snapshot WHERE is_base ORDER BY after DESC LIMIT 1";
    let head = conn
        .query_row(sql, [], |row| {
            Ok(ChainHead {
                seq: loaded(row.get(0)?),
                hash: Hash::from_bytes(row.get(1)?),
            })
        })
        .optional()?;
    Ok(head.unwrap_or_default())
}

/// Where the log starts.
pub(super) fn base(conn: &Connection) -> Result<Base, StoreError> {
    let head = base_head(conn)?;
    let written = match head.seq {
        0 => None,
        after => written_cells(conn, after)?,
    };
    Ok(Base {
        after: head.seq,
        hash: head.hash,
        cells: written.map(|written| written.cells).unwrap_or_default(),
    })
}

/// What was written down after a record.
pub(super) fn written_cells(
    conn: &Connection,
    after: u64,
) -> Result<Option<WrittenCells>, StoreError> {
    let known = "SELECT count(*) FROM snapshot WHERE after = ?1";
    let known: i64 = conn.query_row(known, [stored(after)], |row| row.get(0))?;
    if known == 0 {
        return Ok(None);
    }
    let sql = "SELECT kind, name, cell FROM snapshot_cell WHERE after = ?1 ORDER BY kind, name";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([stored(after)])?;
    let mut cells = CellMap::default();
    let mut digest = CellsDigest::default();
    while let Some(row) = rows.next()? {
        let (kind, name): (u8, String) = (row.get(0)?, row.get(1)?);
        let bytes = blob(row, 2)?;
        digest.add(kind, &name, bytes);
        let key = CellKey::parse(kind, &name).ok_or_else(|| StoreError::Damaged {
            place: format!("a cell written down after record {after}"),
            what: format!("{kind} is no kind of cell"),
        })?;
        unpack_cell(&mut cells, key, bytes)?;
    }
    let count = digest.count;
    Ok(Some(WrittenCells {
        cells,
        digest: digest.finish(),
        count,
    }))
}

/// Where this build's rules are newer than the log's: writes the cells down, so that what follows can
/// be recomputed although what came before can't.
pub(super) fn start_rules(
    conn: &Connection,
    path: &Path,
    at: Timestamp,
) -> Result<HeadRow, StoreError> {
    let mut row = HeadRow::load(conn)?;
    if row.rules_version >= RULES_VERSION {
        row.check_rules(path)?;
        return Ok(row);
    }
    row.rules_version = RULES_VERSION;
    if row.head.seq > 0 {
        let state = load_all(conn)?;
        let snapshot = SnapshotRows::of(row.head, &state.cells, SnapshotReason::RulesVersion)?;
        snapshot.save(conn)?;
        let (note, _) = LogRow::of(row.head.note(at, "", snapshot.noted())?, None);
        note.save(conn)?;
        row.head = note.head();
    }
    row.save(conn)?;
    Ok(row)
}
