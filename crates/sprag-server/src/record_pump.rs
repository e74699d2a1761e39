//! The thread that takes records from the guard's feed and passes them on, in the order of the log.
//!
//! Decisions must not wait for whoever looks on. So one thread takes the records that the feed delivers, puts
//! them in order and hands them to metrics, charts, log lines and notifications, and to the clients of
//! `/v1/stream`. It also prunes the log now and then, which takes too long for the threads that answer requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sprag::{Event, FeedItem, Guard, LogQuery, Record, Role, Subscription};
use tokio::sync::broadcast;

use crate::limits;
use crate::watchers::Watchers;

/// How long records are collected before they are passed on: records of different threads arrive slightly out
/// of order.
const GATHER: Duration = Duration::from_millis(5);
/// How often the thread checks whether the server ends.
const IDLE: Duration = Duration::from_millis(100);
/// How many records are read from the log when the feed skipped some.
const FETCH: usize = 1_000;

/// Where clients of the stream subscribe.
#[derive(Debug)]
pub(crate) struct Hub {
    items: broadcast::Sender<FeedItem>,
}

impl Hub {
    pub(crate) fn new() -> Arc<Self> {
        let (items, _) = broadcast::channel(limits::STREAM_BEHIND);
        Arc::new(Self { items })
    }

    /// Receives everything from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<FeedItem> {
        self.items.subscribe()
    }
}

/// The state of the thread.
pub(crate) struct RecordPump {
    guard: Guard,
    hub: Arc<Hub>,
    watchers: Watchers,
    /// The number of the last record that was passed on.
    last: u64,
    /// Records that arrived before one with a lower number.
    early: BTreeMap<u64, Arc<Record>>,
    /// The record that was missing the last time.
    missing: Option<u64>,
}

impl std::fmt::Debug for RecordPump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordPump")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl RecordPump {
    pub(crate) fn new(guard: Guard, hub: Arc<Hub>, watchers: Watchers) -> Self {
        let last = guard.status().last_seq;
        Self {
            guard,
            hub,
            watchers,
            last,
            early: BTreeMap::new(),
            missing: None,
        }
    }

    /// Works until `ended` returns true. The feed never ends by itself: the pump holds a guard.
    pub(crate) fn run(mut self, feed: &Subscription, ended: &dyn Fn() -> bool) {
        loop {
            match feed.wait_for(IDLE) {
                Some(first) => self.gather(first, feed),
                None if ended() => break,
                None => self.read_foreign_records(),
            }
            self.pass_on();
            self.watchers.look(&self.guard);
            for event in self.watchers.unanswerable() {
                self.say(event);
            }
        }
        self.watchers.end();
    }

    /// Passes on what other processes wrote to a shared store: the feed has only what this process decided.
    fn read_foreign_records(&mut self) {
        let store = self.guard.store();
        if !store.others_write() {
            return;
        }
        let last = store.status().last_seq;
        if last > self.last {
            self.fill(last.saturating_add(1));
        } else if last > 0 {
            // A shared store that lost records assigns their numbers again.
            self.last = last;
        }
    }

    fn gather(&mut self, first: FeedItem, feed: &Subscription) {
        // Nobody unparks this thread: records that arrive in the meantime are taken in one go.
        std::thread::park_timeout(GATHER);
        let mut next = Some(first);
        while let Some(item) = next {
            // Records that the feed had no room for show up as a gap in the numbers.
            if let FeedItem::Record(record) = item
                && record.seq > self.last
            {
                self.early.insert(record.seq, record);
            }
            if self.early.len() >= FETCH {
                break;
            }
            next = feed.try_next();
        }
    }

    /// Passes on records that are in order. A record that is missing for the second time in a row does not come
    /// through the feed, and is read from the log.
    fn pass_on(&mut self) {
        loop {
            // The log may have been read past records that the feed delivers later.
            self.early = self.early.split_off(&self.last.saturating_add(1));
            while let Some(record) = self.early.remove(&self.last.saturating_add(1)) {
                self.pass(record);
            }
            let next = self.last.saturating_add(1);
            let Some(before) = self.early.keys().next().copied() else {
                self.missing = None;
                return;
            };
            if self.missing.replace(next) != Some(next) {
                return;
            }
            self.fill(before);
        }
    }

    /// Reads the records before `before` from the log: notes of the store itself, and records that the feed had
    /// no room for. Records beyond one page are only counted.
    fn fill(&mut self, before: u64) {
        let query = LogQuery {
            after: Some(self.last),
            limit: FETCH,
            ..LogQuery::default()
        };
        let page = self.guard.records(&query).map(|page| page.items);
        for record in page.unwrap_or_default() {
            if record.seq < before {
                self.pass(Arc::new(record));
            }
        }
        let missed = before.saturating_sub(self.last).saturating_sub(1);
        if missed > 0 {
            // An error means that nobody listens.
            let _ = self.hub.items.send(FeedItem::Missed(missed));
            self.watchers.missed(missed);
            self.last = before.saturating_sub(1);
        }
    }

    /// Says what the guard itself has to say. A question that was answered meanwhile needs no answer.
    fn say(&self, event: Event) {
        if let Err(error) = self.guard.check_as(Role::Operator, event) {
            tracing::debug!(target: "sprag", "the guard's own answer was not needed: {error}");
        }
    }

    fn pass(&mut self, record: Arc<Record>) {
        self.last = record.seq;
        if let Some(event) = self.watchers.observe(&record) {
            self.say(event);
        }
        let seq = record.seq;
        // An error means that nobody listens.
        let _ = self.hub.items.send(FeedItem::Record(record));
        self.guard.prune_if_due(seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServerConfig;
    use crate::metrics::Metrics;

    #[test]
    fn a_record_that_the_log_had_before_the_feed_is_passed_on_once() {
        let guard = Guard::builder().build().unwrap();
        let (hub, metrics) = (Hub::new(), Arc::new(Metrics::new()));
        let mut received = hub.listen();
        let config = ServerConfig::new("sprag.db");
        let watchers = Watchers::start(&config, &guard, &metrics, None).unwrap();
        let mut pump = RecordPump::new(guard.clone(), hub, watchers);
        let event = br#"{"type":"call","session":"s1","tool":"read"}"#;
        for _ in 0..3 {
            guard.check(Event::parse(event).unwrap()).unwrap();
        }
        let query = LogQuery {
            after: Some(pump.last),
            ..LogQuery::default()
        };
        let records = guard.records(&query).unwrap().items;
        let last = records.last().unwrap().clone();
        let before = last.seq + 1;
        pump.early.insert(last.seq, Arc::new(last));
        pump.fill(before);
        pump.pass_on();
        pump.pass_on();
        let mut passed = Vec::new();
        while let Ok(FeedItem::Record(record)) = received.try_recv() {
            passed.push(record.seq);
        }
        let expected: Vec<u64> = records.iter().map(|record| record.seq).collect();
        assert_eq!(passed, expected);
    }
}
