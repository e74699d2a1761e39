//! The only place of the Redis store that reads a clock. Deadlines and the offset to Redis' clock need
//! one that never jumps.

use std::time::Instant;

/// The time now, on a clock that never goes back.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline for the network is about real time; what is judged gets its time from the event"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}
