//! Waiting for a record to reach the disk, without a thread that sleeps for it.
//!
//! A server answers many at once on a few threads. One that slept for every kill until the disk has
//! it would keep the others waiting; so whoever decides may hand in what to do then instead.

use std::sync::{Arc, PoisonError};

use super::writer::{OwnerState, WriteQueue};
use crate::durability::Durable;
use crate::error::StoreError;

/// What to do once a record is durable, or can't be.
pub(super) type Then = Box<dyn FnOnce(Result<Durable, StoreError>) + Send>;

/// What an answer waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Awaited {
    pub(super) seq: u64,
    /// Whether a mark in the reserve stands for it.
    pub(super) is_mark: bool,
    /// How often writing had failed when it began to wait.
    pub(super) failures: u64,
}

/// Someone who waits.
pub(super) struct Waiter {
    awaited: Awaited,
    then: Then,
}

impl std::fmt::Debug for Waiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiter")
            .field("awaited", &self.awaited)
            .finish_non_exhaustive()
    }
}

/// An answer that may not be given yet.
#[derive(Debug)]
#[must_use = "the answer may only be given once this is over"]
pub struct Wait {
    pub(super) queue: Arc<WriteQueue>,
    pub(super) awaited: Awaited,
}

impl Wait {
    /// Waits here.
    ///
    /// # Errors
    /// Returns an error if the store was closed.
    pub fn block(self) -> Result<Durable, StoreError> {
        let mut state = self.queue.state();
        loop {
            if let Some(over) = state.over(self.awaited) {
                return over;
            }
            state = self
                .queue
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls `then` when it is over, on the thread that wrote: it must be quick.
    pub fn then(self, then: impl FnOnce(Result<Durable, StoreError>) + Send + 'static) {
        let mut state = self.queue.state();
        let over = state.over(self.awaited);
        match over {
            Some(over) => {
                drop(state);
                then(over);
            }
            None => state.waiters.push(Waiter {
                awaited: self.awaited,
                then: Box::new(then),
            }),
        }
    }
}

impl OwnerState {
    /// Whether waiting is over, and how it ended.
    pub(super) fn over(&self, awaited: Awaited) -> Option<Result<Durable, StoreError>> {
        if self.written >= awaited.seq {
            return Some(Ok(Durable::Yes));
        }
        if self.failures > awaited.failures && self.failure.is_some() {
            let is_reserved = awaited.is_mark && self.reserved >= awaited.seq;
            return Some(Ok(match is_reserved {
                true => Durable::Yes,
                false => Durable::No,
            }));
        }
        self.closing.then_some(Err(StoreError::Closed))
    }

    /// Those whose waiting is over, with how it ended; to be called without the lock.
    fn take_over(&mut self) -> Vec<(Then, Result<Durable, StoreError>)> {
        let mut over = Vec::new();
        for waiter in std::mem::take(&mut self.waiters) {
            match self.over(waiter.awaited) {
                Some(end) => over.push((waiter.then, end)),
                None => self.waiters.push(waiter),
            }
        }
        over
    }
}

impl WriteQueue {
    /// Tells everyone whose waiting is over.
    pub(super) fn tell(&self) {
        self.done.notify_all();
        let over = self.state().take_over();
        for (then, end) in over {
            then(end);
        }
    }
}
