//! One program, run again at once, and each run ends in a failure.
//!
//! A fuzzer, a crawler or a script against a random server prints something new each time before it
//! fails, so by its answers it looks like news. But a program that is started twelve times in a row
//! with nothing in between, and fails at the end of each run, is not getting anywhere.
//!
//! Trips when: 8 such runs in a row warn, 12 block (8/5 and 3/2 of `stuck`).
//! Resets when: another approach is tried, or a run does not end in a failure.
//! Bounded by: two numbers.
//! Odd cases: runs after a lull are retries and do not count, nor do those whose failure gets on (a download that is
//! resumed), nor, with a pause, the same failure that says that something is in the way for now; what is the same failure to the letter
//! counts for `progress.stagnation`, which is faster.

use crate::cell::progress::Progress;
use crate::finding::Findings;
use crate::observation::ToolKind;
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::{Novelty, StepFacts};
use super::waiting::Wait;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let (streak, all) = (
        &mut progress.streaks.failing,
        &mut progress.streaks.failed_runs,
    );
    if !facts.outcome.ends_failing || facts.tried.kind == ToolKind::Change {
        (*streak, *all) = (0, 0);
        return;
    }
    if !facts.directly {
        (*streak, *all) = (1, 1);
        return;
    }
    *all = all.saturating_add(1);
    let same_turn = facts
        .before
        .is_some_and(|before| before.step > facts.turn_start);
    // The same failure that says that something is in the way for now is judged as a wait.
    let held_up = facts.novelty == Novelty::Repeat && facts.outcome.pending;
    let waits = facts.wait == Wait::Lull || held_up && facts.wait != Wait::None;
    if waits || same_turn || facts.gets_on {
        return;
    }
    *streak = streak.saturating_add(1);
    let stuck = limits.progress.stuck;
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "stuck",
        threshold: Threshold {
            warn: Limit::of(stuck.warn.get().saturating_mul(8) / 5),
            block: Limit::of(stuck.block.get().saturating_mul(3) / 2),
        },
        count: *streak,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let runs = u32::from(*all);
    let say = || {
        format!(
            "{} was run {} in a row and failed each time",
            name(facts.tried),
            times(runs, "time")
        )
    };
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", facts.tried.name.as_str())
            .with("counted", "failing")
            .with("runs", runs)
    });
}
