//! What happened over time, for charts: counts in buckets, in memory, bounded.
//!
//! Three rings of buckets hold the same counts at three grains: ten seconds for an hour, five minutes for a day,
//! an hour for thirty days. A record is counted into all three at once, so an answer at any grain is read and
//! never summed up. About half a megabyte, whatever happens.
//!
//! At the start the rings are empty; [`Stats::rebuild`] reads the end of the log into them, as far back as thirty days
//! or so many records, while new records are already counted. [`StatsAnswer::complete_since`] says from when on
//! nothing is missing.

mod answer;
mod bucket;
mod rebuild;
mod ring;

use std::sync::{Mutex, MutexGuard, PoisonError};

use sprag_core::{Millis, Timestamp};
use sprag_store::{Census, Record};

pub use answer::{
    BucketCounts, EventCounts, SessionCounts, StatsAnswer, StatsQuery, VerdictCounts,
};
use ring::Ring;

/// The grains: how long a bucket is, and how many there are.
const GRAINS: [(Millis, usize); 3] = [
    (Millis(10_000), 360),
    (Millis(300_000), 288),
    (Millis(3_600_000), 720),
];

/// Counts over time.
#[derive(Debug)]
pub struct Stats {
    /// Records up to this one are for [`Stats::rebuild`].
    starts_after: u64,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    rings: [Ring; GRAINS.len()],
    /// From when on every record is counted.
    complete_since: Option<Timestamp>,
    rebuilt: bool,
    missed: u64,
}

impl Stats {
    /// Counts from the record after `last_seq` on: the log's last record when the listener that feeds
    /// this began to listen. What was before it is for [`Stats::rebuild`].
    #[must_use]
    pub fn new(last_seq: u64, now: Timestamp) -> Self {
        Self {
            starts_after: last_seq,
            held: Mutex::new(Held {
                rings: GRAINS.map(|(step, length)| Ring::new(step, length)),
                complete_since: Some(now),
                rebuilt: false,
                missed: 0,
            }),
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a record.
    pub fn saw(&self, record: &Record) {
        if record.seq > self.starts_after {
            self.held().count(record);
        }
    }

    /// Remembers that records were missed: charts are too low by so many.
    pub fn missed(&self, records: u64) {
        let mut held = self.held();
        held.missed = held.missed.saturating_add(records);
    }

    /// Remembers how many sessions are in which state now; the last word in a bucket counts.
    pub fn levels(&self, now: Timestamp, census: Census) {
        for ring in &mut self.held().rings {
            if let Some(bucket) = ring.at(now) {
                bucket.levels = Some(census);
            }
        }
    }
}

impl Held {
    fn count(&mut self, record: &Record) {
        for ring in &mut self.rings {
            if let Some(bucket) = ring.at(record.at) {
                bucket.count(record);
            }
        }
    }
}
