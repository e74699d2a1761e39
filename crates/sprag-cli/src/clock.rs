//! The time, for commands that stamp what they do.
//!
//! Everything below takes its time as an argument; that is what makes a run repeatable.

use sprag::{Clock as _, SystemClock, Timestamp};

/// The time now.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}
