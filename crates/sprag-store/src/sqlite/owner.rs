//! A file that one process owns: cells in memory, the log written in groups.
//!
//! For a server that answers thousands of events a second. The file is taken with a lock that ends with
//! the process; the cells are read once; from then on a decision is one step of the fold under a
//! lock, and a thread of its own writes. When the disk fails the owner goes on guarding
//! from memory, puts what stops a session into its reserve, and says so in its status and its answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use sprag_core::{CellKey, CellKeys, DigestKey, Id, Observed, Timestamp};

use super::SqliteOptions;
use super::log_rows::{LogRow, SharingCache, records};
use super::pruning::plan;
use super::reading::SqliteView;
use super::session_rows::{census, sessions};
use super::snapshot_rows::base_head;
use super::taking::OwnerThreads;
use super::wait::{Awaited, Wait};
use super::writer::{OwnerState, WriteQueue};
use crate::capacity::Capacity;
use crate::census::Census;
use crate::draft::{ActivePolicy, Draft};
use crate::durability::{Durability, Durable};
use crate::encoded_record::EncodedRecord;
use crate::error::StoreError;
use crate::in_force::StandingOrders;
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::{Note, Noted};
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, Page, Session, SessionSummary};
use crate::record::Record;
use crate::store::{Decided, Store, StoreStatus};
use crate::view::LogView;

/// Past this many an answer waits until the writer is no further behind, so that whoever asks in a
/// loop is slowed down to what the disk takes.
const BEHIND: u64 = 1 << 13;

/// A SQLite store that this process owns.
#[derive(Debug)]
pub struct OwnedSqlite {
    pub(super) path: PathBuf,
    pub(super) options: SqliteOptions,
    pub(super) key: DigestKey,
    pub(super) queue: Arc<WriteQueue>,
    pub(super) reader: Mutex<Connection>,
    pub(super) sharing: SharingCache,
    /// Taken when the store is closed.
    pub(super) threads: Mutex<Option<OwnerThreads>>,
}

impl OwnedSqlite {
    /// Takes the store at `path` for this process; makes it where there is none.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        Self::take(path, options).map_err(|error| error.at(path))
    }

    /// The state, once there is room for one more record.
    fn room(&self) -> Result<MutexGuard<'_, OwnerState>, StoreError> {
        let mut state = self.queue.state();
        while state.pending.rows.len() >= self.options.max_unwritten {
            if let Some(failure) = &state.failure {
                return Err(failure.error(&self.path));
            }
            state = self
                .queue
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closing {
            return Err(StoreError::Closed);
        }
        Ok(state)
    }

    /// Everything decided so far, as far as it can be written.
    fn sync_for_reading(&self) {
        // A reader is shown what is in the file; the status tells what is not.
        let _ = self.sync();
    }

    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let conn = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        read(&conn).map_err(|error| error.at(&self.path))
    }
}

impl OwnerState {
    fn append(&mut self, encoded: EncodedRecord, keys: Option<&CellKeys>) -> Record {
        let (row, record) = LogRow::of(encoded, keys);
        self.row.head = row.head();
        self.pending.rows.push(row);
        self.last_at = record.at;
        if let Some(keys) = keys {
            self.pending.dirty.extend(CellKey::all(keys));
        }
        record
    }

    pub(super) fn note(
        &mut self,
        at: Timestamp,
        policy: &str,
        what: Noted,
    ) -> Result<Record, StoreError> {
        let encoded = self.row.head.note(at, policy, what)?;
        let record = self.append(encoded, None);
        self.in_force.apply(&record);
        Ok(record)
    }

    fn learn(&mut self, policy: &Arc<ActivePolicy>) {
        // Once a batch is often enough; the table keeps one.
        if !self
            .pending
            .policies
            .iter()
            .any(|known| known.digest == policy.digest)
        {
            self.pending.policies.push(Arc::clone(policy));
        }
    }

    fn make_room(
        &mut self,
        capacity: Capacity,
        keys: &CellKeys,
        record: &Record,
    ) -> Result<(), StoreError> {
        if self.loading.is_some() {
            return Ok(());
        }
        for eviction in self.store.make_room(capacity, keys, record.at) {
            self.pending.evictions.push(eviction.clone());
            self.note(record.at, &record.policy, Noted::Evicted(eviction))?;
        }
        Ok(())
    }
}

impl Store for OwnedSqlite {
    fn decide(&self, draft: Draft) -> Result<Record, StoreError> {
        let decided = self.decide_soon(draft)?;
        match decided.wait.map(Wait::block).transpose()? {
            Some(Durable::No) => Ok(decided.record.not_durable()),
            _ => Ok(decided.record),
        }
    }

    fn decide_soon(&self, mut draft: Draft) -> Result<Decided, StoreError> {
        let mut state = match self.room() {
            Err(error) if error.is_of_disk() => return self.judge_unlogged(draft, error),
            state => state?,
        };
        state.unlogged.forget();
        if state.loading.is_some() {
            self.read(|conn| state.fetch(conn, &mut draft))?;
        }
        state.store.admit(&mut draft, self.options.capacity)?;
        let (verdict, keys) = state.store.decide(&mut draft)?;
        let durability = Durability::of(&draft.observation, &verdict);
        let is_mark = !matches!(draft.observation.what, Observed::Reset(_));
        state.learn(&draft.policy);
        let is_first = state.pending.rows.is_empty();
        let encoded = state.row.head.event(draft, verdict);
        let record = state.append(encoded, Some(&keys));
        state.make_room(self.options.capacity, &keys, &record)?;
        let wait_for = match durability {
            Durability::Soon if state.failure.is_some() => 0,
            Durability::Soon => record.seq.saturating_sub(BEHIND),
            Durability::AfterOthers => state.last_durable,
            Durability::Durable => {
                state.pending.durable = true;
                state.pending.marks.extend(keys.session.clone());
                state.last_durable = record.seq;
                state.wanted = state.wanted.max(record.seq);
                record.seq
            }
        };
        let wait = (wait_for > state.written).then(|| Wait {
            queue: Arc::clone(&self.queue),
            awaited: Awaited {
                seq: wait_for,
                is_mark,
                failures: state.failures,
            },
        });
        // A writer that waits for company need not hear of each one that comes.
        let wakes = is_first || durability == Durability::Durable;
        drop(state);
        if wakes {
            self.queue.work.notify_one();
        }
        Ok(Decided { record, wait })
    }

    fn note(&self, note: Note) -> Result<Record, StoreError> {
        note.check()?;
        let mut state = self.room()?;
        state.learn(&note.policy);
        let record = state.note(note.at, &note.policy.digest, note.what)?;
        self.queue.written(state, record.seq, &self.path)?;
        Ok(record)
    }

    fn orders(&self) -> Result<StandingOrders, StoreError> {
        Ok(self.queue.state().in_force.orders.clone())
    }

    fn noted_policy(&self) -> Result<Option<String>, StoreError> {
        Ok(self.queue.state().in_force.policy.clone())
    }

    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError> {
        let mut state = self.queue.state();
        if state.loading.is_some() {
            self.read(|conn| state.fetch_session(conn, id))?;
        }
        Ok(state.store.session(id))
    }

    fn knows_session(&self, id: &Id) -> Result<bool, StoreError> {
        let mut state = self.queue.state();
        if state.loading.is_some() {
            self.read(|conn| state.fetch_session(conn, id))?;
        }
        Ok(state.store.cells.session(id.as_str()).is_some())
    }

    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
        let state = self.queue.state();
        if state.loading.is_none() {
            return Ok(state.store.sessions(query));
        }
        drop(state);
        self.sync_for_reading();
        self.read(|conn| sessions(conn, query))
    }

    fn count_sessions(&self, query: &SessionQuery) -> Result<u64, StoreError> {
        Ok(self.queue.state().store.count_sessions(query))
    }

    fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        self.sync_for_reading();
        self.read(|conn| records(conn, query, &self.sharing))
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, StoreError> {
        self.sync_for_reading();
        Ok(Box::new(SqliteView::open(&self.path)?))
    }

    fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, StoreError> {
        self.sync_for_reading();
        let Some(plan) = plan(&SqliteView::open(&self.path)?, prune)? else {
            return Ok(Pruned::default());
        };
        let pruned = plan.pruned;
        let mut state = self.room()?;
        let is_first = state.pending.plans.is_empty() && self.read(base_head)?.seq == plan.from;
        if !is_first {
            return Ok(Pruned::default());
        }
        state.learn(&prune.policy);
        for note in plan.notes() {
            state.note(prune.at, &prune.policy.digest, note)?;
        }
        state.pending.plans.push(plan);
        state.pending.durable = true;
        let seq = state.row.head.seq;
        self.queue.written(state, seq, &self.path)?;
        Ok(pruned)
    }

    fn digest_key(&self) -> DigestKey {
        self.key.clone()
    }

    fn sync(&self) -> Result<(), StoreError> {
        let state = self.queue.state();
        let seq = state.row.head.seq;
        self.queue.written(state, seq, &self.path)
    }

    fn close(&self) -> Result<(), StoreError> {
        let synced = self.sync();
        self.release();
        synced
    }

    fn census(&self) -> Result<Census, StoreError> {
        let state = self.queue.state();
        if state.loading.is_none() {
            return Ok(state.store.census());
        }
        drop(state);
        self.sync_for_reading();
        self.read(census)
    }

    fn status(&self) -> StoreStatus {
        let state = self.queue.state();
        let failure = state.failure.as_ref();
        let failure = failure.map(|failure| failure.error(&self.path).to_string());
        let unread = state
            .loading
            .as_ref()
            .and_then(|loading| loading.failed.clone());
        let (sessions, others) = match state.loading {
            Some(_) => (state.row.sessions, state.row.others),
            None => (state.store.sessions_count(), state.store.others_count()),
        };
        StoreStatus {
            kind: "sqlite",
            last_seq: state.row.head.seq,
            last_hash: state.row.head.hash,
            sessions,
            others,
            pending: state.row.head.seq.saturating_sub(state.written),
            degraded: failure.or(unread).or_else(|| {
                let marks = state.store.marks_count();
                self.options.capacity.full_of_marks(marks)
            }),
        }
    }
}

impl Drop for OwnedSqlite {
    fn drop(&mut self) {
        self.release();
    }
}
