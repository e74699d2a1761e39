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
use sprag_core::{CellKey, Id, Timestamp};

use super::cell_rows::{CellRow, evict};
use super::checkpoints::Checkpoints;
use super::loading::Loading;
use super::log_rows::{HeadRow, LogRow, learn};
use super::pruning::PrunePlan;
use super::reserve::{Reserve, ReservedMark};
use super::unwritten::UnloggedCells;
use super::wait::Waiter;
use crate::draft::ActivePolicy;
use crate::error::StoreError;
use crate::in_force::InForce;
use crate::note::Eviction;
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
    pub(super) plans: Vec<PrunePlan>,
    /// Someone promised a kill, a block or a reset.
    pub(super) durable: bool,
    /// Sessions that were killed or blocked, and are not in the reserve.
    pub(super) marks: Vec<Id>,
}

/// What the owner and its writer share.
#[derive(Debug)]
pub(super) struct OwnerState {
    pub(super) store: StoreState,
    /// What was counted while no record could be added.
    pub(super) unlogged: UnloggedCells,
    pub(super) in_force: InForce,
    /// While not everything is in memory yet.
    pub(super) loading: Option<Loading>,
    pub(super) row: HeadRow,
    pub(super) pending: PendingWrites,
    /// The last record that is durable.
    pub(super) written: u64,
    /// Someone waits for everything up to here.
    pub(super) wanted: u64,
    /// All kills and blocks up to this record are in the reserve, while the database can't be written.
    pub(super) reserved: u64,
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
        loop {
            if state.written >= seq {
                return Ok(());
            }
            if let Some(failure) = state.failure.as_ref().filter(|_| state.failures > failures) {
                return Err(failure.error(path));
            }
            if state.closing {
                return Err(StoreError::Closed);
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
            self.row.sessions = self.store.sessions_count();
            self.row.others = self.store.others_count();
            self.row.marked = self.store.marks_count();
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
    /// None if there was no room for it.
    pub(super) reserve: Option<Reserve>,
}

impl Drop for WriterThread {
    /// However the writer ends, nobody waits for it any longer.
    fn drop(&mut self) {
        self.queue.state().closing = true;
        self.queue.tell();
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
                    let mut batch = batch;
                    let closing = self.failed(&error, &mut batch);
                    if closing {
                        break;
                    }
                    held = Some(batch);
                }
            }
        }
        // A tidy file for whoever comes next; what is in the write-ahead log counts all the same.
        // Who reads it is not waited for.
        let _ = self.conn.busy_timeout(Duration::ZERO);
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
        let is_all_written = state.reserved <= state.written;
        drop(state);
        if let Some(reserve) = self.reserve.as_mut().filter(|_| is_all_written) {
            // Marks that stay in it are in the database too, and are left out when it is read.
            let _ = reserve.clear();
        }
        self.queue.tell();
        Ok(())
    }

    /// Puts the marks that can't be written into the reserve, tells everyone, waits a while, and answers
    /// whether the store closes.
    fn failed(&mut self, error: &StoreError, batch: &mut WriteBatch) -> bool {
        let queue = Arc::clone(&self.queue);
        let mut state = queue.state();
        let ids: Vec<Id> = batch
            .pending
            .marks
            .drain(..)
            .chain(state.pending.marks.drain(..))
            .collect();
        let marks: Vec<ReservedMark> = ids
            .iter()
            .filter_map(|id| ReservedMark::of(id, state.store.cells.session(id.as_str())?))
            .collect();
        let last = state.row.head.seq;
        drop(state);
        let reserve = self.reserve.as_mut();
        let is_kept = reserve.is_some_and(|reserve| reserve.append(&marks).unwrap_or(false));
        let mut state = queue.state();
        if is_kept {
            state.reserved = last;
        } else {
            batch.pending.marks.extend(ids);
        }
        state.failure = Some(WriteFailure::of(error));
        state.failures += 1;
        drop(state);
        queue.tell();
        let (state, _) = queue
            .work
            .wait_timeout_while(queue.state(), AGAIN, |state| !state.closing)
            .unwrap_or_else(PoisonError::into_inner);
        state.closing
    }
}
