//! `progress.recurrence`: one approach that keeps coming back, with other work in between.
//!
//! Between its attempts the agent reads, edits, looks around, and all of that is new, so no streak
//! of the whole session sees it. But the one call that matters answers the same each time: the test
//! that fails as before whatever was edited, the report that is still empty.
//!
//! Also here: the same program run again and again with nothing in between, whose answers differ in
//! numbers only. A random number is not news, but it may be luck that the agent waits for, so two
//! such runs count as one.
//!
//! Trips when: 5 repeats that count warn, 10 block; of runs that differ in numbers 10 and 20.
//! Resets when: the approach answers something else; for what does not fail also a new change since
//! its last time (then it is a check), and more than 20 other steps in between.
//! Bounded by: one number an approach, one number for runs in a row.
//! Odd cases: a poll counts as described in `novelty.rs`; a program that prints progress in numbers and is
//! run 20 times in a row without anything else should be named a poll in the policy.

use crate::cell::progress::{ApproachHistory, Progress};
use crate::finding::Findings;
use crate::observation::{Tone, ToolKind};
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Rung, name, times};
use super::novelty::{Novelty, StepFacts};

/// So many runs that differ in numbers weigh as much as one that does not differ.
const RUNS_PER_COUNT: u16 = 2;

/// Judges, and gives the past that is to be kept.
pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) -> ApproachHistory {
    numbers_only(facts, progress, limits, found);
    let past = facts.past;
    if !facts.counts {
        return past;
    }
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: limits.progress.recurrence,
        count: past.same,
    };
    let first = progress.step.saturating_sub(u32::from(past.span));
    let changed = progress.changed > first;
    let tool = facts.tried.name.as_str();
    rung.climb(
        limits,
        found,
        || {
            let what = if facts.outcome.tone == Tone::Failure {
                "failure"
            } else {
                "answer"
            };
            let meanwhile = if changed {
                ", whatever was changed in between"
            } else {
                ""
            };
            format!(
                "{} gave the same {what} {} in {}{meanwhile}",
                name(tool),
                times(u32::from(past.looks).saturating_add(1), "time"),
                times(u32::from(past.span).saturating_add(1), "step"),
            )
        },
        |finding| {
            finding
                .with("tool", tool)
                .with("same_answers", u32::from(past.looks) + 1)
                .with("steps", u32::from(past.span) + 1)
                .with("changes_in_between", changed)
        },
    );
    past
}

fn numbers_only(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let alike = &mut progress.streaks.alike;
    if facts.tried.kind != ToolKind::Run || !facts.alike {
        *alike = 0;
        return;
    }
    if facts.novelty == Novelty::Repeat {
        return;
    }
    *alike = alike.saturating_add(1);
    let runs = u32::from(*alike);
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: limits.progress.recurrence,
        count: *alike / RUNS_PER_COUNT,
    };
    let tool = facts.tried.name.as_str();
    rung.climb(
        limits,
        found,
        || {
            format!(
                "{} was run {} in a row and only numbers in its answer changed",
                name(tool),
                times(runs.saturating_add(1), "time")
            )
        },
        |finding| finding.with("tool", tool).with("runs", runs + 1),
    );
}
