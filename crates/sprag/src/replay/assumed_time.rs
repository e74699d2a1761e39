//! When something happened whose recording does not say so.
//!
//! Some recordings have no times. `sprag eval` and `sprag replay` must judge them alike, so both take
//! the time of such an event from here: a second after the event before it. That is too short a gap
//! to be a lull: times that were not recorded excuse nothing.

use sprag_core::{Millis, Timestamp};

/// When a recording starts whose first event does not say.
const START: Timestamp = Timestamp(1_760_000_000_000);

/// The time of an event without one, whose recording's event before it was at `last`.
#[must_use]
pub fn assumed_time(last: Option<Timestamp>) -> Timestamp {
    last.map_or(START, |last| last.plus(Millis::SECOND))
}
