//! The time as Redis tells it.
//!
//! Pods whose clocks differ would disagree on every window. So each pod counts on with its own clock
//! that never jumps, from the time that Redis told with its last answers. The answer that came
//! back fastest is the best one; after a few seconds any will do again.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sprag_core::Timestamp;

use super::monotonic;

/// How long the best answer counts.
const GOOD_FOR: Duration = Duration::from_secs(5);

/// Redis' time.
#[derive(Debug, Default)]
pub(super) struct RedisTime(Mutex<Option<ClockSample>>);

#[derive(Debug, Clone, Copy)]
struct ClockSample {
    at: Instant,
    micros: u64,
    took: Duration,
}

impl RedisTime {
    /// Redis said `seconds` and `micros` somewhen between `sent` and now.
    pub(super) fn observe(&self, sent: Instant, seconds: u64, micros: u64) {
        let now = monotonic::now();
        let took = now.saturating_duration_since(sent);
        let mut sample = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_better = sample.is_none_or(|before| {
            took <= before.took || now.saturating_duration_since(before.at) > GOOD_FOR
        });
        if is_better {
            *sample = Some(ClockSample {
                at: sent + took / 2,
                micros: seconds.saturating_mul(1_000_000).saturating_add(micros),
                took,
            });
        }
    }

    /// The time now; none before Redis ever answered.
    pub(super) fn now(&self) -> Option<Timestamp> {
        let sample = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let since = monotonic::now().saturating_duration_since(sample.at);
        let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        Some(Timestamp(sample.micros.saturating_add(micros) / 1_000))
    }
}
