//! The one place where the binary reads the clock.
//!
//! Everything below takes its time as an argument; that is what makes a run repeatable.

use std::time::{SystemTime, UNIX_EPOCH};

use sprag_core::Timestamp;

/// The time now. A clock that stands before 1970 reads as 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "events that say no time happen now, and this is where now comes from"
)]
pub(crate) fn now() -> Timestamp {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
}
