//! The line to Redis: a few open connections, and whether they are any good.
//!
//! A breaker as people know it: after a failure the line is down, and nobody tries it again but the
//! keeper. A decision takes a connection that is open or learns at once that there is none, so an
//! outage costs one deadline, not one for each event.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::Connection;

use super::monotonic;

/// The connections.
#[derive(Default)]
pub(super) struct ConnectionPool {
    state: Mutex<PoolState>,
    /// Somebody gave a connection back, or the line went down.
    changed: Condvar,
    /// The keeper has something to do.
    work: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: VecDeque<Connection>,
    open: usize,
    is_up: bool,
    is_closed: bool,
    /// It works, and Redis is being told what happened meanwhile: worth waiting for.
    is_returning: bool,
    /// Counts outages: what was lent before one is not taken back.
    outages: u64,
    down_reason: Option<String>,
}

/// A connection, lent to one who must say whether it still works.
pub(super) struct PooledConnection {
    pub(super) connection: Connection,
    outage: u64,
}

impl std::fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Line")
            .field("is_up", &state.is_up)
            .field("open", &state.open)
            .finish_non_exhaustive()
    }
}

impl ConnectionPool {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_up(&self) -> bool {
        self.state().is_up
    }

    /// Says that the line is about to be up, or that it is not after all. Who decides meanwhile waits
    /// for it as long as there is time, or what is decided alone would never end.
    pub(super) fn set_returning(&self, is_returning: bool) {
        self.state().is_returning = is_returning;
        self.changed.notify_all();
    }

    /// Why it is down, where it is.
    pub(super) fn down_reason(&self) -> Option<String> {
        let state = self.state();
        let unknown = || "it did not answer yet".to_owned();
        (!state.is_up).then(|| state.down_reason.clone().unwrap_or_else(unknown))
    }

    /// A connection, if one gets free before `until` while the line is up.
    pub(super) fn acquire(&self, until: Instant) -> Option<PooledConnection> {
        let mut state = self.state();
        loop {
            if !state.is_up && !state.is_returning {
                return None;
            }
            if let Some(connection) = state.idle.pop_front() {
                let outage = state.outages;
                return Some(PooledConnection { connection, outage });
            }
            let left = until.checked_duration_since(monotonic::now())?;
            let (next, _) = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
        }
    }

    /// Takes a connection back that works.
    pub(super) fn release(&self, pooled: PooledConnection) {
        let mut state = self.state();
        if state.outages == pooled.outage && state.is_up {
            state.idle.push_front(pooled.connection);
            self.changed.notify_one();
        }
    }

    /// One connection broke. With the last one the line is down.
    pub(super) fn discard(&self, pooled: PooledConnection, why: &str) {
        let mut state = self.state();
        if state.outages != pooled.outage || !state.is_up {
            return;
        }
        state.open = state.open.saturating_sub(1);
        if state.open == 0 {
            self.down(&mut state, why);
        } else {
            self.work.notify_all();
        }
    }

    /// Nothing works: nobody but the keeper may try again.
    pub(super) fn trip(&self, pooled: PooledConnection, why: &str) {
        let mut state = self.state();
        if state.outages == pooled.outage {
            self.down(&mut state, why);
        }
    }

    /// Takes the line down where it is up: somebody decided alone, and the keeper has to tell Redis.
    /// Whether it was up.
    pub(super) fn trip_if_up(&self, why: &str) -> bool {
        let mut state = self.state();
        let was_up = state.is_up;
        if was_up {
            self.down(&mut state, why);
        }
        was_up
    }

    fn down(&self, state: &mut PoolState, why: &str) {
        state.is_up = false;
        state.is_returning = false;
        state.idle.clear();
        state.open = 0;
        state.outages += 1;
        state.down_reason = Some(why.to_owned());
        self.changed.notify_all();
        self.work.notify_all();
    }

    /// What the keeper found while the line was down.
    pub(super) fn set_down_reason(&self, why: String) {
        self.state().down_reason = Some(why);
    }

    /// The line works again.
    pub(super) fn restore(&self, connections: Vec<Connection>) {
        let mut state = self.state();
        state.open = connections.len();
        state.idle = connections.into();
        state.is_up = true;
        state.is_returning = false;
        state.down_reason = None;
        self.changed.notify_all();
    }

    /// One connection more, where some were lost.
    pub(super) fn add(&self, connection: Connection) {
        let mut state = self.state();
        if state.is_up {
            state.open += 1;
            state.idle.push_back(connection);
            self.changed.notify_one();
        }
    }

    /// How many connections there should be more.
    pub(super) fn missing(&self, wanted: usize) -> usize {
        let state = self.state();
        if state.is_up {
            wanted.saturating_sub(state.open)
        } else {
            0
        }
    }

    /// Ends the keeper's work.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        self.work.notify_all();
    }

    /// Waits until the keeper has something to do, at most `at_most`: the line changed since it
    /// `was_up`, or connections were lost. False when it is over.
    pub(super) fn wait_for_work(&self, at_most: Duration, was_up: bool, wanted: usize) -> bool {
        let state = self.state();
        let idle = |state: &mut PoolState| {
            let has_lost = state.is_up && state.open < wanted;
            !state.is_closed && !has_lost && state.is_up == was_up
        };
        let (state, _) = self
            .work
            .wait_timeout_while(state, at_most, idle)
            .unwrap_or_else(PoisonError::into_inner);
        !state.is_closed
    }
}
