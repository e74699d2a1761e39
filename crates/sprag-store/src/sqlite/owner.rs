//! A file that one process owns: cells in memory, the log written in groups.
//!
//! For a server that answers thousands of events a second. The file is taken with a lock that ends with
//! the process; the cells are read once; from then on a decision is one step of the fold under a
//! lock, and a thread of its own writes. When the disk fails the owner goes on guarding
//! from memory, says so in its status, and refuses what it could not remember.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior};
use sprag_core::{CellKey, CellKeys, DigestKey, Id, Timestamp};

use super::SqliteOptions;
use super::connection::{Access, checkpoint_by_itself, connect, digest_key, limit_size, open};
use super::loading::{Loading, load};
use super::lock::Locks;
use super::log_rows::{LogRow, SharingCache, noted_policy, pause, records};
use super::pruning::plan;
use super::reading::SqliteView;
use super::session_rows::{census, sessions};
use super::snapshot_rows::{base_head, start_rules};
use super::wait::Wait;
use super::writer::{OwnerState, PendingWrites, WriteQueue, WriterThread};
use crate::capacity::Capacity;
use crate::census::Census;
use crate::draft::{ActivePolicy, Draft};
use crate::durability::Durability;
use crate::encoded_record::EncodedRecord;
use crate::error::StoreError;
use crate::in_force::{InForce, Pause};
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::{Note, Noted, Pool};
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, Page, Session, SessionSummary};
use crate::record::Record;
use crate::store::{Decided, Store, StoreStatus};
use crate::store_state::StoreState;
use crate::view::LogView;

/// Past this many records that are not written yet, deciding waits for the writer, or fails with it.
const MAX_PENDING: usize = 1 << 16;

/// Past this many an answer waits until the writer is no further behind, so that whoever asks in a
/// loop is slowed down to what the disk takes.
const BEHIND: u64 = 1 << 13;

/// A SQLite store that this process owns.
#[derive(Debug)]
pub struct OwnedSqlite {
    path: PathBuf,
    options: SqliteOptions,
    key: DigestKey,
    queue: Arc<WriteQueue>,
    reader: Mutex<Connection>,
    sharing: SharingCache,
    writer: Option<JoinHandle<()>>,
    loader: Option<JoinHandle<()>>,
    /// Held for its lock.
    _locks: Locks,
}

impl OwnedSqlite {
    /// Takes the store at `path` for this process; makes it where there is none.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        Self::take(path, options).map_err(|error| error.at(path))
    }

    fn take(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let locks = Locks::open(path, options.wait)?;
        let mut conn = open(path, &locks).map_err(|error| error.at(path))?;
        locks.own()?;
        limit_size(&conn, options.max_bytes)?;
        checkpoint_by_itself(&conn)?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut row = start_rules(&tx, path, options.at)?;
        let owner = options.owner.clone();
        let encoded = row.head.note(options.at, "", Noted::OwnerTook { owner })?;
        let (note, _) = LogRow::of(encoded, None);
        note.save(&tx)?;
        row.head = note.head();
        row.save(&tx)?;
        tx.commit()?;
        let queue = Arc::new(WriteQueue::new(OwnerState {
            store: StoreState::default(),
            in_force: InForce {
                policy: noted_policy(&conn)?,
                pause: pause(&conn)?,
            },
            loading: Some(Loading::default()),
            row,
            pending: PendingWrites::default(),
            written: row.head.seq,
            wanted: 0,
            last_durable: 0,
            last_at: options.at,
            closing: false,
            failure: None,
            failures: 0,
            waiters: Vec::new(),
        }));
        let key = digest_key(&conn)?;
        let writer = WriterThread {
            queue: Arc::clone(&queue),
            conn,
            path: path.to_path_buf(),
        };
        let thread = std::thread::Builder::new().name("sprag-log".to_owned());
        let writer = thread
            .spawn(move || writer.run())
            .map_err(|source| StoreError::io(path, "starting its writer", source))?;
        let (loaded_queue, loaded_path) = (Arc::clone(&queue), path.to_path_buf());
        let thread = std::thread::Builder::new().name("sprag-load".to_owned());
        let loader = thread
            .spawn(move || load(&loaded_queue, &loaded_path))
            .map_err(|source| StoreError::io(path, "starting to read it", source))?;
        Ok(Self {
            path: path.to_path_buf(),
            options: options.clone(),
            key,
            queue,
            reader: Mutex::new(connect(path, Access::Read)?),
            sharing: SharingCache::default(),
            writer: Some(writer),
            loader: Some(loader),
            _locks: locks,
        })
    }

    /// The state, once there is room for one more record.
    fn room(&self) -> Result<MutexGuard<'_, OwnerState>, StoreError> {
        let mut state = self.queue.state();
        while state.pending.rows.len() >= MAX_PENDING {
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

    fn read<T>(
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

    fn note(&mut self, at: Timestamp, policy: &str, what: Noted) -> Result<Record, StoreError> {
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

    fn make_room(&mut self, capacity: Capacity, record: &Record) -> Result<(), StoreError> {
        if self.loading.is_some() {
            return Ok(());
        }
        for eviction in self.store.make_room(capacity) {
            self.pending.evictions.push(eviction.clone());
            self.note(record.at, &record.policy, Noted::Evicted(eviction))?;
        }
        Ok(())
    }
}

impl Store for OwnedSqlite {
    fn decide(&self, draft: Draft) -> Result<Record, StoreError> {
        let decided = self.decide_soon(draft)?;
        if let Some(wait) = decided.wait {
            wait.block()?;
        }
        Ok(decided.record)
    }

    fn decide_soon(&self, mut draft: Draft) -> Result<Decided, StoreError> {
        let mut state = self.room()?;
        if state.loading.is_some() {
            self.read(|conn| state.fetch(conn, &mut draft))?;
        }
        let (verdict, keys) = state.store.decide(&mut draft)?;
        let durability = Durability::of(&draft.observation, &verdict);
        state.learn(&draft.policy);
        let is_first = state.pending.rows.is_empty();
        let encoded = state.row.head.event(draft, verdict);
        let record = state.append(encoded, Some(&keys));
        state.make_room(self.options.capacity, &record)?;
        let wait_for = match durability {
            Durability::Soon if state.failure.is_some() => 0,
            Durability::Soon => record.seq.saturating_sub(BEHIND),
            Durability::AfterOthers => state.last_durable,
            Durability::Durable => {
                state.pending.durable = true;
                state.last_durable = record.seq;
                state.wanted = state.wanted.max(record.seq);
                record.seq
            }
        };
        let wait = (wait_for > state.written).then(|| Wait {
            queue: Arc::clone(&self.queue),
            path: self.path.clone(),
            seq: wait_for,
            failures: state.failures,
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

    fn pause(&self) -> Result<Option<Pause>, StoreError> {
        Ok(self.queue.state().in_force.pause.clone())
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
            None => (
                state.store.count(Pool::Sessions),
                state.store.count(Pool::Others),
            ),
        };
        StoreStatus {
            kind: "sqlite",
            last_seq: state.row.head.seq,
            last_hash: state.row.head.hash,
            sessions,
            others,
            pending: state.row.head.seq.saturating_sub(state.written),
            degraded: failure.or(unread),
        }
    }
}

impl Drop for OwnedSqlite {
    fn drop(&mut self) {
        {
            let mut state = self.queue.state();
            let (at, owner) = (state.last_at, self.options.owner.clone());
            // Without this note the log reads as if the owner had died: true enough if it can't be made.
            let _ = state.note(at, "", Noted::OwnerLeft { owner });
            state.closing = true;
        }
        self.queue.work.notify_all();
        self.queue.done.notify_all();
        if let Some(loader) = self.loader.take() {
            // It looks for the end now and then; if it panicked, what it held is in the file.
            let _ = loader.join();
        }
        if let Some(writer) = self.writer.take() {
            // The writer panics never; if it did, what it held is lost with it and said so above.
            let _ = writer.join();
        }
    }
}
