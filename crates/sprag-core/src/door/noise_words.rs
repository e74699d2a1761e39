//! The words that tell noise: names of days and units, and names under which volatile values stand.

use super::words::Words;

const UNITS: Words = Words(
    "ns us µs μs ms s sec secs second seconds min mins minute minutes millis milliseconds microseconds",
);
const WEEKDAYS: Words = Words("Mon Tue Wed Thu Fri Sat Sun");
const MONTHS: Words = Words("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec");

/// Without underscores and in small letters.
const VOLATILE: Words = Words(
    "pid ppid pgid tid shellid requestid reqid traceid spanid correlationid nonce timestamp \
     durationms duration elapsed elapsedms latency latencyms took etag checkedat",
);

/// A unit of time, as it stands after a number.
pub(super) fn is_unit(word: &str) -> bool {
    UNITS.has(word)
}

pub(super) fn is_weekday(word: &str) -> bool {
    word.len() == 3 && WEEKDAYS.has(word)
}

pub(super) fn is_month(word: &str) -> bool {
    word.len() == 3 && MONTHS.has(word)
}

/// Whether what follows `word` and has a digit in it is a number of the run, not of the matter.
pub(super) fn is_volatile_name(word: &str) -> bool {
    let mut folded = [0_u8; 16];
    let mut length = 0;
    for byte in word.bytes().filter(|byte| *byte != b'_') {
        let Some(slot) = folded.get_mut(length) else {
            return false;
        };
        *slot = byte.to_ascii_lowercase();
        length += 1;
    }
    let folded = folded.get(..length).unwrap_or_default();
    std::str::from_utf8(folded).is_ok_and(|name| VOLATILE.has(name))
}
