//! One program that keeps failing in ways that are known, however it is called.
//!
//! An agent at a wall rarely makes the same call again. It adds a flag, changes a setting, looks around, and all of
//! that is new. But the build still ends in the same error. So the failures of one program, or of one tool that
//! runs none, are counted whatever its arguments are and whatever happens in between.
//!
//! Trips when: 8 known failures of one program warn, 10 block (four fifths of `recurrence`'s block, and that). A failure
//! that differs in numbers and paths only counts half. Of the failures of a sweep each fourth counts, or each
//! second if something was changed in between; of failures that may be findings each third, and so of those that
//! were waited for.
//! Resets when: the program fails in a way that is not known, or what failed succeeds; and by a user's message.
//! Bounded by: four programs.
//! Odd cases: the very same call after a failure is judged by its own past; a failure without words is a finding (`grep` without a match), and so is what is not there; a change
//! that fails is judged by other rules; in one turn it grows once.

use crate::MAX_FAILURE_WORDS;
use crate::cell::hash::{first_half, hash_bytes, mix};
use crate::cell::progress::{Progress, Wall};
use crate::cell::tried::Tried;
use crate::finding::Findings;
use crate::observation::{Tone, ToolKind};
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::StepFacts;
use super::waiting::Wait;

/// What one failure weighs that counts in full.
const WHOLE: u16 = 12;
/// The programs that are remembered.
const WALLS: usize = 4;
/// It blocks on this failure at the earliest, and warns after four fifths of those before.
const LEAST: u32 = 4;

/// What tells the keys of this file from others in the same memory.
const ROUGH: u64 = 0x77_616c_6c31;
const FIRM: u64 = 0x77_616c_6c32;
const WORDS: u64 = 0x77_616c_6c33;
const CALLED: u64 = 0x77_616c_6c34;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let tried = facts.tried;
    if tried.kind == ToolKind::Change {
        return;
    }
    let program = program(tried);
    if facts.outcome.tone != Tone::Failure {
        return forgive(progress, tried, program);
    }
    let looks = matches!(tried.kind, ToolKind::Read | ToolKind::Poll);
    if facts.outcome.words.is_empty() || facts.outcome.absent && looks {
        return;
    }
    let mut wall = take(progress, program).unwrap_or(Wall {
        program,
        ..Wall::default()
    });
    let before = wall.weight / WHOLE;
    hit(facts, progress, &mut wall);
    let count = wall.weight / WHOLE;
    let failures = u32::from(wall.failures);
    progress.walls.push(wall);
    if count == before {
        return;
    }
    let block = limits.progress.recurrence.block.get().max(LEAST);
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: Threshold {
            warn: Limit::of(block.saturating_mul(4) / 5),
            block: Limit::of(block),
        },
        count,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let say = || {
        format!(
            "{} failed {} in ways that were known, however it was called",
            name(tried),
            times(failures, "time")
        )
    };
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", tried.name.as_str())
            .with("counted", "wall")
            .with("failures", failures)
    });
}

/// The program of a command, else the tool.
fn program(tried: &Tried) -> u32 {
    let program = tried.label.as_str().split(' ').next().unwrap_or_default();
    first_half(mix(
        hash_bytes(tried.name.as_bytes()),
        hash_bytes(program.as_bytes()),
    ))
}

/// Takes out what is known of a program.
fn take(progress: &mut Progress, program: u32) -> Option<Wall> {
    let at = progress
        .walls
        .iter()
        .position(|wall| wall.program == program);
    match at {
        Some(at) => Some(progress.walls.remove(at)),
        None => {
            if progress.walls.len() >= WALLS {
                progress.walls.remove(0);
            }
            None
        }
    }
}

/// The key of what was called, and what it was about.
fn called(tried: &Tried, program: u32) -> u32 {
    let words = mix(u64::from(program), hash_bytes(tried.label.as_bytes()));
    first_half(mix(mix(words, u64::from(tried.about.thing)), CALLED))
}

/// Something succeeded: if it had failed before, the wall is gone.
fn forgive(progress: &mut Progress, tried: &Tried, program: u32) {
    if progress.given.holds(called(tried, program))
        && let Some(walls) = progress.walls.used()
    {
        walls.retain(|wall| wall.program != program);
    }
}

/// Counts a failure.
fn hit(facts: &StepFacts<'_>, progress: &mut Progress, wall: &mut Wall) {
    let likeness = likeness(facts, progress, wall.program);
    progress.given.use_again(called(facts.tried, wall.program));
    let before = *wall;
    wall.step = progress.step;
    wall.approach = first_half(facts.tried.normal);
    let outcome = facts.outcome;
    // A word in what a look brings is no failure of its own.
    let may_be_found = outcome.weak && !outcome.is_error;
    if likeness == Likeness::None || before.step == 0 {
        if !may_be_found || before.step == 0 {
            (wall.weight, wall.failures) = (WHOLE, 1);
        }
        return;
    }
    wall.failures = wall.failures.saturating_add(1);
    // The very same call is judged by its own past.
    let again = before.approach == wall.approach;
    if again || before.step > facts.turn_start || facts.gets_on {
        return;
    }
    let changed = progress.changed > before.step;
    let mut weight = WHOLE;
    if likeness == Likeness::ButForNumbers {
        weight /= 2;
    }
    if facts.sweeps {
        weight /= if changed { 2 } else { 4 };
    }
    let is_next = before.step + 1 == progress.step;
    let waits = is_next && facts.wait != Wait::None || outcome.pending;
    if waits || may_be_found {
        weight /= 3;
    }
    wall.weight = wall.weight.saturating_add(weight);
}

/// How a failure compares with those that the program had before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Likeness {
    None,
    ButForNumbers,
    Same,
}

/// Compares a failure with earlier ones of its program, and remembers it.
fn likeness(facts: &StepFacts<'_>, progress: &mut Progress, program: u32) -> Likeness {
    let outcome = facts.outcome;
    let of = |answer: u64, tag: u64| first_half(mix(mix(u64::from(program), answer), tag));
    let is_same = progress.given.use_again(of(outcome.normal.prefix(), FIRM));
    // What does not say itself that it failed has no form that keeps the counts of a report.
    let is_rough = outcome.is_error
        && outcome.shape != 0
        && progress
            .given
            .use_again(of(u64::from(outcome.shape), ROUGH));
    // All that it says is compared, and it counts nothing.
    let is_whole = outcome.words.len() < MAX_FAILURE_WORDS && !outcome.weak;
    let words = outcome
        .words
        .iter()
        .fold(0, |sum, word| mix(sum, u64::from(*word)));
    let says_the_same = is_whole && progress.given.use_again(of(words, WORDS));
    if is_same {
        Likeness::Same
    } else if is_rough || says_the_same {
        Likeness::ButForNumbers
    } else {
        Likeness::None
    }
}
