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
use super::log_rows::{Found, LogRow, records};
use super::pruning::plan;
use super::reading::SqliteView;
use super::session_rows::{census, sessions};
use super::snapshot_rows::{base_head, start_rules};
use super::wait::Wait;
use super::writer::{Desk, Pending, State, Writer};
use crate::capacity::Capacity;
use crate::census::Census;
use crate::draft::{ActivePolicy, Draft};
use crate::error::StoreError;
use crate::judge::Sealed;
use crate::listing::{SessionCursor, SessionQuery};
use crate::live::Live;
use crate::note::{Note, Noted, Pool};
use crate::promise::Promise;
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, Page, Session, SessionSummary};
use crate::record::Record;
use crate::store::{Decided, Store, StoreStatus};
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
    desk: Arc<Desk>,
    reader: Mutex<Connection>,
    found: Found,
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
        let sealed = row.head.note(options.at, "", Noted::OwnerTook { owner })?;
        let (note, _) = LogRow::of(sealed, None);
        note.save(&tx)?;
        row.head = note.head();
        row.save(&tx)?;
        tx.commit()?;
        let desk = Arc::new(Desk::new(State {
            live: Live::default(),
            loading: Some(Loading::default()),
            row,
            pending: Pending::default(),
            written: row.head.seq,
            wanted: 0,
            last_durable: 0,
            last_at: options.at,
            closing: false,
            trouble: None,
            failures: 0,
            waiters: Vec::new(),
        }));
        let key = digest_key(&conn)?;
        let writer = Writer {
            desk: Arc::clone(&desk),
            conn,
            path: path.to_path_buf(),
        };
        let thread = std::thread::Builder::new().name("sprag-log".to_owned());
        let writer = thread
            .spawn(move || writer.run())
            .map_err(|source| StoreError::io(path, "starting its writer", source))?;
        let (loaded_desk, loaded_path) = (Arc::clone(&desk), path.to_path_buf());
        let thread = std::thread::Builder::new().name("sprag-load".to_owned());
        let loader = thread
            .spawn(move || load(&loaded_desk, &loaded_path))
            .map_err(|source| StoreError::io(path, "starting to read it", source))?;
        Ok(Self {
            path: path.to_path_buf(),
            options: options.clone(),
            key,
            desk,
            reader: Mutex::new(connect(path, Access::Read)?),
            found: Found::default(),
            writer: Some(writer),
            loader: Some(loader),
            _locks: locks,
        })
    }

    /// The state, once there is room for one more record.
    fn room(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let mut state = self.desk.state();
        while state.pending.rows.len() >= MAX_PENDING {
            if let Some(trouble) = &state.trouble {
                return Err(trouble.error(&self.path));
            }
            state = self
                .desk
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
    fn settled(&self) {
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

impl State {
    fn append(&mut self, sealed: Sealed, keys: Option<&CellKeys>) -> Record {
        let (row, record) = LogRow::of(sealed, keys);
        self.row.head = row.head();
        self.pending.rows.push(row);
        self.last_at = record.at;
        if let Some(keys) = keys {
            self.pending.dirty.extend(CellKey::all(keys));
        }
        record
    }

    fn note(&mut self, at: Timestamp, policy: &str, what: Noted) -> Result<Record, StoreError> {
        let sealed = self.row.head.note(at, policy, what)?;
        Ok(self.append(sealed, None))
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
        for eviction in self.live.make_room(capacity) {
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
        let (verdict, keys) = state.live.decide(&mut draft)?;
        let promise = Promise::of(&draft.observation, &verdict);
        state.learn(&draft.policy);
        let is_first = state.pending.rows.is_empty();
        let sealed = state.row.head.event(draft, verdict)?;
        let record = state.append(sealed, Some(&keys));
        state.make_room(self.options.capacity, &record)?;
        let wait_for = match promise {
            Promise::Soon if state.trouble.is_some() => 0,
            Promise::Soon => record.seq.saturating_sub(BEHIND),
            Promise::AfterOthers => state.last_durable,
            Promise::Durable => {
                state.pending.durable = true;
                state.last_durable = record.seq;
                state.wanted = state.wanted.max(record.seq);
                record.seq
            }
        };
        let wait = (wait_for > state.written).then(|| Wait {
            desk: Arc::clone(&self.desk),
            path: self.path.clone(),
            seq: wait_for,
            failures: state.failures,
        });
        // A writer that waits for company need not hear of each one that comes.
        let wakes = is_first || promise == Promise::Durable;
        drop(state);
        if wakes {
            self.desk.work.notify_one();
        }
        Ok(Decided { record, wait })
    }

    fn note(&self, note: Note) -> Result<Record, StoreError> {
        note.check()?;
        let mut state = self.room()?;
        state.learn(&note.policy);
        let record = state.note(note.at, &note.policy.digest, note.what)?;
        self.desk.written(state, record.seq, &self.path)?;
        Ok(record)
    }

    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError> {
        let mut state = self.desk.state();
        if state.loading.is_some() {
            self.read(|conn| state.fetch_session(conn, id))?;
        }
        Ok(state.live.session(id))
    }

    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
        let state = self.desk.state();
        if state.loading.is_none() {
            return Ok(state.live.sessions(query));
        }
        drop(state);
        self.settled();
        self.read(|conn| sessions(conn, query))
    }

    fn count_sessions(&self, query: &SessionQuery) -> Result<u64, StoreError> {
        Ok(self.desk.state().live.count_sessions(query))
    }

    fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        self.settled();
        self.read(|conn| records(conn, query, &self.found))
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, StoreError> {
        self.settled();
        Ok(Box::new(SqliteView::open(&self.path)?))
    }

    fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, StoreError> {
        self.settled();
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
        self.desk.written(state, seq, &self.path)?;
        Ok(pruned)
    }

    fn digest_key(&self) -> DigestKey {
        self.key.clone()
    }

    fn sync(&self) -> Result<(), StoreError> {
        let state = self.desk.state();
        let seq = state.row.head.seq;
        self.desk.written(state, seq, &self.path)
    }

    fn census(&self) -> Result<Census, StoreError> {
        let state = self.desk.state();
        if state.loading.is_none() {
            return Ok(state.live.census());
        }
        drop(state);
        self.settled();
        self.read(census)
    }

    fn status(&self) -> StoreStatus {
        let state = self.desk.state();
        let trouble = state.trouble.as_ref();
        let trouble = trouble.map(|trouble| trouble.error(&self.path).to_string());
        let unread = state
            .loading
            .as_ref()
            .and_then(|loading| loading.failed.clone());
        let (sessions, others) = match state.loading {
            Some(_) => (state.row.sessions, state.row.others),
            None => (
                state.live.count(Pool::Sessions),
                state.live.count(Pool::Others),
            ),
        };
        StoreStatus {
            kind: "sqlite",
            last_seq: state.row.head.seq,
            last_hash: state.row.head.hash,
            sessions,
            others,
            pending: state.row.head.seq.saturating_sub(state.written),
            degraded: trouble.or(unread),
        }
    }
}

impl Drop for OwnedSqlite {
    fn drop(&mut self) {
        {
            let mut state = self.desk.state();
            let (at, owner) = (state.last_at, self.options.owner.clone());
            // Without this note the log reads as if the owner had died: true enough if it can't be made.
            let _ = state.note(at, "", Noted::OwnerLeft { owner });
            state.closing = true;
        }
        self.desk.work.notify_all();
        self.desk.done.notify_all();
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
