//! The owner's writer: everything that was decided since the last commit, in one.
//!
//! One `fsync` for many events is what makes a busy guard cheap. A plain event waits a few
//! milliseconds for company; a kill, a block or a reset wakes the writer at once and takes along
//! whatever waits. A batch that can't be written is kept and tried again, never dropped.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use sprag_core::{CellKey, Timestamp};

use super::cell_rows::{CellRow, evict};
use super::checkpoints::Checkpoints;
use super::loading::Loading;
use super::log_rows::{HeadRow, LogRow, learn};
use super::pruning::Plan;
use super::wait::Waiter;
use crate::draft::ActivePolicy;
use crate::error::StoreError;
use crate::in_force::InForce;
use crate::note::{Eviction, Pool};
use crate::store_state::StoreState;

/// How long a plain event waits for company. With the commit itself it stays below 50 ms.
const COMPANY: Duration = Duration::from_millis(20);
/// How long to wait before a batch that failed is tried again.
const AGAIN: Duration = Duration::from_millis(200);

/// What was decided and not written yet.
#[derive(Debug, Default)]
pub(super) struct PendingWrites {
    pub(super) rows: Vec<LogRow>,
    pub(super) dirty: HashSet<CellKey>,
    pub(super) policies: Vec<Arc<ActivePolicy>>,
    pub(super) evictions: Vec<Eviction>,
    pub(super) plans: Vec<Plan>,
    /// Someone promised a kill, a block or a reset.
    pub(super) durable: bool,
}

/// What the owner and its writer share.
#[derive(Debug)]
pub(super) struct OwnerState {
    pub(super) store: StoreState,
    pub(super) in_force: InForce,
    /// While not everything is in memory yet.
    pub(super) loading: Option<Loading>,
    pub(super) row: HeadRow,
    pub(super) pending: PendingWrites,
    /// The last record that is durable.
    pub(super) written: u64,
    /// Someone waits for everything up to here.
    pub(super) wanted: u64,
    /// The last kill, block or reset.
    pub(super) last_durable: u64,
    /// When the last record happened.
    pub(super) last_at: Timestamp,
    pub(super) closing: bool,
    /// What is wrong, and how often it went wrong.
    pub(super) failure: Option<WriteFailure>,
    pub(super) failures: u64,
    pub(super) waiters: Vec<Waiter>,
}

/// Why nothing can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WriteFailure {
    Full,
    Other(String),
}

impl WriteFailure {
    fn of(error: &StoreError) -> Self {
        match error {
            StoreError::Full { .. } => Self::Full,
            other => Self::Other(other.to_string()),
        }
    }

    pub(super) fn error(&self, path: &Path) -> StoreError {
        let path = path.to_path_buf();
        match self {
            Self::Full => StoreError::Full { path },
            Self::Other(why) => StoreError::Unwritten {
                path,
                why: why.clone(),
            },
        }
    }
}

/// The state with its two bells.
#[derive(Debug)]
pub(super) struct WriteQueue {
    state: Mutex<OwnerState>,
    /// For the writer: there is work.
    pub(super) work: Condvar,
    /// For those who wait: something was written, or could not be.
    pub(super) done: Condvar,
}

impl WriteQueue {
    pub(super) fn new(state: OwnerState) -> Self {
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            done: Condvar::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, OwnerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until record `seq` is durable.
    pub(super) fn written<'a>(
        &'a self,
        mut state: MutexGuard<'a, OwnerState>,
        seq: u64,
        path: &Path,
    ) -> Result<(), StoreError> {
        let failures = state.failures;
        state.wanted = state.wanted.max(seq);
        self.work.notify_one();
        self.until(state, seq, failures, path)
    }

    /// Waits until record `seq` is durable or writing failed more often than `failures`.
    pub(super) fn until<'a>(
        &'a self,
        mut state: MutexGuard<'a, OwnerState>,
        seq: u64,
        failures: u64,
        path: &Path,
    ) -> Result<(), StoreError> {
        loop {
            if let Some(over) = state.over(seq, failures, path) {
                return over;
            }
            state = self
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A batch with its bytes: nothing in it changes any more.
#[derive(Debug)]
struct WriteBatch {
    pending: PendingWrites,
    cells: Vec<CellRow>,
    row: HeadRow,
}

impl OwnerState {
    fn batch(&mut self) -> Result<WriteBatch, StoreError> {
        let cells = self.pending.dirty.iter().cloned();
        let cells = cells.map(|key| CellRow::of(key, &self.store));
        let cells = cells.collect::<Result<_, _>>()?;
        // While not everything is in memory the count stays; it is put right afterwards.
        if self.loading.is_none() {
            self.row.sessions = self.store.count(Pool::Sessions);
            self.row.others = self.store.count(Pool::Others);
        }
        Ok(WriteBatch {
            cells,
            row: self.row,
            pending: std::mem::take(&mut self.pending),
        })
    }

    fn is_urgent(&self) -> bool {
        self.closing || self.wanted > self.written
    }
}

impl WriteBatch {
    fn write(&self, conn: &mut Connection) -> Result<(), StoreError> {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for policy in &self.pending.policies {
            learn(&tx, policy)?;
        }
        // CellRows that are older than the cells may be among what is forgotten; they are written after.
        for eviction in &self.pending.evictions {
            evict(&tx, eviction)?;
        }
        for cell in &self.cells {
            cell.save(&tx)?;
        }
        LogRow::save_all(&self.pending.rows, &tx)?;
        for plan in &self.pending.plans {
            plan.cut(&tx)?;
        }
        self.row.save(&tx)?;
        tx.commit()?;
        if !self.pending.plans.is_empty() {
            conn.execute_batch("PRAGMA incremental_vacuum;")?;
        }
        Ok(())
    }
}

/// The writer's own thread.
#[derive(Debug)]
pub(super) struct WriterThread {
    pub(super) queue: Arc<WriteQueue>,
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
}

impl Drop for WriterThread {
    /// However the writer ends, nobody waits for it any longer.
    fn drop(&mut self) {
        self.queue.state().closing = true;
        self.queue.tell(&self.path);
    }
}

impl WriterThread {
    pub(super) fn run(mut self) {
        let mut held: Option<WriteBatch> = None;
        loop {
            let batch = match held.take() {
                Some(batch) => batch,
                None => match self.next() {
                    Some(batch) => batch,
                    None => break,
                },
            };
            match self.write(&batch) {
                Ok(()) => {}
                Err(error) => {
                    let closing = self.failed(&error);
                    if closing {
                        break;
                    }
                    held = Some(batch);
                }
            }
        }
        // A tidy file for whoever comes next; what is in the write-ahead log counts all the same.
        let _ = self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);");
    }

    /// Waits for work and for company; none when all is done and the store closes.
    fn next(&mut self) -> Option<WriteBatch> {
        let queue = Arc::clone(&self.queue);
        let mut state = queue.state();
        while state.pending.rows.is_empty() {
            if state.closing {
                return None;
            }
            state = queue
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let company = |state: &mut OwnerState| !state.is_urgent();
        let (mut state, _) = queue
            .work
            .wait_timeout_while(state, COMPANY, company)
            .unwrap_or_else(PoisonError::into_inner);
        match state.batch() {
            Ok(batch) => Some(batch),
            Err(error) => {
                // Only a cell that can't be packed gets here; it would never succeed.
                state.failure = Some(WriteFailure::of(&error));
                state.failures += 1;
                state.closing = true;
                queue.done.notify_all();
                None
            }
        }
    }

    fn write(&mut self, batch: &WriteBatch) -> Result<(), StoreError> {
        let before = self.queue.state().written;
        let head = batch.row.head;
        let path = &self.path;
        batch
            .write(&mut self.conn)
            .map_err(|error| error.at(path))?;
        let checkpoint = if batch.pending.durable || Checkpoints::is_due(before, head.seq) {
            Checkpoints::of(path).write(head)
        } else {
            Ok(())
        };
        let mut state = self.queue.state();
        state.written = head.seq;
        // Without its checkpoint the log is safe, only its tail is less well guarded: told, not failed.
        state.failure = checkpoint.err().map(|error| WriteFailure::of(&error));
        drop(state);
        self.queue.tell(path);
        Ok(())
    }

    /// Tells everyone, waits a while, and answers whether the store closes.
    fn failed(&self, error: &StoreError) -> bool {
        let mut state = self.queue.state();
        state.failure = Some(WriteFailure::of(error));
        state.failures += 1;
        drop(state);
        self.queue.tell(&self.path);
        let (state, _) = self
            .queue
            .work
            .wait_timeout_while(self.queue.state(), AGAIN, |state| !state.closing)
            .unwrap_or_else(PoisonError::into_inner);
        state.closing
    }
}
