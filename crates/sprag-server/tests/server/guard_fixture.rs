//! A guard in memory with a clock that is moved by hand, and what it tells.

use std::sync::Arc;

use serde_json::Value;
use sprag::{
    FeedItem, Guard, Millis, Policy, Record, Role, Subscription, TestClock, Timestamp, Verdict,
};

/// When tests start: 2025-10-09T08:53:20Z.
pub(crate) const START: Timestamp = Timestamp(1_760_000_000_000);

pub(crate) struct GuardFixture {
    pub(crate) guard: Guard,
    pub(crate) clock: Arc<TestClock>,
    heard: Subscription,
}

impl GuardFixture {
    pub(crate) fn new(policy: &str) -> Self {
        Self::of(Guard::builder(), policy)
    }

    pub(crate) fn of(builder: sprag::GuardBuilder, policy: &str) -> Self {
        let clock = Arc::new(TestClock::at(START));
        let policy = Policy::from_toml(policy).unwrap();
        let guard = builder
            .policy(policy)
            .clock(Arc::clone(&clock))
            .build()
            .unwrap();
        Self {
            heard: guard.subscribe(),
            guard,
            clock,
        }
    }

    /// Tells an event, a second after the one before.
    pub(crate) fn tell(&self, event: Value) -> Verdict {
        self.clock.advance(Millis::SECOND);
        let event = sprag::Event::from_value(&event).unwrap();
        self.guard.check_as(Role::Operator, event).unwrap()
    }

    /// The records since the last time.
    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        let mut records = Vec::new();
        while let Some(told) = self.heard.try_next() {
            match told {
                FeedItem::Record(record) => records.push(record),
                FeedItem::Missed(missed) => panic!("missed {missed}"),
            }
        }
        records
    }
}
