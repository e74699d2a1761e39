//! What came of an approach, as the rules see it: digests and a few small features.
//!
//! The features say what the digests can't: whether an answer is longer than an acknowledgement,
//! whether it says that something is not there, whether it ends in a failure, and which numbers it
//! begins with. A failure is compared in the stricter forms of `failure.rs`.

use crate::digest::{DigestKey, Fingerprint};
use crate::event::{EventError, StepEvent};
use crate::observation::{Outcome, Tone};
use crate::{MAX_FAILURE_WORDS, MAX_NUMBERS};

use super::failure::{Form, form, telling_words};
use super::payload;
use super::probe::short_text;
use super::shape::shape;
use super::tone::{ends_failing, read};

/// A larger number is not one that a person watches.
const MAX_NUMBER: u64 = 1_000_000_000_000;

/// The outcome of a step.
pub(super) fn of_step(key: &DigestKey, event: &StepEvent) -> Result<Outcome, EventError> {
    let result = payload::result(key, event.result.as_ref(), event.is_error)?;
    let answer = read(&result.text, event.is_error);
    let failed = answer.tone == Tone::Failure && !result.oversized;
    let normal = if failed {
        let firm = form(&result.form, Form::Firm);
        key.digest(&[b"failure\n", firm.as_bytes()])
    } else {
        result.normal
    };
    // Only what says itself that it failed: a guess that was wrong may be luck that ran out.
    let bare = if failed && answer.failed {
        form(&result.form, Form::Rough)
    } else {
        let mut bare = String::new();
        shape(&result.form, &mut bare);
        bare
    };
    let words = if answer.tone == Tone::Failure {
        let words = telling_words(&answer.body).take(MAX_FAILURE_WORDS);
        words.map(|word| hash_of(key, &word)).collect()
    } else {
        Vec::new()
    };
    Ok(Outcome {
        exact: result.exact,
        normal,
        is_error: answer.failed,
        tone: answer.tone,
        shape: if result.oversized {
            0
        } else {
            short(key, &bare)
        },
        long: answer.long,
        absent: answer.absent,
        one_word: answer.body.split_whitespace().nth(1).is_none(),
        pending: answer.pending,
        weak: answer.weak,
        words,
        ends_failing: answer.tone == Tone::Failure || ends_failing(&result.form),
        numbers: numbers(&result.form),
        said: if result.oversized {
            0
        } else {
            short_text(key, &result.text)
        },
        oversized: result.oversized,
    })
}

/// A word as a failure keeps it: enough to know it again, too little to find it out.
fn hash_of(key: &DigestKey, word: &str) -> u16 {
    key.fingerprint_16(Fingerprint::FailureWord, word.as_bytes())
}

pub(super) fn short(key: &DigestKey, text: &str) -> u32 {
    key.fingerprint_32(Fingerprint::Shape, text.as_bytes())
}

/// The first numbers of a text without noise, in thousandths.
pub(super) fn numbers(normal: &str) -> Vec<u64> {
    let mut found = Vec::new();
    let mut rest = normal;
    while let Some(at) = rest.bytes().position(|byte| byte.is_ascii_digit()) {
        let (_, from) = rest.split_at(at);
        let (whole, after) = digits(from);
        let (thousandths, after) = match after.strip_prefix('.').map(digits) {
            Some((decimals, after)) if !decimals.is_empty() => (decimals, after),
            _ => ("", after),
        };
        found.push(value(whole, thousandths));
        if found.len() == MAX_NUMBERS {
            break;
        }
        rest = after;
    }
    found
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

fn value(whole: &str, decimals: &str) -> u64 {
    let whole: u64 = whole.parse().unwrap_or(MAX_NUMBER);
    let thousandths = decimals
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(3)
        .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    whole.min(MAX_NUMBER) * 1000 + thousandths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_kept_in_thousandths() {
        assert_eq!(
            numbers("stage 2: 37.5 of 160 done"),
            [2_000, 37_500, 160_000]
        );
        assert_eq!(numbers("v1.2.3"), [1_200, 3_000]);
        assert_eq!(numbers("1 2 3 4 5 6 7 8").len(), MAX_NUMBERS);
        assert_eq!(numbers("99999999999999999999"), [MAX_NUMBER * 1000]);
        assert!(numbers("none").is_empty());
    }
}
