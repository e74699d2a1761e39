//! A file that many processes share: one transaction an event, in turn.
//!
//! Agent CLIs start a process for every hook. Each opens the file, waits for its turn, judges on the
//! cells it finds there, and leaves. What it wrote is the system's when it returns, so the end of a process takes
//! nothing along. Kills, blocks, resets and notes also outlive the machine: they are brought to the disk, with
//! all before them. Doing that for every event would take longer than all the rest of a hook.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, TransactionBehavior};
use sprag_core::{CellKey, DigestKey, Id, RULES_VERSION, Timestamp};

use super::SqliteOptions;
use super::cell_rows::{CellRow, CellRows, evict, to_evict};
use super::checkpoints::Checkpoints;
use super::connection::{
    checkpoint_by_hand, checkpoint_if_long, digest_key, limit_size, open, open_for_reading,
};
use super::lock::{Locks, beside};
use super::log_rows::{HeadRow, LogRow, SharingCache, learn, noted_policy, orders, records};
use super::pruning::plan;
use super::reading::SqliteView;
use super::reserve::Reserve;
use super::session_rows::{session, sessions};
use super::snapshot_rows::{base_head, start_rules};
use crate::capacity::{Capacity, MARK_LIFE, after_eviction};
use crate::cell_source::FoldResult;
use crate::draft::Draft;
use crate::durability::Durability;
use crate::error::StoreError;
use crate::eviction::Room;
use crate::in_force::StandingOrders;
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::{Note, Noted, Pool};
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, Page, Session, SessionSummary};
use crate::record::Record;
use crate::store::{Store, StoreStatus};
use crate::view::LogView;

/// Whatever its last event was.
const ANY_TIME: Timestamp = Timestamp(u64::MAX);

/// A SQLite store that many processes share.
#[derive(Debug)]
pub struct SharedSqlite {
    path: PathBuf,
    capacity: Capacity,
    key: DigestKey,
    conn: Mutex<Connection>,
    sharing: SharingCache,
    /// None if there was no room for it, or where the file may only be read.
    reserve: Mutex<Option<Reserve>>,
    /// None where the file may only be read; then why.
    pub(super) locks: Result<Locks, String>,
}

/// What a transaction left behind.
pub(super) struct Committed<T> {
    pub(super) answer: T,
    pub(super) before: u64,
    pub(super) head: HeadRow,
    pub(super) durability: Durability,
}

impl SharedSqlite {
    /// Opens or makes the store at `path`. Where it may not be written it can still be read.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        Self::open_writable(path, options)
            .or_else(|error| match error {
                StoreError::ReadOnly { why, .. } if path.exists() => Self::open_reading(path, why),
                other => Err(other),
            })
            .map_err(|error| error.at(path))
    }

    fn open_writable(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let located = |error: StoreError| error.at(path);
        let locks = Locks::open(path, options.wait)?;
        let mut conn = open(path, &locks).map_err(located)?;
        limit_size(&conn, options.max_bytes)?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        checkpoint_by_hand(&conn)?;
        if HeadRow::load(&conn)?.rules_version < RULES_VERSION {
            let _turn = locks.turn()?;
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            start_rules(&tx, path, options.at)?;
            tx.commit().map_err(|error| located(error.into()))?;
        }
        Ok(Self {
            path: path.to_path_buf(),
            capacity: options.capacity,
            key: digest_key(&conn)?,
            conn: Mutex::new(conn),
            sharing: SharingCache::default(),
            reserve: Mutex::new(Reserve::open(path).ok()),
            locks: Ok(locks),
        })
    }

    fn open_reading(path: &Path, why: String) -> Result<Self, StoreError> {
        let conn = open_for_reading(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            capacity: Capacity::default(),
            key: digest_key(&conn)?,
            conn: Mutex::new(conn),
            sharing: SharingCache::default(),
            reserve: Mutex::new(None),
            locks: Err(why),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn conn(&self) -> MutexGuard<'_, Connection> {
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        read(&self.conn()).map_err(|error| error.at(&self.path))
    }

    /// Does `work` in this process's turn, as one transaction, and checkpoints what must be.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Connection, HeadRow) -> Result<Committed<T>, StoreError>,
    ) -> Result<T, StoreError> {
        let locks = self.locks.as_ref().map_err(|why| StoreError::ReadOnly {
            path: self.path.clone(),
            why: why.clone(),
        })?;
        let mut conn = self.conn();
        let _turn = locks.turn()?;
        let run = || {
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let head = HeadRow::load(&tx)?;
            // A build with newer rules may have taken over while this process ran.
            head.check_rules(&self.path)?;
            let written = work(&tx, head)?;
            written.head.save(&tx)?;
            tx.commit()?;
            Ok(written)
        };
        let written = run().map_err(|error: StoreError| error.at(&self.path))?;
        let seq = written.head.head.seq;
        let mut reserve = self.reserve();
        let held = reserve.as_mut().filter(|reserve| !reserve.is_empty());
        if written.durability == Durability::Durable || held.is_some() {
            self.flush()?;
        }
        if let Some(reserve) = held {
            reserve.clear()?;
        }
        drop(reserve);
        if written.durability == Durability::Durable || Checkpoints::is_due(written.before, seq) {
            Checkpoints::of(&self.path).write(written.head.head)?;
        }
        checkpoint_if_long(&conn, &self.path).map_err(|error| error.at(&self.path))?;
        Ok(written.answer)
    }

    /// Brings everything that was committed so far to the disk.
    fn flush(&self) -> Result<(), StoreError> {
        let log = beside(&self.path, "-wal");
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // A folder is a file that can be flushed on Unix only.
        let places = [Some(log.as_path()), cfg!(unix).then_some(folder)];
        for place in places.into_iter().flatten() {
            match File::open(place).and_then(|file| file.sync_all()) {
                Ok(()) => {}
                // Everything is in the database itself, which was brought to the disk before that.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(StoreError::io(place, "bringing it to the disk", source));
                }
            }
        }
        Ok(())
    }

    /// The reserve as it is now: other processes write to it too.
    pub(super) fn reserve(&self) -> MutexGuard<'_, Option<Reserve>> {
        let mut reserve = self.reserve.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reserve) = &mut *reserve {
            // One that can't be read any more has nothing to say.
            let _ = reserve.look_again();
        }
        reserve
    }

    fn judge(
        &self,
        tx: &Connection,
        mut row: HeadRow,
        mut draft: Draft,
    ) -> Result<Committed<Record>, StoreError> {
        let before = row.head.seq;
        if let Some(reserve) = self
            .reserve()
            .as_ref()
            .filter(|reserve| !reserve.is_empty())
        {
            reserve.restore(tx, &mut row, draft.observation.at)?;
        }
        let folded = FoldResult::decide(&CellRows(tx), &mut draft)?;
        if folded.opens_session(&draft) && self.capacity.full_of_marks(row.marked).is_some() {
            return Err(StoreError::TooManyMarks {
                marks: self.capacity.marks,
            });
        }
        row.count(&folded);
        for key in CellKey::all(&folded.keys) {
            CellRow::of(key, &folded.state)?.save(tx)?;
        }
        learn(tx, &draft.policy)?;
        let durability = Durability::of(&draft.observation, &folded.verdict);
        let encoded = row.head.event(draft, folded.verdict.clone());
        let (log_row, record) = LogRow::of(encoded, Some(&folded.keys));
        log_row.save(tx)?;
        row.head = log_row.head();
        self.make_room(tx, &mut row, &folded, &record)?;
        Ok(Committed {
            answer: record,
            before,
            head: row,
            durability,
        })
    }

    fn make_room(
        &self,
        tx: &Connection,
        row: &mut HeadRow,
        folded: &FoldResult,
        record: &Record,
    ) -> Result<(), StoreError> {
        let old = Timestamp(record.at.0.saturating_sub(MARK_LIFE.0));
        let unmarked = row.sessions.saturating_sub(row.marked);
        for (pool, size, limit, until) in [
            (Pool::Sessions, unmarked, self.capacity.sessions, ANY_TIME),
            (Pool::Marks, row.marked, self.capacity.marks, old),
            (Pool::Others, row.others, self.capacity.others, ANY_TIME),
        ] {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            let is_full = pool == Pool::Marks && size == limit;
            if size <= limit && !is_full {
                continue;
            }
            let own: Vec<CellKey> = CellKey::all(&folded.keys).collect();
            let room = Room {
                excess: size.saturating_sub(after_eviction(limit)).max(1),
                until,
                own: &own,
            };
            let Some(eviction) = to_evict(tx, pool, room, &folded.state)? else {
                continue;
            };
            evict(tx, &eviction)?;
            row.uncount(&eviction);
            let what = Noted::Evicted(eviction);
            let (note, _) = LogRow::of(row.head.note(record.at, &record.policy, what)?, None);
            note.save(tx)?;
            row.head = note.head();
        }
        Ok(())
    }
}

impl Store for SharedSqlite {
    fn decide(&self, draft: Draft) -> Result<Record, StoreError> {
        match self.write(|tx, row| self.judge(tx, row, draft.clone())) {
            Err(error) if error.is_of_disk() => self.judge_unwritten(draft, error),
            decided => decided,
        }
    }

    fn note(&self, note: Note) -> Result<Record, StoreError> {
        note.check()?;
        self.write(|tx, mut row| {
            let before = row.head.seq;
            learn(tx, &note.policy)?;
            let encoded = row.head.note(note.at, &note.policy.digest, note.what)?;
            let (log_row, record) = LogRow::of(encoded, None);
            log_row.save(tx)?;
            row.head = log_row.head();
            Ok(Committed {
                answer: record,
                before,
                head: row,
                durability: Durability::Durable,
            })
        })
    }

    fn orders(&self) -> Result<StandingOrders, StoreError> {
        self.read(orders)
    }

    fn noted_policy(&self) -> Result<Option<String>, StoreError> {
        self.read(noted_policy)
    }

    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError> {
        self.read(|conn| session(conn, id))
    }

    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
        self.read(|conn| sessions(conn, query))
    }

    fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        self.read(|conn| records(conn, query, &self.sharing))
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, StoreError> {
        Ok(Box::new(SqliteView::open(&self.path)?))
    }

    fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, StoreError> {
        let Some(plan) = plan(&SqliteView::open(&self.path)?, prune)? else {
            return Ok(Pruned::default());
        };
        let pruned = self.write(|tx, mut row| {
            let before = row.head.seq;
            // Whoever pruned in the meantime did the work already.
            let answer = if base_head(tx)?.seq == plan.from {
                row.head = plan.carry_out(tx, row.head, prune)?;
                plan.pruned
            } else {
                Pruned::default()
            };
            Ok(Committed {
                answer,
                before,
                head: row,
                durability: Durability::Durable,
            })
        })?;
        self.read(|conn| Ok(conn.execute_batch("PRAGMA incremental_vacuum;")?))?;
        Ok(pruned)
    }

    fn digest_key(&self) -> DigestKey {
        self.key.clone()
    }

    fn others_write(&self) -> bool {
        true
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.flush()
    }

    fn status(&self) -> StoreStatus {
        let row = self.read(HeadRow::load);
        let trouble = match (&row, &self.locks) {
            (Err(error), _) => Some(error.to_string()),
            (_, Err(why)) => Some(format!("may only be read, so nothing is guarded: {why}")),
            (Ok(row), _) => self.capacity.full_of_marks(row.marked),
        };
        let row = row.ok();
        StoreStatus {
            kind: "sqlite",
            last_seq: row.map_or(0, |row| row.head.seq),
            last_hash: row.map_or_else(Default::default, |row| row.head.hash),
            sessions: row.map_or(0, |row| row.sessions),
            others: row.map_or(0, |row| row.others),
            pending: 0,
            degraded: trouble,
        }
    }
}
