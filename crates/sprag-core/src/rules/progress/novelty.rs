//! Does a step bring news?
//!
//! A loop is not a call that was made before: it is a call whose answer was known. So each approach
//! is compared with *its own* past, volatile noise aside, and only an answer that it gave neither the
//! last time nor the time before it changed is news. That is why a poll that advances, a page that
//! turns and a test that fails differently are work, and why a cycle of any length is not.
//!
//! Four kinds of repeats are not a sign of a loop and do not count, though they bring no news:
//! - the first repeat, unless it comes right away: people, replayed set-ups and compacted contexts
//!   ask a second time;
//! - a check after a change that had not been made before, unless it fails;
//! - a poll that comes five seconds or more after the last one: that is waiting;
//! - of quicker polls, two of three.
//!
//! A new approach brings news unless it ends in a failure that is known, in the answer that the step
//! before had, or in an empty finding. If it says nothing at all, or what another approach said
//! some time ago, it is neither news nor a repeat. A change is news if it does not fail: what it answers is
//! an acknowledgement.
//!
//! Bounded by: one past an approach, one step before.
//! Odd cases: failures are compared across approaches without noise, other answers exactly: eight
//! different containers started are eight different ids.

use crate::cell::progress::{ApproachHistory, Last, Progress};
use crate::cell::tried::Tried;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::time::{Millis, Timestamp};

/// A poll that comes later than this after the one before is patient.
const PATIENT: Millis = Millis(5_000);
/// Of quick polls each third one counts.
const POLLS_PER_COUNT: u16 = 3;
/// Something tried again after more other steps than this starts again.
const NEAR_STEPS: u32 = 20;

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
    /// The approach is that of the step before.
    pub(super) directly: bool,
    /// And so is the answer but for its numbers.
    pub(super) alike: bool,
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
    ) -> Self {
        let last = Last {
            approach: tried.normal,
            answer: answer(outcome),
            shape: outcome.shape,
        };
        let before_last = progress.last;
        let directly = progress.step > 1 && before_last.approach == last.approach;
        let same_answer = progress.step > 1 && before_last.answer == last.answer;
        let answer_seen = progress.outcomes.use_again(last.answer);
        let (at, before) = progress.past(tried.normal).unzip();
        let (novelty, past, counts) = match before {
            Some(before) if before.holds(outcome) => {
                let (past, counts) = again(progress, before, now, tried.kind, outcome, directly);
                (Novelty::Repeat, past, counts)
            }
            Some(before) => (
                of_changed(outcome.tone, answer_seen),
                first(progress.step, now, outcome, Some(before)),
                false,
            ),
            None => (
                of_new(tried.kind, outcome.tone, same_answer, answer_seen),
                first(progress.step, now, outcome, None),
                false,
            ),
        };
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
            directly,
            alike: directly && last.shape != 0 && before_last.shape == last.shape,
            last,
        }
    }
}

/// What an approach brings whose answer changed: a failure that others met before is the same wall.
fn of_changed(tone: Tone, answer_seen: bool) -> Novelty {
    if tone == Tone::Failure && answer_seen {
        Novelty::Wall
    } else {
        Novelty::News
    }
}

/// What a new approach brings.
fn of_new(kind: ToolKind, tone: Tone, same_answer: bool, answer_seen: bool) -> Novelty {
    match tone {
        Tone::Silent => Novelty::Quiet,
        Tone::Done => Novelty::News,
        Tone::Telling | Tone::Empty if kind == ToolKind::Change => Novelty::News,
        Tone::Empty => Novelty::Nothing,
        Tone::Failure if answer_seen => Novelty::Wall,
        Tone::Telling if same_answer => Novelty::Echo,
        Tone::Telling if answer_seen => Novelty::Quiet,
        Tone::Failure | Tone::Telling => Novelty::News,
    }
}

/// The past of an approach that gave a new answer.
fn first(
    step: u32,
    now: Timestamp,
    outcome: &Outcome,
    before: Option<ApproachHistory>,
) -> ApproachHistory {
    let answered = short(outcome);
    ApproachHistory {
        outcome: answered,
        earlier: before.map_or(answered, |before| before.outcome),
        step,
        tenths: tenths(now),
        span: 0,
        same: 0,
        looks: 0,
    }
}

/// The past of an approach that gave a known answer, and whether that counts.
fn again(
    progress: &Progress,
    before: ApproachHistory,
    now: Timestamp,
    kind: ToolKind,
    outcome: &Outcome,
    directly: bool,
) -> (ApproachHistory, bool) {
    let steps = progress.step.saturating_sub(before.step);
    let checks = progress.changed > before.step && outcome.tone != Tone::Failure;
    let waited = u64::from(tenths(now).wrapping_sub(before.tenths)) * 100;
    let patient = kind == ToolKind::Poll && waited >= PATIENT.0;
    let (span, same, looks) = if checks {
        (0, 0, 0)
    } else {
        let same = if steps <= NEAR_STEPS { before.same } else { 0 };
        (before.span, same, before.looks)
    };
    let looks = looks.saturating_add(u16::from(!patient));
    let counts = !checks
        && match kind {
            ToolKind::Poll => !patient && looks.is_multiple_of(POLLS_PER_COUNT),
            ToolKind::Read | ToolKind::Change | ToolKind::Run => directly || looks > 1,
        };
    let answered = short(outcome);
    let past = ApproachHistory {
        outcome: answered,
        earlier: if before.outcome == answered {
            before.earlier
        } else {
            before.outcome
        },
        step: progress.step,
        tenths: tenths(now),
        span: span.saturating_add(u16::try_from(steps).unwrap_or(u16::MAX)),
        same: same.saturating_add(u16::from(counts)),
        looks,
    };
    (past, counts)
}

impl ApproachHistory {
    /// Whether the approach already gave this answer, of late.
    fn holds(&self, outcome: &Outcome) -> bool {
        let answered = short(outcome);
        self.outcome == answered || self.earlier == answered
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
fn short(outcome: &Outcome) -> u32 {
    u32::try_from(outcome.normal.prefix() >> 32).unwrap_or_default()
}

fn tenths(now: Timestamp) -> u32 {
    u32::try_from((now.0 / 100) & u64::from(u32::MAX)).unwrap_or_default()
}
