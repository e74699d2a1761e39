//! Whether a look was waited for.
//!
//! Waiting is judged by the time between looks, not by the names of tools: whoever looks again after
//! a lull waits, whoever looks again at once hammers. What a lull is depends on the session's pace and
//! is said in `cell/pace.rs`. Words that say that something moves by itself only lower the bar.
//!
//! Odd cases: what asks about something that moves needs no lull in a session that is always slow; a
//! lull anywhere since an approach was last tried excuses it, so that two things can be
//! watched at once; a command that slept holds a lull itself.
//!
//! Waiting may go on for ever, and only a person can say whether it still makes sense. So after 50 looks
//! that were excused with no news in between, and each time their number has doubled, a notice goes to
//! the person. The model, which does nothing wrong, does not read it.

use crate::cell::pace::Gap;
use crate::cell::progress::{ApproachHistory, Progress};
use crate::cell::tried::Tried;
use crate::finding::Findings;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::policy::{Limits, Mode};
use crate::rule::RuleId;
use crate::rules::text;
use crate::time::{Millis, Timestamp};

use super::ladder::{name, times};
use super::novelty::{Novelty, StepFacts};

/// A poll that comes later than this after the one before is patient.
const PATIENT_TENTHS: u32 = 50;
/// And a look that is told that something is on its way.
const TOLD_TENTHS: u32 = 70;
/// After this it is at least not in a hurry.
const UNHURRIED_TENTHS: u32 = 30;
/// A command that sleeps and takes this long holds a lull.
const SLEPT: Millis = Millis(10_000);

/// How long a session waited before a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Not at all.
    None,
    /// For a while: long, but this session always takes long, or a shorter one for what is in the way.
    Slow,
    /// For a while that is long for this session, but not long.
    Pause,
    /// For long.
    Lull,
}

/// How long the session waited since `before`, when the approach was last tried; a new one waits for nothing.
pub(super) fn wait(
    progress: &Progress,
    before: Option<ApproachHistory>,
    now: Timestamp,
    (tried, outcome): (&Tried, &Outcome),
) -> Wait {
    let Some(before) = before else {
        return Wait::None;
    };
    let age = |moment: u32| tenths(now).wrapping_sub(moment);
    let since_look = age(before.tenths);
    let happened = |moment: u32| moment != 0 && age(moment) < since_look;
    let waited = progress.waited;
    // What stands in a file does not move, whatever it says. What can't be read is not there yet.
    let in_a_file = tried.kind == ToolKind::Read
        && !tried.label.as_str().is_empty()
        && outcome.tone != Tone::Failure;
    // A change asks about nothing, whatever words are in it, unless something is in its way.
    let changes = tried.kind == ToolKind::Change;
    let is_pending = outcome.pending && !in_a_file && !(changes && outcome.tone != Tone::Failure);
    let moves = tried.moves && !changes || tried.kind == ToolKind::Poll || is_pending;
    // Whoever is told that it is on its way asks again, by whatever name.
    let polls = tried.kind == ToolKind::Poll || is_pending && outcome.tone != Tone::Failure;
    // Whoever goes on trying other things at once does not wait until the way is free.
    let held_up = is_pending && happened(waited.unhurried)
        || polls && is_pending && since_look >= UNHURRIED_TENTHS;
    let patient = tried.kind == ToolKind::Poll && since_look >= PATIENT_TENTHS
        || polls && since_look >= TOLD_TENTHS;
    let slow = happened(waited.slow);
    if patient || happened(waited.lull) || moves && (slow || happened(waited.short_lull)) {
        Wait::Lull
    } else if happened(waited.short_lull) {
        Wait::Pause
    } else if slow || held_up {
        Wait::Slow
    } else {
        Wait::None
    }
}

/// How long ago the session ran into what this failure says, by whatever approach.
pub(super) fn since_wall(
    progress: &Progress,
    before: Option<ApproachHistory>,
    now: Timestamp,
    same_words: bool,
) -> u32 {
    let look = before.map(|before| before.tenths);
    let wall = progress.failure.as_ref().map(|failure| failure.tenths);
    let met = wall.filter(|_| same_words).or(look).unwrap_or_default();
    tenths(now).wrapping_sub(met)
}

/// After so many excused looks, and at each doubling, a person is told.
const TOLD_AFTER: u16 = 50;

/// Counts an excused look, and adds the notice for the person when it is due.
pub(super) fn count(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if facts.novelty == Novelty::News {
        progress.streaks.waits = 0;
    }
    let excused = facts.novelty == Novelty::Repeat
        && facts.wait == Wait::Lull
        && facts.outcome.tone != Tone::Failure
        && !facts.counts;
    if !excused || facts.same_turn {
        return;
    }
    let waits = progress.streaks.waits.saturating_add(1);
    progress.streaks.waits = waits;
    let due = waits.is_multiple_of(TOLD_AFTER) && (waits / TOLD_AFTER).is_power_of_two();
    if due && limits.modes.get(RuleId::ProgressStagnation) != Mode::Off {
        let for_long = match progress.news {
            (0, _) => String::new(),
            (_, since) => format!(" in {}", text::in_minutes(facts.now.since(since))),
        };
        found.notice(format!(
            "{} after a pause brought nothing new{for_long}, the last by {}. The agent waits and is not stopped.",
            times(u32::from(waits), "look"),
            name(facts.tried)
        ));
    }
}

impl Progress {
    /// Remembers the gap before a call that is made at `now`.
    pub(crate) fn waited_before(&mut self, gap: Gap, now: Timestamp) {
        let now = tenths(now).max(1);
        let waited = &mut self.waited;
        for (ended, moment) in [
            (gap.unhurried, &mut waited.unhurried),
            (gap.short_lull, &mut waited.short_lull),
            (gap.slow, &mut waited.slow),
            (gap.lull, &mut waited.lull),
        ] {
            if ended {
                *moment = now;
            }
        }
        if gap.long_lull {
            self.streaks.churn = 0;
        }
    }

    /// Remembers that a call which sleeps took from `made` to `now`.
    pub(crate) fn slept(&mut self, made: Timestamp, now: Timestamp) {
        if now.since(made) >= SLEPT {
            self.waited_before(Gap::SLEPT, now);
        }
    }
}

/// A time as pasts hold it.
pub(super) fn tenths(now: Timestamp) -> u32 {
    u32::try_from((now.0 / 100) & u64::from(u32::MAX)).unwrap_or_default()
}
