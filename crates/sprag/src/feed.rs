//! Streams records to listeners without ever making a decision wait.
//!
//! A dashboard that stalls must not stall the agents. So each listener has a queue of its own with a
//! bound; when it is full, further records are counted instead of kept, and the listener learns at
//! that place in the stream how many it missed. It can fetch them from the log by their numbers.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sprag_store::Record;

/// How many records wait for a listener that is busy.
pub const FEED_LENGTH: usize = 1024;

/// One item of a feed.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedItem {
    /// A record was appended to the log. Records of different threads may arrive slightly out of the
    /// order of their numbers.
    Record(Arc<Record>),
    /// The listener was too slow: this many records are missing here.
    Missed(u64),
}

#[derive(Debug)]
struct SubscriberQueue {
    queued: Mutex<QueuedItems>,
    arrived: Condvar,
    /// How many may wait.
    room: usize,
}

#[derive(Debug, Default)]
struct QueuedItems {
    items: VecDeque<FeedItem>,
    closed: bool,
    /// The listener sleeps and must be woken: waking one that doesn't costs a call to the system.
    asleep: bool,
}

impl SubscriberQueue {
    fn queued(&self) -> MutexGuard<'_, QueuedItems> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everyone who listens.
#[derive(Debug, Default)]
pub(crate) struct Feed(Mutex<Vec<Weak<SubscriberQueue>>>);

impl Feed {
    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<SubscriberQueue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self, room: usize) -> Subscription {
        let queue = Arc::new(SubscriberQueue {
            queued: Mutex::default(),
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
            let mut queued = queue.queued();
            push(&mut queued.items, queue.room, record);
            if std::mem::take(&mut queued.asleep) {
                queue.arrived.notify_one();
            }
            true
        });
    }
}

fn push(items: &mut VecDeque<FeedItem>, room: usize, record: &Arc<Record>) {
    if items.len() < room {
        items.push_back(FeedItem::Record(Arc::clone(record)));
    } else if let Some(FeedItem::Missed(missed)) = items.back_mut() {
        *missed = missed.saturating_add(1);
    } else {
        items.push_back(FeedItem::Missed(1));
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        for queue in self.listeners().iter().filter_map(Weak::upgrade) {
            queue.queued().closed = true;
            queue.arrived.notify_all();
        }
    }
}

/// What a guard decides and notes from now on. Ends when the guard is gone.
///
/// It hears what goes through this guard and its clones. What other processes write to the same
/// file is in the log.
#[derive(Debug)]
pub struct Subscription(Arc<SubscriberQueue>);

impl Subscription {
    /// The next thing, where there is one already. For async code: it never waits.
    #[must_use]
    pub fn try_next(&self) -> Option<FeedItem> {
        self.0.queued().items.pop_front()
    }

    /// The next thing; none when the guard is gone.
    #[must_use]
    pub fn wait(&self) -> Option<FeedItem> {
        let mut queued = self.0.queued();
        loop {
            if let Some(items) = queued.items.pop_front() {
                return Some(items);
            }
            if queued.closed {
                return None;
            }
            queued.asleep = true;
            let woken = self.0.arrived.wait(queued);
            queued = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next thing; none when nothing came for `timeout` or the guard is gone.
    #[must_use]
    pub fn wait_for(&self, timeout: Duration) -> Option<FeedItem> {
        let queued = self.0.queued();
        let woken = self
            .0
            .arrived
            .wait_timeout_while(queued, timeout, |queued| {
                queued.asleep = queued.items.is_empty() && !queued.closed;
                queued.asleep
            });
        let (mut queued, _) = woken.unwrap_or_else(PoisonError::into_inner);
        queued.items.pop_front()
    }
}

impl Iterator for Subscription {
    type Item = FeedItem;

    fn next(&mut self) -> Option<FeedItem> {
        self.wait()
    }
}
