//! What a session remembers of its steps: which approaches it tried and what came of them.
//!
//! The memory is small because a guard keeps one for every session: 64-bit prefixes of digests in
//! order of use, and for each approach an [`ApproachHistory`] of a few numbers. It grows gently while a session
//! is young, knows the 256 most recently used at most, and then no longer allocates.

use super::rare::Rare;
use crate::policy::Classifier;
use crate::time::Timestamp;

/// How many approaches and how many outcomes are remembered.
const KEPT: usize = 256;
/// So many that are older may be held before they are cleared away.
const CLEARED: usize = 16;

/// What a session remembers of its steps.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Progress {
    /// Under which classifier the memory was made: the two remember different digests.
    pub(crate) classifier: Classifier,
    /// The approaches tried.
    pub(crate) approaches: RecentKeys,
    /// What came of each, in the order of `approaches`; the plain classifier keeps none.
    pub(crate) pasts: Recent<ApproachHistory>,
    /// The answers got.
    pub(crate) outcomes: RecentKeys,
    /// The streaks: what a user's word sets back to zero.
    pub(crate) streaks: Streaks,
    /// When they last grew.
    pub(crate) grown: Rare<Grown>,
    /// How many steps were judged.
    pub(crate) step: u32,
    /// At which of them something was last changed that had not been changed so before.
    pub(crate) changed: u32,
    /// At which of them that was a file.
    pub(crate) edited: u32,
    /// At which of them there last was news, and when.
    pub(crate) news: (u32, Timestamp),
    /// The step before this one.
    pub(crate) last: Last,
    /// Which approach gave which answer: once, and once more for the second time.
    pub(crate) given: RecentKeys<u32>,
    /// The forms of calls, the things they were about and the words they had.
    pub(crate) told: RecentKeys<u32>,
    /// The last call that said something in words.
    pub(crate) last_told: LastTold,
    /// When the gaps before calls last were long.
    pub(crate) waited: Waited,
    /// The numbers of the approaches that came back lately, the newest last.
    pub(crate) advances: Rare<Vec<Advance>>,
    /// The words of the last failure.
    pub(crate) failure: Option<Box<FailureWords>>,
    /// Some of what approaches answered, kept for long: how a round is known that is longer than the
    /// memory.
    pub(crate) rounds: Vec<Sample>,
    /// The programs that keep failing, the latest last.
    pub(crate) walls: Rare<Vec<Wall>>,
}

/// A program, or a tool that runs none, that keeps failing in known ways.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Wall {
    /// Which program.
    pub(crate) program: u32,
    /// The step at which it last failed.
    pub(crate) step: u32,
    /// How it was called then.
    pub(crate) approach: u32,
    /// What its failures weigh together, in twelfths.
    pub(crate) weight: u16,
    /// How many there were.
    pub(crate) failures: u16,
}

/// A call that said something in words.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LastTold {
    /// Its form.
    pub(crate) form: u32,
    /// The sum of the numbers in its words and one; 0 if there was none.
    pub(crate) count: u32,
    /// Its answer without numbers.
    pub(crate) shape: u32,
}

/// How many samples are kept.
pub(crate) const SAMPLES: usize = 128;

/// An approach with its answer, one of many, that is remembered long after both are forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sample {
    /// Of the approach and its answer together.
    pub(crate) key: u32,
    /// The step at which it was last seen.
    pub(crate) step: u32,
    /// When that was, in tenths of a second since the epoch, modulo 2^32.
    pub(crate) tenths: u32,
    /// How often it came back with nothing to excuse it.
    pub(crate) times: u8,
}

/// What a failure said, as hashes of its words, at which step, and when in tenths of a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FailureWords {
    pub(crate) step: u32,
    pub(crate) tenths: u32,
    pub(crate) words: Vec<u16>,
}

/// When a long gap last ended, in tenths of a second since the epoch, modulo 2^32.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Waited {
    /// A gap that was long for this session.
    pub(crate) lull: u32,
    /// A gap that was long enough for what moves by itself.
    pub(crate) short_lull: u32,
    /// A gap that was long, but not for this session.
    pub(crate) slow: u32,
    /// A gap after which one may try again if something was in the way.
    pub(crate) unhurried: u32,
}

/// The numbers in the last answer of one approach, and how often in a row each moved the same way.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Advance {
    pub(crate) approach: u64,
    pub(crate) numbers: Vec<u64>,
    /// Above zero: it grew so often running; below: it shrank.
    pub(crate) moved: Vec<i8>,
}

/// What one approach brought so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ApproachHistory {
    /// Its last answer, without noise.
    pub(crate) outcome: u32,
    /// The last answer before that which was another one.
    pub(crate) earlier: u32,
    /// Its last answer without numbers, and of a failure without paths.
    pub(crate) shape: u32,
    /// The step at which it was last tried.
    pub(crate) step: u32,
    /// When that was, in tenths of a second since the epoch, modulo 2^32.
    pub(crate) tenths: u32,
    /// How many steps ago, then, it began to answer the same.
    pub(crate) span: u16,
    /// How often in a row it brought what it had brought before, as far as that counts.
    pub(crate) same: u16,
    /// The same, whether it counts or not.
    pub(crate) looks: u16,
    /// Looks since the last one that counted, where only each third counts.
    pub(crate) thirds: u8,
}

/// What counts up while nothing new comes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Streaks {
    /// Repeated approaches with an unchanged outcome, by weight.
    pub(crate) stagnation: u16,
    /// The same, by number.
    pub(crate) repeats: u16,
    /// New approaches with a known outcome; of the informed classifier, a known failure.
    pub(crate) stuck: u16,
    /// New approaches in a row with the same answer.
    pub(crate) echo: u16,
    /// New approaches that found nothing.
    pub(crate) empty: u16,
    /// Of those, the ones that looked for another thing each time.
    pub(crate) aimed: u16,
    /// Runs of one program in a row that all ended in a failure, as far as they count.
    pub(crate) failing: u16,
    /// All of those runs.
    pub(crate) failed_runs: u16,
    /// Changes that had been made before, since the last new one.
    pub(crate) churn: u16,
    /// Answers since the last news that differ from known ones in numbers only.
    pub(crate) alike: u16,
    /// Of those, the latest ones that were all made after a pause.
    pub(crate) unhurried: u16,
    /// Of all of them, the ones that do not count.
    pub(crate) spared: u16,
    /// Answers in a row that were all known.
    pub(crate) barren: u16,
    /// Known failures that may be findings.
    pub(crate) weak: u16,
    /// New approaches that failed in nearly the same words, as far as they count.
    pub(crate) similar: u16,
    /// Of all of those, the ones that asked another thing the same.
    pub(crate) swept: u16,
    /// Samples of a long round that came back.
    pub(crate) rounds: u16,
    /// Calls in a row that only talked to themselves.
    pub(crate) probe: u16,
    /// Answers since then that were the call's own argument.
    pub(crate) parrots: u16,
    /// Looks after a lull that brought nothing new, and were excused.
    pub(crate) waits: u16,
    /// Calls in a row that said nothing new.
    pub(crate) retold: u16,
    /// Steps in a row that were seen before but for wording and numbers, by weight.
    pub(crate) familiar: u16,
    /// The same, by number.
    pub(crate) familiar_steps: u16,
}

/// The steps at which streaks were last made longer: in one turn each grows once.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Grown {
    pub(crate) stagnation: u32,
    pub(crate) stuck: u32,
    pub(crate) empty: u32,
    pub(crate) barren: u32,
    pub(crate) churn: u32,
    pub(crate) rounds: u32,
    pub(crate) probe: u32,
    pub(crate) retold: u32,
    pub(crate) familiar: u32,
}

impl Grown {
    /// No streak ever grew.
    pub(super) const NEVER: Self = Self {
        stagnation: 0,
        stuck: 0,
        empty: 0,
        barren: 0,
        churn: 0,
        rounds: 0,
        probe: 0,
        retold: 0,
        familiar: 0,
    };
}

/// The step before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Last {
    /// Its approach.
    pub(crate) approach: u64,
    /// Its answer.
    pub(crate) answer: u64,
}

impl Progress {
    /// Starts again if the memory was made under the other classifier.
    pub(crate) fn belong_to(&mut self, classifier: Classifier) {
        if self.classifier != classifier {
            *self = Self {
                classifier,
                ..Self::default()
            };
        }
    }

    /// Sets the streaks to zero; what was tried stays known. A user's word does that.
    pub(crate) fn reset_streaks(&mut self) {
        self.streaks = Streaks::default();
        self.walls = Rare::default();
        for past in self.pasts.kept_mut() {
            past.same = 0;
            past.looks = 0;
            past.thirds = 0;
            past.span = 0;
        }
    }

    /// The index of `approach`, and what came of it.
    pub(crate) fn past(&self, approach: u64) -> Option<(usize, ApproachHistory)> {
        let at = self.approaches.find(approach)?;
        Some((at, *self.pasts.kept().get(at)?))
    }

    /// Keeps what came of `approach`, which was held at `at`, as the newest.
    pub(crate) fn keep(&mut self, at: Option<usize>, approach: u64, past: ApproachHistory) {
        self.approaches.renew(at, approach);
        self.pasts.renew(at, past);
    }
}

/// The most recently used items, the newest last: digests, or what goes with each of them.
///
/// Behind the kept ones there may be a few older ones that count no more: they are cleared away together, because
/// moving all that are kept for each new one would take longer than judging its step.
#[derive(Debug, Clone)]
pub(crate) struct Recent<T> {
    items: Vec<T>,
}

/// The most recently used digests.
pub(crate) type RecentKeys<K = u64> = Recent<K>;

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> From<Vec<T>> for Recent<T> {
    fn from(items: Vec<T>) -> Self {
        Self { items }
    }
}

impl<T: PartialEq> PartialEq for Recent<T> {
    fn eq(&self, other: &Self) -> bool {
        self.kept() == other.kept()
    }
}

impl<T> Recent<T> {
    /// Those that count, the oldest first.
    pub(crate) fn kept(&self) -> &[T] {
        let from = self.items.len().saturating_sub(KEPT);
        self.items.get(from..).unwrap_or_default()
    }

    /// The same, to be changed.
    pub(crate) fn kept_mut(&mut self) -> &mut [T] {
        let from = self.items.len().saturating_sub(KEPT);
        self.items.get_mut(from..).unwrap_or_default()
    }

    /// Puts `item` last: in place of the one at `at`, else as one more, which the oldest gives way to.
    fn renew(&mut self, at: Option<usize>, item: T) {
        if let Some(moved) = at.and_then(|at| self.kept_mut().get_mut(at..)) {
            moved.rotate_left(1);
            if let Some(last) = moved.last_mut() {
                *last = item;
            }
            return;
        }
        let items = &mut self.items;
        if items.len() >= KEPT + CLEARED {
            items.drain(..CLEARED);
        }
        if items.len() == items.capacity() {
            let more = (items.len() / 4).clamp(2, KEPT);
            items.reserve_exact(more.min(KEPT + CLEARED - items.len()));
        }
        items.push(item);
    }
}

impl<K: Copy + PartialEq> Recent<K> {
    /// Looks from the newest on, a row at a time: a row without branches is compared in few steps.
    fn find(&self, key: K) -> Option<usize> {
        let kept = self.kept();
        let mut after = kept.len();
        for row in kept.rchunks(16) {
            after -= row.len();
            if row.iter().fold(false, |hit, held| hit | (*held == key)) {
                return row
                    .iter()
                    .rposition(|held| *held == key)
                    .map(|at| after + at);
            }
        }
        None
    }

    /// Whether `key` is held.
    pub(crate) fn holds(&self, key: K) -> bool {
        self.find(key).is_some()
    }

    /// Makes `key` the newest, and tells whether it was held.
    pub(crate) fn use_again(&mut self, key: K) -> bool {
        let at = self.find(key);
        self.renew(at, key);
        at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_of_257_is_forgotten() {
        let mut recent = RecentKeys::default();
        for key in 0..256 {
            assert!(!recent.use_again(key));
        }
        assert!(recent.use_again(0));
        assert!(!recent.use_again(256));
        assert!(recent.use_again(0), "it was used again and stays");
        assert!(!recent.use_again(1), "it was the oldest and went");
        assert_eq!(recent.kept().len(), KEPT);
    }

    #[test]
    fn a_full_memory_does_not_grow() {
        let mut recent = RecentKeys::default();
        for key in 0..1000 {
            recent.use_again(key);
        }
        assert_eq!(recent.items.capacity(), KEPT + CLEARED);
    }

    #[test]
    fn a_young_session_takes_little() {
        let mut progress = Progress::default();
        let past = ApproachHistory {
            outcome: 1,
            earlier: 1,
            shape: 1,
            step: 1,
            tenths: 1,
            span: 0,
            same: 0,
            looks: 0,
            thirds: 0,
        };
        for key in 0..10 {
            progress.keep(None, key, past);
            progress.outcomes.use_again(key);
            progress.given.use_again(u32::try_from(key).unwrap());
        }
        let heap = (progress.approaches.items.capacity() + progress.outcomes.items.capacity())
            * size_of::<u64>()
            + progress.given.items.capacity() * size_of::<u32>()
            + progress.pasts.items.capacity() * size_of::<ApproachHistory>();
        assert!(heap <= 560, "{heap} bytes after ten steps");
        assert!(KEPT * (size_of::<u64>() * 2 + 4 + size_of::<ApproachHistory>()) <= 13 * 1024);
    }
}
