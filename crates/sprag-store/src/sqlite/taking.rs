//! Taking a file for one process, and giving it back.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior};

use super::SqliteOptions;
use super::checkpoints::Checkpoints;
use super::connection::{Access, checkpoint_by_itself, connect, digest_key, limit_size, open};
use super::loading::{Loading, load};
use super::lock::Locks;
use super::log_rows::{HeadRow, LogRow, SharingCache, noted_policy, orders};
use super::owner::OwnedSqlite;
use super::reserve::Reserve;
use super::snapshot_rows::start_rules;
use super::unwritten::UnloggedCells;
use super::writer::{OwnerState, PendingWrites, WriteQueue, WriterThread};
use crate::error::StoreError;
use crate::in_force::InForce;
use crate::note::Noted;
use crate::store_state::StoreState;

/// What works for an owner, and the lock that makes it one.
#[derive(Debug)]
pub(super) struct OwnerThreads {
    writer: JoinHandle<()>,
    loader: JoinHandle<()>,
    /// Held for its lock.
    _locks: Locks,
}

impl OwnedSqlite {
    pub(super) fn take(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let locks = Locks::open(path, options.wait)?;
        let mut conn = open(path, &locks).map_err(|error| error.at(path))?;
        locks.own()?;
        limit_size(&conn, options.max_bytes)?;
        checkpoint_by_itself(&conn)?;
        // Without room for it there is none; the answers to kills say so when it comes to that.
        let mut reserve = Reserve::open(path).ok();
        let row = begin(&mut conn, path, options, reserve.as_mut())?;
        let queue = Arc::new(WriteQueue::new(OwnerState {
            store: StoreState::default(),
            unlogged: UnloggedCells::default(),
            in_force: InForce {
                policy: noted_policy(&conn)?,
                orders: orders(&conn)?,
            },
            loading: Some(Loading::default()),
            row,
            pending: PendingWrites::default(),
            written: row.head.seq,
            wanted: 0,
            reserved: 0,
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
            reserve,
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
            threads: Mutex::new(Some(OwnerThreads {
                writer,
                loader,
                _locks: locks,
            })),
        })
    }

    /// Ends the threads and gives the file back, once.
    pub(super) fn release(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(threads) = threads.take() else {
            return;
        };
        {
            let mut state = self.queue.state();
            let (at, owner) = (state.last_at, self.options.owner.clone());
            // Without this note the log reads as if the owner had died: true enough if it can't be made.
            let _ = state.note(at, "", Noted::OwnerLeft { owner });
            state.closing = true;
        }
        self.queue.work.notify_all();
        self.queue.done.notify_all();
        // The loader looks for the end now and then; if it panicked, what it held is in the file. The writer
        // panics never; if it did, what it held is lost with it and said so above.
        let _ = threads.loader.join();
        let _ = threads.writer.join();
    }
}

/// Writes what an owner begins with: that it took the file, what was lost, and what the reserve holds.
fn begin(
    conn: &mut Connection,
    path: &Path,
    options: &SqliteOptions,
    reserve: Option<&mut Reserve>,
) -> Result<HeadRow, StoreError> {
    let checkpoints = Checkpoints::of(path);
    let lost = checkpoints.lost(conn)?;
    if let Some(lost) = lost
        && !options.accept_loss
    {
        return Err(StoreError::Cut {
            path: path.to_path_buf(),
            checkpoint: lost.seq,
            last: HeadRow::load(conn)?.head.seq,
        });
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut row = start_rules(&tx, path, options.at)?;
    let last = row.head.seq;
    let lost_note = lost.map(|lost| Noted::LossAccepted {
        checkpoint: lost.seq,
        hash: lost.hash,
        last,
    });
    let owner = options.owner.clone();
    for what in lost_note.into_iter().chain([Noted::OwnerTook { owner }]) {
        let encoded = row.head.note(options.at, "", what)?;
        let (note, _) = LogRow::of(encoded, None);
        note.save(&tx)?;
        row.head = note.head();
    }
    if let Some(reserve) = &reserve {
        reserve.restore(&tx, &mut row, options.at)?;
    }
    row.save(&tx)?;
    tx.commit()?;
    if let Some(reserve) = reserve {
        reserve.clear()?;
    }
    if lost.is_some() {
        checkpoints.set_aside()?;
        checkpoints.write(row.head)?;
    }
    Ok(row)
}
