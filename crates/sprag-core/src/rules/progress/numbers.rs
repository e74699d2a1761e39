//! Runs in a row whose answers differ in numbers only.
//!
//! A random number is not news, but it may be luck that the agent waits for, so two such runs count
//! as one. A number that advances is news: a counter, a percentage, a number of rows. It advances if
//! it moved the same way in four changes running, at the same place of the answer. The number of a receipt is none:
//! if a call says something, as the same mail to the same person does, an answer that counts on by one is the next
//! number of a list.
//!
//! Trips when: 10 such runs warn, 20 block (`progress.recurrence`, two runs a count).
//! Resets when: another approach is tried, more than numbers changed, or a number moved the same way
//! eight times running.
//! Bounded by: the first six numbers of one answer.
//! Odd cases: runs after a lull do not count, and of those in a row that all come after a pause each third; in a failure no number
//! advances, but one that moves by more than one each time says that a retry gets on, and so counts less
//! (`repeat.rs`).

use crate::cell::progress::{Advance, Progress};
use crate::finding::Findings;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::{Novelty, StepFacts};
use super::waiting::Wait;

/// So many runs that differ in numbers weigh as much as one that does not differ.
const RUNS_PER_COUNT: u16 = 2;
/// A number that moved the same way so often running advances.
const ADVANCES: u8 = 4;
/// A random number never moves the same way so often running.
const ADVANCES_FOR_SURE: u8 = 8;
/// Of runs in a row that all came after a pause each third counts.
const PAUSED_PER_COUNT: u16 = 3;
/// One, in thousandths: a number that moves by no more counts attempts or receipts.
const ONE: u64 = 1000;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if !facts.alike {
        let streaks = &mut progress.streaks;
        (streaks.alike, streaks.unhurried, streaks.spared) = (0, 0, 0);
        progress.advance = start(facts);
        return;
    }
    let Some((runs, counted)) = counted(facts, progress) else {
        return;
    };
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: limits.progress.recurrence,
        count: counted,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    rung.climb(
        limits,
        found,
        || {
            format!(
                "{} was run {} in a row and only numbers or ids in its answer changed",
                name(facts.tried),
                times(runs.saturating_add(1), "time")
            )
        },
        |finding| {
            finding
                .with("tool", facts.tried.name.as_str())
                .with("runs", runs + 1)
        },
    );
}

/// Counts a run: how many there were in a row, and how much they weigh, if this one makes them weigh more.
fn counted(facts: &StepFacts<'_>, progress: &mut Progress) -> Option<(u32, u16)> {
    let repeats = facts.novelty == Novelty::Repeat;
    let failed = facts.outcome.tone == Tone::Failure;
    let moved = match repeats && !failed {
        true => 0,
        false => moves_running(facts, progress),
    };
    let moves = if failed { 0 } else { moved };
    let streaks = &mut progress.streaks;
    streaks.alike = streaks.alike.saturating_add(1);
    if moves >= ADVANCES_FOR_SURE {
        streaks.spared = streaks.alike;
    }
    streaks.unhurried = match facts.wait {
        Wait::Pause => streaks.unhurried.saturating_add(1),
        _ => 0,
    };
    let paused = streaks.unhurried > 1 && !streaks.unhurried.is_multiple_of(PAUSED_PER_COUNT);
    let spared = repeats
        || paused
        || moves >= ADVANCES
        || facts.tried.kind != ToolKind::Run
        || facts.wait == Wait::Lull
        || facts.same_turn;
    if spared {
        streaks.spared = streaks.spared.saturating_add(1).min(streaks.alike);
        return None;
    }
    let counted = streaks.alike.saturating_sub(streaks.spared);
    let weighs_more = counted.is_multiple_of(RUNS_PER_COUNT);
    weighs_more.then_some((u32::from(streaks.alike), counted / RUNS_PER_COUNT))
}

/// Whether a failure of the approach of the step before has a number that moved on by more than one, the same way
/// as the last time.
pub(super) fn gets_on(progress: &Progress, outcome: &Outcome) -> bool {
    let Some(advance) = &progress.advance else {
        return false;
    };
    let numbers = &outcome.numbers;
    let mut places = advance.moved.iter().zip(&advance.numbers).zip(numbers);
    outcome.tone == Tone::Failure
        && advance.numbers.len() == numbers.len()
        && places.any(|((moved, before), now)| {
            let goes_on = if now > before { *moved > 0 } else { *moved < 0 };
            goes_on && now.abs_diff(*before) > ONE
        })
}

/// Whether a call says something to somebody, rather than ask or steer.
fn tells(facts: &StepFacts<'_>) -> bool {
    let tried = facts.tried;
    let says = tried.about.said.first().is_some_and(|word| *word != 0);
    !tried.asks && (says || tried.label.as_str().is_empty() && !tried.about.controls)
}

/// The numbers of an answer from which an advance may begin.
fn start(facts: &StepFacts<'_>) -> Option<Box<Advance>> {
    let numbers = &facts.outcome.numbers;
    let may_begin = facts.before.is_some() || facts.outcome.tone == Tone::Failure;
    (!numbers.is_empty() && may_begin).then(|| {
        Box::new(Advance {
            numbers: numbers.clone(),
            moved: vec![0; numbers.len()],
        })
    })
}

/// How often running some number moved the same way. Compares the numbers with those of the last
/// answer, and keeps them.
fn moves_running(facts: &StepFacts<'_>, progress: &mut Progress) -> u8 {
    // In a failure that counts attempts, and in a receipt, one is no way.
    let least = if facts.outcome.tone == Tone::Failure || tells(facts) {
        ONE + 1
    } else {
        1
    };
    let numbers = &facts.outcome.numbers;
    let advance = progress.advance.get_or_insert_default();
    if advance.numbers.len() != numbers.len() {
        advance.numbers.clone_from(numbers);
        advance.moved = vec![0; numbers.len()];
        return 0;
    }
    let before = std::mem::replace(&mut advance.numbers, numbers.clone());
    for ((moved, before), now) in advance.moved.iter_mut().zip(before).zip(numbers) {
        let way = match now.abs_diff(before) {
            0 => std::cmp::Ordering::Equal,
            small if small < least => {
                *moved = 0;
                continue;
            }
            _ => now.cmp(&before),
        };
        *moved = match way {
            std::cmp::Ordering::Greater => moved.saturating_add(1).max(1),
            std::cmp::Ordering::Less => moved.saturating_sub(1).min(-1),
            std::cmp::Ordering::Equal => *moved,
        };
    }
    let most = advance.moved.iter().map(|moved| moved.unsigned_abs()).max();
    most.unwrap_or(0)
}
