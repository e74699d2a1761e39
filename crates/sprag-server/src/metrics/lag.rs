//! How old the oldest record is that is not on disk yet.
//!
//! The store tells how many records wait, not since when. So a few marks are kept, one for each tenth of a second
//! in which something happened: a record's number and its time. Bounded: a minute of marks. A lag that is
//! longer than that is told as the age of the oldest mark, which is at least as alarming.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sprag_core::{Millis, Timestamp};
use sprag_store::Record;

use super::Readings;

const MARK_EVERY: Millis = Millis(100);
const MARKS: usize = 600;

#[derive(Debug, Default)]
pub(super) struct LogLag(Mutex<VecDeque<(u64, Timestamp)>>);

impl LogLag {
    pub(super) fn observe(&self, record: &Record) {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = marks
            .back()
            .is_none_or(|(seq, at)| record.seq > *seq && record.at.since(*at) >= MARK_EVERY);
        if due {
            if marks.len() >= MARKS {
                marks.pop_front();
            }
            marks.push_back((record.seq, record.at));
        }
    }

    /// The lag in seconds; zero when everything is on disk.
    pub(super) fn seconds(&self, readings: &Readings) -> f64 {
        let status = &readings.status;
        if status.pending == 0 {
            return 0.0;
        }
        let oldest = status.last_seq.saturating_sub(status.pending) + 1;
        let marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = marks.iter().rev().find(|(seq, _)| *seq <= oldest);
        let since = before.or(marks.front()).map(|(_, at)| *at);
        let lag = since.map_or(Millis(0), |since| readings.now.since(since));
        std::time::Duration::from_millis(lag.0).as_secs_f64()
    }
}
