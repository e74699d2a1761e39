//! A database as it stands at one moment.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use sprag_core::CellMap;

use super::cell_rows::{load_all, loaded};
use super::checkpoints::Checkpoints;
use super::connection::open_for_reading;
use super::lock::beside;
use super::log_rows::{policy_text, scan};
use super::snapshot_rows::{base, written_cells};
use crate::error::StoreError;
use crate::view::{Base, Checkpoint, LogView, RawRecord, WrittenCells};

/// One reading transaction over a whole verify or export.
#[derive(Debug)]
pub(super) struct SqliteView {
    conn: Connection,
    path: PathBuf,
    checkpoints: Vec<Checkpoint>,
}

impl SqliteView {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let open = || {
            // Checkpoints first: the log may only be ahead of them, never behind.
            let checkpoints = Checkpoints::of(path).read()?;
            let conn = open_for_reading(path)?;
            conn.execute_batch("BEGIN; SELECT 1 FROM head;")?;
            Ok(Self {
                conn,
                path: path.to_path_buf(),
                checkpoints,
            })
        };
        open().map_err(|error: StoreError| error.at(path))
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        read(&self.conn).map_err(|error| error.at(&self.path))
    }
}

impl LogView for SqliteView {
    fn base(&self) -> Result<Base, StoreError> {
        self.read(base)
    }

    fn scan(
        &self,
        after: u64,
        visit: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.read(|conn| scan(conn, after, visit))
    }

    /// The pages in use of the file, and its write-ahead log.
    fn size_bound(&self) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT (page_count - freelist_count) * page_size \
                   FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        let bytes: i64 = self.read(|conn| Ok(conn.query_row(sql, [], |row| row.get(0))?))?;
        let ahead = std::fs::metadata(beside(&self.path, "-wal")).map_or(0, |file| file.len());
        Ok(Some(loaded(bytes).saturating_add(ahead)))
    }

    fn policy_text(&self, digest: &str) -> Result<Option<String>, StoreError> {
        self.read(|conn| policy_text(conn, digest))
    }

    fn written_cells(&self, after: u64) -> Result<Option<WrittenCells>, StoreError> {
        self.read(|conn| written_cells(conn, after))
    }

    fn cells(&self) -> Result<CellMap, StoreError> {
        self.read(|conn| Ok(load_all(conn)?.cells))
    }

    fn checkpoints(&self) -> Result<Option<Vec<Checkpoint>>, StoreError> {
        Ok(Some(self.checkpoints.clone()))
    }
}
