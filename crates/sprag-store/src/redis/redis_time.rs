//! Redis' clock, as far as a pod can know it.
//!
//! Pods whose clocks differ would disagree on every window. So each pod takes the time from Redis'
//! replies and counts on with its own monotonic clock. The reply with the shortest round trip is the
//! most exact one; after a few seconds any newer one replaces it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sprag_core::Timestamp;

use super::monotonic;

/// How long the best sample is kept.
const GOOD_FOR: Duration = Duration::from_secs(5);

/// The best sample of Redis' clock.
#[derive(Debug, Default)]
pub(super) struct RedisTime(Mutex<Option<ClockSample>>);

#[derive(Debug, Clone, Copy)]
struct ClockSample {
    at: Instant,
    micros: u64,
    took: Duration,
}

impl RedisTime {
    /// Takes a sample: Redis' clock showed `seconds` and `micros` at some moment between `sent` and now.
    pub(super) fn observe(&self, sent: Instant, seconds: u64, micros: u64) {
        let now = monotonic::now();
        let took = now.saturating_duration_since(sent);
        let mut sample = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_better = sample.is_none_or(|before| {
            took <= before.took || now.saturating_duration_since(before.at) > GOOD_FOR
        });
        if is_better {
            *sample = Some(ClockSample {
                // On average Redis read its clock halfway.
                at: sent + took / 2,
                micros: seconds.saturating_mul(1_000_000).saturating_add(micros),
                took,
            });
        }
    }

    /// The time now; none before the first reply.
    pub(super) fn now(&self) -> Option<Timestamp> {
        let sample = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let since = monotonic::now().saturating_duration_since(sample.at);
        let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        Some(Timestamp(sample.micros.saturating_add(micros) / 1_000))
    }
}
