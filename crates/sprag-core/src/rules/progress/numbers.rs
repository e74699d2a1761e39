//! Runs in a row whose answers differ in numbers only.
//!
//! A random number is not news, but it may be luck that the agent waits for, so two such runs count
//! as one. A number that advances is news: a counter, a percentage, a number of rows. It advances if
//! it moved the same way in four changes running, at the same place of the answer.
//!
//! Trips when: 10 such runs warn, 20 block (`progress.recurrence`, two runs a count).
//! Resets when: another approach is tried, more than numbers changed, or a number moved the same way
//! eight times running.
//! Bounded by: the first six numbers of one answer.
//! Odd cases: runs after a lull do not count; in a failure no number advances.

use crate::cell::progress::{Advance, Progress};
use crate::finding::Findings;
use crate::observation::{Tone, ToolKind};
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

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if !facts.alike {
        progress.streaks.alike = 0;
        progress.advance = start(facts);
        return;
    }
    if facts.novelty == Novelty::Repeat {
        return;
    }
    let moves = moves_running(facts, progress);
    if moves >= ADVANCES_FOR_SURE {
        progress.streaks.alike = 0;
    }
    let same_turn = facts
        .before
        .is_some_and(|before| before.step > facts.turn_start);
    if moves >= ADVANCES
        || facts.tried.kind != ToolKind::Run
        || facts.wait == Wait::Lull
        || same_turn
    {
        return;
    }
    let alike = &mut progress.streaks.alike;
    *alike = alike.saturating_add(1);
    let runs = u32::from(*alike);
    if !alike.is_multiple_of(RUNS_PER_COUNT) {
        return;
    }
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: limits.progress.recurrence,
        count: *alike / RUNS_PER_COUNT,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    rung.climb(
        limits,
        found,
        || {
            format!(
                "{} was run {} in a row and only numbers in its answer changed",
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

/// The numbers of an answer from which an advance may begin.
fn start(facts: &StepFacts<'_>) -> Option<Box<Advance>> {
    let numbers = &facts.outcome.numbers;
    (!numbers.is_empty() && facts.before.is_some()).then(|| {
        Box::new(Advance {
            numbers: numbers.clone(),
            moved: vec![0; numbers.len()],
        })
    })
}

/// How often running some number moved the same way. Compares the numbers with those of the last
/// answer, and keeps them.
fn moves_running(facts: &StepFacts<'_>, progress: &mut Progress) -> u8 {
    if facts.outcome.tone == Tone::Failure {
        progress.advance = None;
        return 0;
    }
    let numbers = &facts.outcome.numbers;
    let advance = progress.advance.get_or_insert_default();
    if advance.numbers.len() != numbers.len() {
        advance.numbers.clone_from(numbers);
        advance.moved = vec![0; numbers.len()];
        return 0;
    }
    let before = std::mem::replace(&mut advance.numbers, numbers.clone());
    for ((moved, before), now) in advance.moved.iter_mut().zip(before).zip(numbers) {
        *moved = match now.cmp(&before) {
            std::cmp::Ordering::Greater => moved.saturating_add(1).max(1),
            std::cmp::Ordering::Less => moved.saturating_sub(1).min(-1),
            std::cmp::Ordering::Equal => *moved,
        };
    }
    let most = advance.moved.iter().map(|moved| moved.unsigned_abs()).max();
    most.unwrap_or(0)
}
