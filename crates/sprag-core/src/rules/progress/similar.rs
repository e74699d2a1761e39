//! Failures that say nearly the same: the attempt's own words came back in them.

use crate::cell::progress::Progress;
use crate::observation::{Outcome, Tone};
use crate::time::Timestamp;

use super::waiting::tenths;

/// Of the words of two failures so many tenths are the same.
const SIMILAR_TENTHS: usize = 6;

/// Whether a failure says nearly what the last one said, with no change in between.
pub(super) fn is_similar(progress: &Progress, outcome: &Outcome) -> bool {
    progress.failure.as_ref().is_some_and(|last| {
        progress.changed <= last.step
            && words_in_common(&last.words, &outcome.words) * 10
                >= last.words.len().max(outcome.words.len()).max(2) * SIMILAR_TENTHS
    })
}

/// Whether a failure has the words of the last one: it differs in numbers and paths at most.
pub(super) fn says_the_same(progress: &Progress, outcome: &Outcome) -> bool {
    let last = progress.failure.as_ref();
    last.is_some_and(|last| last.words == outcome.words)
}

/// How many words two failures share: place by place, or, if one is longer, at both ends.
fn words_in_common(left: &[u16], right: &[u16]) -> usize {
    let pairs = || left.iter().zip(right);
    if left.len() == right.len() {
        return pairs().filter(|(left, right)| left == right).count();
    }
    let start = pairs().take_while(|(left, right)| left == right).count();
    let ends = left.iter().rev().zip(right.iter().rev());
    let most = left.len().min(right.len()) - start;
    let end = ends
        .take(most)
        .take_while(|(left, right)| left == right)
        .count();
    start + end
}

/// Keeps the words of a failure.
pub(super) fn remember_failure(progress: &mut Progress, outcome: &Outcome, now: Timestamp) {
    if outcome.tone == Tone::Failure && !outcome.words.is_empty() {
        let last = progress.failure.get_or_insert_default();
        last.step = progress.step;
        last.tenths = tenths(now);
        last.words.clone_from(&outcome.words);
    }
}
