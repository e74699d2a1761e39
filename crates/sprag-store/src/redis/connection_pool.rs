//! The connections to Redis, and a circuit breaker over all of them.
//!
//! After a failure the pool is down, and only the reconnector tries again. A decision takes a connection
//! that is open, or learns at once that there is none. So an outage costs one deadline, not one for
//! each event.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use redis::Connection;

use super::monotonic;
use super::redis_pod::lock;

/// A few open connections, and whether Redis can be used at all.
#[derive(Default)]
pub(super) struct ConnectionPool {
    state: Mutex<PoolState>,
    /// Wakes decisions: a connection was released, or the pool went down.
    changed: Condvar,
    /// Wakes the reconnector: a connection is missing, the pool went down or closes.
    work: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: VecDeque<Connection>,
    /// Idle connections and those in use.
    open: usize,
    is_up: bool,
    is_closed: bool,
    /// Redis answers again, and the offline log is being published: worth waiting for.
    is_returning: bool,
    /// Counts outages. A connection from before the latest one is not taken back: its replies may
    /// belong to requests that were given up.
    outages: u64,
    down_reason: Option<String>,
}

/// A connection in use. It must go back through [`ConnectionPool::release`], [`ConnectionPool::discard`] or
/// [`ConnectionPool::trip`], or the pool counts it as open for ever.
pub(super) struct PooledConnection {
    pub(super) connection: Connection,
    outage: u64,
}

impl std::fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("ConnectionPool")
            .field("is_up", &state.is_up)
            .field("open", &state.open)
            .finish_non_exhaustive()
    }
}

impl ConnectionPool {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        lock(&self.state)
    }

    pub(super) fn is_up(&self) -> bool {
        self.state().is_up
    }

    /// Sets whether the pool is about to be up. Decisions wait for that within their deadline. If they
    /// went on offline instead, a busy pod would add records as fast as they are published, and never
    /// come back.
    pub(super) fn set_returning(&self, is_returning: bool) {
        self.state().is_returning = is_returning;
        self.changed.notify_all();
    }

    /// Why the pool is down; none if it is up.
    pub(super) fn down_reason(&self) -> Option<String> {
        let state = self.state();
        let unknown = || "it has not answered yet".to_owned();
        (!state.is_up).then(|| state.down_reason.clone().unwrap_or_else(unknown))
    }

    /// Takes a connection. Returns none if the pool is down, or if none is released before `until`.
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
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            state = next;
        }
    }

    /// Takes back a connection that works.
    pub(super) fn release(&self, pooled: PooledConnection) {
        let mut state = self.state();
        if state.outages == pooled.outage && state.is_up {
            // The connection used last is used next, so a quiet pod keeps one warm.
            state.idle.push_front(pooled.connection);
            self.changed.notify_one();
        }
    }

    /// Drops a connection that broke. If it was the last one, the pool goes down.
    pub(super) fn discard(&self, pooled: PooledConnection, why: &str) {
        let mut state = self.state();
        // Closed by an outage already: it was not counted as open any more.
        if state.outages != pooled.outage || !state.is_up {
            return;
        }
        state.open = state.open.saturating_sub(1);
        if state.open == 0 {
            self.go_down(&mut state, why);
        } else {
            self.work.notify_all();
        }
    }

    /// Takes the whole pool down after the server itself failed on this connection.
    pub(super) fn trip(&self, pooled: PooledConnection, why: &str) {
        let mut state = self.state();
        // One outage is tripped once, however many requests fail in it.
        if state.outages == pooled.outage {
            self.go_down(&mut state, why);
        }
    }

    /// Takes the pool down if it is up, because an event was decided offline and the reconnector has to
    /// publish it. Returns whether it was up.
    pub(super) fn trip_if_up(&self, why: &str) -> bool {
        let mut state = self.state();
        let was_up = state.is_up;
        if was_up {
            self.go_down(&mut state, why);
        }
        was_up
    }

    fn go_down(&self, state: &mut PoolState, why: &str) {
        state.is_up = false;
        state.is_returning = false;
        state.idle.clear();
        state.open = 0;
        state.outages += 1;
        state.down_reason = Some(why.to_owned());
        // Whoever waits for a connection decides offline at once.
        self.changed.notify_all();
        self.work.notify_all();
    }

    /// Records why the latest attempt to reconnect failed.
    pub(super) fn set_down_reason(&self, why: String) {
        self.state().down_reason = Some(why);
    }

    /// Puts the pool back into service.
    pub(super) fn restore(&self, connections: Vec<Connection>) {
        let mut state = self.state();
        state.open = connections.len();
        state.idle = connections.into();
        state.is_up = true;
        state.is_returning = false;
        state.down_reason = None;
        self.changed.notify_all();
    }

    /// Adds a connection, unless the pool went down while it was made.
    pub(super) fn add(&self, connection: Connection) {
        let mut state = self.state();
        if state.is_up {
            state.open += 1;
            state.idle.push_back(connection);
            self.changed.notify_one();
        }
    }

    /// How many connections are missing. A pool that is down misses none: the reconnector restores it
    /// with one.
    pub(super) fn missing(&self, wanted: usize) -> usize {
        let state = self.state();
        if state.is_up {
            wanted.saturating_sub(state.open)
        } else {
            0
        }
    }

    /// Ends the reconnector.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        self.work.notify_all();
    }

    /// Waits until the reconnector has something to do, at most `at_most`: the pool is no longer as it
    /// `was_up`, or it has fewer than `wanted` connections. Returns false once the pool is closed.
    pub(super) fn wait_for_work(&self, at_most: Duration, was_up: bool, wanted: usize) -> bool {
        let state = self.state();
        let idle = |state: &mut PoolState| {
            let has_lost = state.is_up && state.open < wanted;
            !state.is_closed && !has_lost && state.is_up == was_up
        };
        let (state, _) = self
            .work
            .wait_timeout_while(state, at_most, idle)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        !state.is_closed
    }
}
