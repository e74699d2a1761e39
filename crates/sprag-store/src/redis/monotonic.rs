//! The one place of the Redis store that reads a clock: deadlines and the offset to Redis' time
//! need one that never jumps.

use std::time::Instant;

/// Now, by the clock that only goes on.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline for the network is about real time; what is judged gets its time from the event"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}
