//! What happened over time, for charts: counts in buckets, in memory, bounded.
//!
//! Three rings of buckets hold the same counts at three grains: ten seconds for an hour, five minutes for a day,
//! an hour for thirty days. A record is counted into all three at once, so an answer at any grain is read and
//! never summed up. About half a megabyte, whatever happens.
//!
//! At the start the rings are empty; [`Stats::rebuild`] reads the end of the log into them, as far back as thirty days
//! or so many records, while new records are already counted. [`StatsResponse::complete_since`] says from when on
//! nothing is missing.

mod bucket;
mod rebuild;
mod response;
mod ring;

use std::sync::{Mutex, MutexGuard, PoisonError};

use sprag_core::{Millis, Timestamp};
use sprag_store::{Census, Record};

pub use response::{
    BucketCounts, EventCounts, SessionCounts, StatsQuery, StatsResponse, VerdictCounts,
};
use ring::Ring;

/// The grains: how long a bucket is, and how many there are. The newest bucket is never full, so each ring
/// has one more than its span: whoever asks for "the last hour" a moment later still gets its grain.
const GRAINS: [(Millis, usize); 3] = [
    (Millis(10_000), 361),
    (Millis(300_000), 289),
    (Millis(3_600_000), 721),
];

/// Counts over time.
#[derive(Debug)]
pub struct Stats {
    /// Records up to this one are for [`Stats::rebuild`].
    starts_after: u64,
    state: Mutex<StatsState>,
}

#[derive(Debug)]
struct StatsState {
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
            state: Mutex::new(StatsState {
                rings: GRAINS.map(|(step, length)| Ring::new(step, length)),
                complete_since: Some(now),
                rebuilt: false,
                missed: 0,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, StatsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a record.
    pub fn observe(&self, record: &Record) {
        if record.seq > self.starts_after {
            self.state().count(record);
        }
    }

    /// Remembers that records were missed: charts are too low by so many.
    pub fn missed(&self, records: u64) {
        let mut state = self.state();
        state.missed = state.missed.saturating_add(records);
    }

    /// Remembers how many sessions are in which state now; the last word in a bucket counts.
    pub fn levels(&self, now: Timestamp, census: Census) {
        for ring in &mut self.state().rings {
            if let Some(bucket) = ring.at(now) {
                bucket.levels = Some(census);
            }
        }
    }
}

impl StatsState {
    fn count(&mut self, record: &Record) {
        for ring in &mut self.rings {
            if let Some(bucket) = ring.at(record.at) {
                bucket.count(record);
            }
        }
    }
}
