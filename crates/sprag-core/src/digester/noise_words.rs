//! The words that mark noise: names of days and units, and names of volatile values.

use super::words::WordList;

const UNITS: WordList = WordList::new(
    "ns us µs μs ms s sec secs second seconds min mins minute minutes millis milliseconds microseconds",
);
const WEEKDAYS: WordList = WordList::new("Mon Tue Wed Thu Fri Sat Sun");
const MONTHS: WordList = WordList::new("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec");

/// What a shell says of a program that was ended.
const SIGNALS: WordList = WordList::new(
    "Killed Aborted Terminated Segmentation Hangup Interrupt Quit Trace Bus Floating Illegal Alarm",
);

/// Without underscores and in small letters.
const VOLATILE: WordList = WordList::new(
    "pid ppid pgid tid shellid requestid reqid traceid spanid correlationid nonce timestamp \
     durationms duration elapsed elapsedms latency latencyms took etag checkedat port seed \
     goroutine",
);

/// After one of these, a number that stands behind `=`, or a word of letters and digits, names one request.
const ASKED: WordList = WordList::new("req Req REQ request Request ray Ray");

/// Whether what follows `word` may name one request.
pub(super) fn is_asked(word: &str) -> bool {
    ASKED.has(word)
}

/// A unit of time, as it stands after a number.
pub(super) fn is_unit(word: &str) -> bool {
    UNITS.has(word)
}

/// The first word of what a shell says of a program that was ended.
pub(super) fn is_signal(word: &str) -> bool {
    SIGNALS.has(word)
}

pub(super) fn is_weekday(word: &str) -> bool {
    word.len() == 3 && WEEKDAYS.has(word)
}

pub(super) fn is_month(word: &str) -> bool {
    word.len() == 3 && MONTHS.has(word)
}

/// Whether what follows `word` and has a digit in it is a number of the run, not of the matter.
pub(super) fn is_volatile_name(word: &str) -> bool {
    let word = word.as_bytes();
    if !may_be_volatile(word) {
        return false;
    }
    let mut folded = [0_u8; 16];
    let mut length = 0;
    for byte in word.iter().filter(|byte| **byte != b'_') {
        let Some(slot) = folded.get_mut(length) else {
            return false;
        };
        *slot = byte.to_ascii_lowercase();
        length += 1;
    }
    VOLATILE.has_bytes(folded.get(..length).unwrap_or_default())
}

/// Every word of a text comes by here: most can't be one of the names by how they start and end.
fn may_be_volatile(word: &[u8]) -> bool {
    let (Some(first), Some(last)) = (word.first(), word.last()) else {
        return false;
    };
    let starts = matches!(
        first.to_ascii_lowercase(),
        b'c' | b'd' | b'e' | b'g' | b'l' | b'n' | b'p' | b'r' | b's' | b't' | b'_'
    );
    let ends = matches!(
        last.to_ascii_lowercase(),
        b'd' | b'e' | b'g' | b'k' | b'n' | b'p' | b's' | b't' | b'y' | b'_'
    );
    starts && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_volatile_name_is_known_however_it_is_written() {
        for name in VOLATILE.list() {
            let upper = name.to_ascii_uppercase();
            for name in [name.to_owned(), upper, format!("_{name}_")] {
                assert!(is_volatile_name(&name), "{name}");
            }
        }
        assert!(is_volatile_name("request_id") && is_volatile_name("checkedAt"));
        assert!(!is_volatile_name("word") && !is_volatile_name("") && !is_volatile_name("paid"));
    }
}
