//! One thread that hears what the guard decides, and tells everyone who watches.
//!
//! Decisions must not wait for those who look on. So one thread takes what the guard's feed tells, puts it in
//! order, hands it to metrics, charts, log lines and notifications, and passes it on to the
//! clients of the stream. It also prunes the log now and then, which takes too long for
//! the threads that answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sprag::{FeedItem, Guard, LogQuery, Record, Subscription};
use tokio::sync::broadcast;

use crate::limits;
use crate::watchers::Watchers;

/// How long records are gathered before they are passed on: those of different threads arrive
/// slightly out of order.
const GATHER: Duration = Duration::from_millis(5);
/// How often the thread looks whether it shall end.
const IDLE: Duration = Duration::from_millis(100);
/// How many records are fetched from the log where the feed skipped some.
const FETCH: usize = 1_000;

/// What clients of the stream hear.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// A record, in the order of the log.
    Record(Arc<Record>),
    /// This many records were not passed on; the log has them.
    Missed(u64),
}

/// Where clients of the stream listen.
#[derive(Debug)]
pub(crate) struct Hub {
    news: broadcast::Sender<News>,
}

impl Hub {
    pub(crate) fn new() -> Arc<Self> {
        let (news, _) = broadcast::channel(limits::STREAM_BEHIND);
        Arc::new(Self { news })
    }

    /// Hears everything from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }
}

/// The thread's own state.
pub(crate) struct Desk {
    guard: Guard,
    hub: Arc<Hub>,
    watchers: Watchers,
    /// The last record that was passed on.
    last: u64,
    /// Records that wait for one before them.
    early: BTreeMap<u64, Arc<Record>>,
    /// The record that was missing the last time.
    missing: Option<u64>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl Desk {
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

    /// Works until `ended` says so. The guard is held here, so its end can't be waited for.
    pub(crate) fn run(mut self, feed: &Subscription, ended: &dyn Fn() -> bool) {
        loop {
            match feed.wait_for(IDLE) {
                Some(first) => self.gather(first, feed),
                None if ended() => break,
                None => self.look_elsewhere(),
            }
            self.pass_on();
            self.watchers.look(&self.guard);
        }
        self.watchers.end();
    }

    /// What other processes wrote into a store that they share is news here too.
    fn look_elsewhere(&mut self) {
        let store = self.guard.store();
        if !store.others_write() {
            return;
        }
        let last = store.status().last_seq;
        if last > self.last {
            self.fill(last.saturating_add(1));
        } else if last > 0 {
            // A shared store that lost records gives their numbers again.
            self.last = last;
        }
    }

    fn gather(&mut self, first: FeedItem, feed: &Subscription) {
        // Nobody wakes it: what comes meanwhile is taken in one go.
        std::thread::park_timeout(GATHER);
        let mut next = Some(first);
        while let Some(told) = next {
            // What the feed had no room for shows as a gap in the numbers.
            if let FeedItem::Record(record) = told
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

    /// Passes on what is in order. A record that is still missing when it was missing before does not
    /// come through the feed.
    fn pass_on(&mut self) {
        loop {
            // The log was read past some of them before the feed told them.
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

    /// Fetches what lies before `before`: notes of the store itself, and what the feed had no room for.
    /// More than a page is only counted.
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
            // Nobody may be listening.
            let _ = self.hub.news.send(News::Missed(missed));
            self.watchers.missed(missed);
            self.last = before.saturating_sub(1);
        }
    }

    fn pass(&mut self, record: Arc<Record>) {
        self.last = record.seq;
        self.watchers.saw(&record);
        let seq = record.seq;
        // Nobody may be listening.
        let _ = self.hub.news.send(News::Record(record));
        self.guard.prune_if_due(seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServerConfig;
    use crate::metrics::Metrics;
    use sprag::Event;

    #[test]
    fn what_the_log_told_before_the_feed_did_is_passed_on_once() {
        let guard = Guard::builder().build().unwrap();
        let (hub, metrics) = (Hub::new(), Arc::new(Metrics::new()));
        let mut heard = hub.listen();
        let config = ServerConfig::new("sprag.db");
        let watchers = Watchers::start(&config, &guard, &metrics).unwrap();
        let mut desk = Desk::new(guard.clone(), hub, watchers);
        let event = br#"{"type":"call","session":"s1","tool":"read"}"#;
        for _ in 0..3 {
            guard.check(Event::parse(event).unwrap()).unwrap();
        }
        let query = LogQuery {
            after: Some(desk.last),
            ..LogQuery::default()
        };
        let records = guard.records(&query).unwrap().items;
        let last = records.last().unwrap().clone();
        let before = last.seq + 1;
        desk.early.insert(last.seq, Arc::new(last));
        desk.fill(before);
        desk.pass_on();
        desk.pass_on();
        let mut told = Vec::new();
        while let Ok(News::Record(record)) = heard.try_recv() {
            told.push(record.seq);
        }
        let expected: Vec<u64> = records.iter().map(|record| record.seq).collect();
        assert_eq!(told, expected);
    }
}
