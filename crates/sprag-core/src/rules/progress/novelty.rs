//! Does a step bring news?
//!
//! A loop is not a call that was made before: it is a call whose answer was known. So each approach
//! is compared with *its own* past, volatile noise aside, and only an answer that it gave neither the
//! last time nor the time before it changed is news. That is why a poll that advances, a page that
//! turns and a test that fails differently are work, and why a cycle of any length is not.
//!
//! Which repeats count is for `repeat.rs`. A call that says nothing new (`telling.rs`) brings no news.
//!
//! A new approach brings news unless it ends in a failure that is known or says nearly what the last
//! one said, in nothing, or, asked in other words or for another page, in the answer that the step before had. A short answer from a new target is work, and
//! so is none: a batch is acknowledged and a sweep finds all well, in whatever words. If an approach
//! says at length what another said some time ago, it is no news either way. A change is news if it
//! does not fail: what it answers is an acknowledgement.
//!
//! A failure is known by its words, not by its flag: one that says nothing (`exit code 1`) is how
//! many tools say that they found nothing, and the text of a file that mentions an error is a text.
//!
//! An answer that the approach gave at any earlier time is not new, and counts from its third time. Nor is one
//! that differs from its last answer in numbers only, after many like it (`numbers.rs`).
//!
//! Bounded by: one past an approach, one step before, the words of one failure, 256 answers that
//! approaches gave.
//! Odd cases: failures are compared across approaches without noise, other answers exactly: eight
//! different containers started are eight different ids.

use crate::cell::hash::{first_half, mix};
use crate::cell::progress::{ApproachHistory, Last, Progress};
use crate::cell::tried::Tried;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::time::Timestamp;

use super::familiar::seen_twice;
use super::numbers::{Trend, is_stale, trend};
use super::repeat::{Look, first};
use super::similar::{is_similar, remember_failure, says_the_same};
use super::telling::{self, SaidBefore};
use super::waiting::{Wait, since_wall, wait};

/// What a step brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Novelty {
    /// Something new.
    News,
    /// Nothing, and nothing to hold against it.
    Quiet,
    /// What this approach brought before.
    Repeat,
    /// A failure that is known, but not from this approach.
    Wall,
    /// A new approach, and nearly the words of the last failure.
    Similar,
    /// A new approach, the answer of the step before.
    Echo,
    /// A new approach that found nothing.
    Nothing,
}

/// What the ideas need to know of a step.
#[derive(Debug)]
pub(super) struct StepFacts<'a> {
    pub(super) tried: &'a Tried,
    pub(super) outcome: &'a Outcome,
    pub(super) now: Timestamp,
    /// The approach's index in the memory, and its history without this step.
    pub(super) at: Option<usize>,
    pub(super) before: Option<ApproachHistory>,
    /// Its past with this step.
    pub(super) past: ApproachHistory,
    pub(super) novelty: Novelty,
    /// The session remembers the answer, from whatever approach.
    pub(super) answer_seen: bool,
    /// It is a repeat that counts.
    pub(super) counts: bool,
    /// The approach went back to an answer that it had given before its last one.
    pub(super) flips: bool,
    /// The approach is that of the step before.
    pub(super) directly: bool,
    /// The answer is the last one of the approach but for its numbers.
    pub(super) alike: bool,
    /// Where those are going.
    pub(super) trend: Trend,
    /// It was seen twice with this answer, but for wording, numbers and ids.
    pub(super) familiar: bool,
    /// How what it says compares with what was said before.
    pub(super) wording: SaidBefore,
    /// How long the session waited since the approach was last tried.
    pub(super) wait: Wait,
    /// A new approach that asks another thing what others were asked.
    pub(super) sweeps: bool,
    /// A new approach that says nothing new about the same thing.
    pub(super) retells: bool,
    /// And that at some length.
    pub(super) asks_again: bool,
    /// It fails, and a number in the failure gets on by more than one each time.
    pub(super) gets_on: bool,
    /// It says what the last failure said, numbers and paths apart.
    pub(super) same_words: bool,
    /// The approach was tried before in the same turn.
    pub(super) same_turn: bool,
    /// How many steps had been judged when the turn of this one began.
    pub(super) turn_start: u32,
    /// This step, as the next one will see it.
    pub(super) last: Last,
}

impl<'a> StepFacts<'a> {
    /// Compares a step with what is remembered, and remembers its answer.
    pub(super) fn new(
        progress: &mut Progress,
        now: Timestamp,
        tried: &'a Tried,
        outcome: &'a Outcome,
        turn_start: u32,
    ) -> Self {
        let last = this_step(tried, outcome);
        let (directly, same_answer) = same_as_before(progress, last);
        let answer_seen = progress.outcomes.use_again(last.answer);
        let (at, before) = progress.past(tried.normal).unzip();
        let given = given(progress, tried, outcome);
        let alike = before.is_some_and(|before| before.shape != 0 && before.shape == outcome.shape);
        let trend = trend(progress, tried, outcome, before.is_some());
        let telling = telling::of(progress, tried, outcome, before.is_none(), answer_seen);
        let wait = wait(progress, before, now, (tried, outcome));
        let gets_on = directly && trend.gets_on;
        let same_words = says_the_same(progress, outcome);
        let look = Look {
            tried,
            outcome,
            now,
            wait,
            directly,
            gets_on,
            since_wall: since_wall(progress, before, now, same_words),
            is_stale: is_stale(progress, alike, trend),
            turn_start,
        };
        let seen = (same_answer, answer_seen);
        let (novelty, past, counts) = compare(&look, progress, before, given, seen, &telling);
        remember_failure(progress, outcome, now);
        Self {
            tried,
            outcome,
            now,
            at,
            before,
            past,
            novelty,
            answer_seen,
            counts,
            flips: before.is_some_and(|before| before.outcome != short(outcome)),
            directly,
            alike,
            familiar: seen_twice(progress, tried, outcome),
            wording: telling.wording,
            trend,
            wait,
            sweeps: telling.sweeps,
            retells: telling.retells,
            asks_again: telling.retells && telling.at_length,
            gets_on,
            same_words,
            same_turn: before.is_some_and(|before| before.step > turn_start),
            turn_start,
            last,
        }
    }
}

/// Whether a step tries what the one before it tried, and whether it is answered the same.
fn same_as_before(progress: &Progress, step: Last) -> (bool, bool) {
    let before = progress.last;
    let is_first = progress.step <= 1;
    (
        !is_first && before.approach == step.approach,
        !is_first && before.answer == step.answer,
    )
}

/// A step as the next one will see it.
fn this_step(tried: &Tried, outcome: &Outcome) -> Last {
    Last {
        approach: tried.normal,
        answer: answer(outcome),
    }
}

impl StepFacts<'_> {
    /// Something is not there, or fails, in words of its own: that is information, though it is no
    /// finding.
    pub(super) fn finds_a_gap(&self) -> bool {
        let nothing = self.novelty == Novelty::Nothing && self.outcome.tone == Tone::Failure;
        (nothing && !self.answer_seen) || self.novelty == Novelty::Similar
    }
}

/// Whether an approach gave an answer before, at whatever time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Never,
    Once,
    Often,
}

/// Looks up and remembers that the approach gave this answer.
fn given(progress: &mut Progress, tried: &Tried, outcome: &Outcome) -> Given {
    let first = mix(tried.normal, outcome.normal.prefix());
    if !progress.given.use_again(first_half(first)) {
        Given::Never
    } else if progress.given.use_again(first_half(mix(first, 1))) {
        Given::Often
    } else {
        Given::Once
    }
}

/// What the step brings, the past of its approach with it, and whether it is a repeat that counts.
fn compare(
    look: &Look<'_>,
    progress: &Progress,
    before: Option<ApproachHistory>,
    given: Given,
    seen: (bool, bool),
    telling: &telling::Telling,
) -> (Novelty, ApproachHistory, bool) {
    let outcome = look.outcome;
    let past = first(progress.step, look.now, outcome, before);
    match before {
        Some(before) if before.holds(outcome, progress.changed) || given == Given::Often => {
            let (past, counts) = look.again(progress, before);
            (Novelty::Repeat, past, counts)
        }
        Some(_) => {
            let (_, answer_seen) = seen;
            let novelty = match of_changed(outcome, answer_seen, given) {
                Novelty::News if look.is_stale => Novelty::Quiet,
                novelty => novelty,
            };
            (novelty, past, false)
        }
        None => {
            let similar = is_similar(progress, outcome);
            let novelty = of_new(look.tried, outcome, seen, (similar, telling));
            (novelty, past, false)
        }
    }
}

/// What an approach brings whose answer changed: a failure that others met before is the same wall,
/// and what it answered before is known.
fn of_changed(outcome: &Outcome, answer_seen: bool, given: Given) -> Novelty {
    if outcome.tone == Tone::Failure && answer_seen {
        if outcome.words.is_empty() {
            Novelty::Quiet
        } else {
            Novelty::Wall
        }
    } else if given == Given::Never {
        Novelty::News
    } else {
        Novelty::Quiet
    }
}

/// What a new approach brings.
fn of_new(
    tried: &Tried,
    outcome: &Outcome,
    (same_answer, answer_seen): (bool, bool),
    (similar, telling): (bool, &telling::Telling),
) -> Novelty {
    // A question is judged by what it finds.
    if telling.retells && telling.is_acknowledged && !tried.asks {
        return Novelty::Quiet;
    }
    let looks = matches!(tried.kind, ToolKind::Read | ToolKind::Poll);
    // What a look brings is a text, whatever words are in it, unless the tool says that it failed.
    let mentions = looks && outcome.weak && outcome.long && !outcome.is_error;
    let tone = match outcome.tone {
        Tone::Failure if mentions => Tone::Telling,
        tone => tone,
    };
    match tone {
        Tone::Silent | Tone::Done => Novelty::News,
        // What was to be changed is not there.
        Tone::Telling | Tone::Empty if tried.kind == ToolKind::Change && outcome.absent => {
            Novelty::Nothing
        }
        Tone::Telling | Tone::Empty if tried.kind == ToolKind::Change => Novelty::News,
        // One switch after the other is set, and there is nothing to say about it.
        Tone::Empty if telling.sweeps && tried.kind == ToolKind::Run && tried.about.controls => {
            Novelty::News
        }
        // `no` about one thing after the other is the answer to a question.
        Tone::Empty | Tone::Telling if answers_no(tried, outcome, telling) => Novelty::Quiet,
        Tone::Empty => Novelty::Nothing,
        Tone::Telling if outcome.absent && tried.asks => Novelty::Nothing,
        Tone::Failure if outcome.words.is_empty() => Novelty::Nothing,
        Tone::Failure if outcome.absent && looks => Novelty::Nothing,
        Tone::Failure if answer_seen => Novelty::Wall,
        Tone::Failure if similar => Novelty::Similar,
        Tone::Telling if answer_seen && outcome.long && (tried.asks || telling.turns_page) => {
            Novelty::Echo
        }
        Tone::Telling if same_answer && tried.asks && !outcome.one_word => Novelty::Nothing,
        Tone::Telling if answer_seen && outcome.long => Novelty::Quiet,
        Tone::Failure | Tone::Telling => Novelty::News,
    }
}

/// The same question about another thing was answered by one word that says no.
fn answers_no(tried: &Tried, outcome: &Outcome, telling: &telling::Telling) -> bool {
    telling.asks_the_same
        && tried.kind == ToolKind::Run
        && outcome.one_word
        && (outcome.absent || outcome.tone == Tone::Empty)
}

impl ApproachHistory {
    /// Whether the approach already gave this answer, of late. Of two failures with no change in
    /// between, numbers and paths tell nothing apart.
    fn holds(&self, outcome: &Outcome, changed: u32) -> bool {
        let answered = short(outcome);
        let same_failure = outcome.is_error
            && outcome.shape != 0
            && self.shape == outcome.shape
            && changed <= self.step;
        self.outcome == answered || self.earlier == answered || same_failure
    }
}

/// An answer as it is compared across approaches.
fn answer(outcome: &Outcome) -> u64 {
    if outcome.tone == Tone::Failure {
        outcome.normal.prefix()
    } else {
        outcome.exact.prefix()
    }
}

/// An answer as it is compared with others of the same approach.
pub(super) fn short(outcome: &Outcome) -> u32 {
    first_half(outcome.normal.prefix())
}
