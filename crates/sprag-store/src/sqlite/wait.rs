//! Waiting for a record to reach the disk, without a thread that sleeps for it.
//!
//! A server answers many at once on a few threads. One that slept for every kill until the disk has
//! it would keep the others waiting; so whoever decides may hand in what to do then instead.

use std::path::PathBuf;
use std::sync::Arc;

use super::writer::{OwnerState, WriteQueue};
use crate::error::StoreError;

/// What to do once a record is durable, or can't be.
pub(super) type Then = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Someone who waits.
pub(super) struct Waiter {
    seq: u64,
    /// How often writing had failed when it began to wait.
    failures: u64,
    then: Then,
}

impl std::fmt::Debug for Waiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiter")
            .field("seq", &self.seq)
            .finish_non_exhaustive()
    }
}

/// An answer that may not be given yet.
#[derive(Debug)]
#[must_use = "the answer may only be given once this is over"]
pub struct Wait {
    pub(super) queue: Arc<WriteQueue>,
    pub(super) path: PathBuf,
    pub(super) seq: u64,
    pub(super) failures: u64,
}

impl Wait {
    /// Waits here.
    ///
    /// # Errors
    /// Where the record can't be made durable.
    pub fn block(self) -> Result<(), StoreError> {
        let state = self.queue.state();
        self.queue.until(state, self.seq, self.failures, &self.path)
    }

    /// Calls `then` when it is over, on the thread that wrote: it must be quick.
    pub fn then(self, then: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        let mut state = self.queue.state();
        let over = state.over(self.seq, self.failures, &self.path);
        match over {
            Some(over) => {
                drop(state);
                then(over);
            }
            None => state.waiters.push(Waiter {
                seq: self.seq,
                failures: self.failures,
                then: Box::new(then),
            }),
        }
    }
}

impl OwnerState {
    /// Whether waiting for `seq` is over, and how it ended.
    pub(super) fn over(
        &self,
        seq: u64,
        failures: u64,
        path: &std::path::Path,
    ) -> Option<Result<(), StoreError>> {
        if self.written >= seq {
            return Some(Ok(()));
        }
        if self.failures > failures
            && let Some(failure) = &self.failure
        {
            return Some(Err(failure.error(path)));
        }
        self.closing.then_some(Err(StoreError::Closed))
    }

    /// Those whose waiting is over, with how it ended; to be called without the lock.
    fn take_over(&mut self, path: &std::path::Path) -> Vec<(Then, Result<(), StoreError>)> {
        let mut over = Vec::new();
        for waiter in std::mem::take(&mut self.waiters) {
            match self.over(waiter.seq, waiter.failures, path) {
                Some(end) => over.push((waiter.then, end)),
                None => self.waiters.push(waiter),
            }
        }
        over
    }
}

impl WriteQueue {
    /// Tells everyone whose waiting is over.
    pub(super) fn tell(&self, path: &std::path::Path) {
        self.done.notify_all();
        let over = self.state().take_over(path);
        for (then, end) in over {
            then(end);
        }
    }
}
