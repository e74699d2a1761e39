//! What happens, told to whoever listens, without ever making a decision wait.
//!
//! A dashboard that stalls must not stall the agents. So each listener has a queue of its own with a
//! bound; when it is full, further records are counted instead of kept, and the listener is told at
//! that place in the stream how many it missed. It can fetch them from the log by their numbers.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sprag_store::Record;

/// How many records wait for a listener that is busy.
pub const FEED_LENGTH: usize = 1024;

/// One thing that a listener is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A record was appended to the log. Records of different threads may arrive slightly out of the
    /// order of their numbers.
    Record(Arc<Record>),
    /// The listener was too slow: this many records are missing here.
    Missed(u64),
}

#[derive(Debug)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    /// How many may wait.
    room: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    told: VecDeque<Told>,
    closed: bool,
    /// The listener sleeps and must be woken: waking one that doesn't costs a call to the system.
    asleep: bool,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everyone who listens.
#[derive(Debug, Default)]
pub(crate) struct Feed(Mutex<Vec<Weak<Queue>>>);

impl Feed {
    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Queue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self, room: usize) -> Subscription {
        let queue = Arc::new(Queue {
            waiting: Mutex::default(),
            arrived: Condvar::new(),
            room,
        });
        self.listeners().push(Arc::downgrade(&queue));
        Subscription(queue)
    }

    /// Tells everyone; those who went away are forgotten.
    pub(crate) fn tell(&self, record: &Arc<Record>) {
        self.listeners().retain(|listener| {
            let Some(queue) = listener.upgrade() else {
                return false;
            };
            let mut waiting = queue.waiting();
            push(&mut waiting.told, queue.room, record);
            if std::mem::take(&mut waiting.asleep) {
                queue.arrived.notify_one();
            }
            true
        });
    }
}

fn push(told: &mut VecDeque<Told>, room: usize, record: &Arc<Record>) {
    if told.len() < room {
        told.push_back(Told::Record(Arc::clone(record)));
    } else if let Some(Told::Missed(missed)) = told.back_mut() {
        *missed = missed.saturating_add(1);
    } else {
        told.push_back(Told::Missed(1));
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        for queue in self.listeners().iter().filter_map(Weak::upgrade) {
            queue.waiting().closed = true;
            queue.arrived.notify_all();
        }
    }
}

/// What a guard decides and notes from now on. Ends when the guard is gone.
///
/// It hears what goes through this guard and its clones. What other processes write to the same
/// file is in the log.
#[derive(Debug)]
pub struct Subscription(Arc<Queue>);

impl Subscription {
    /// The next thing, where there is one already. For async code: it never waits.
    #[must_use]
    pub fn try_next(&self) -> Option<Told> {
        self.0.waiting().told.pop_front()
    }

    /// The next thing; none when the guard is gone.
    #[must_use]
    pub fn wait(&self) -> Option<Told> {
        let mut waiting = self.0.waiting();
        loop {
            if let Some(told) = waiting.told.pop_front() {
                return Some(told);
            }
            if waiting.closed {
                return None;
            }
            waiting.asleep = true;
            let woken = self.0.arrived.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next thing; none when nothing came for `timeout` or the guard is gone.
    #[must_use]
    pub fn wait_for(&self, timeout: Duration) -> Option<Told> {
        let waiting = self.0.waiting();
        let woken = self
            .0
            .arrived
            .wait_timeout_while(waiting, timeout, |waiting| {
                waiting.asleep = waiting.told.is_empty() && !waiting.closed;
                waiting.asleep
            });
        let (mut waiting, _) = woken.unwrap_or_else(PoisonError::into_inner);
        waiting.told.pop_front()
    }
}

impl Iterator for Subscription {
    type Item = Told;

    fn next(&mut self) -> Option<Told> {
        self.wait()
    }
}
