//! `session.rerun`: fresh sessions on the same task, all night, and always the same comes of it.
//!
//! A daemon that starts a new session whenever the last one ended looks new each time: no session is long, and none
//! repeats itself. Only the runs of a task side by side show that nothing has changed since the first.
//!
//! Trips when: a message from outside opens a session, and of the last 8 runs of the agent with the same opening
//! words, within 24 hours, at least `session.rerun` did the same steps with the same results as the latest of them.
//! Resets when: a run does something else or gets another result. It warns once in 24 hours a task.
//! Bounded by: 8 runs a task.
//! Odd cases: a run counts if it has two steps or more, one of them not a read, and its session was quiet for a
//! minute; so greetings and runs side by side do not. The user's words are never refused.

use crate::cell::{EarlierRun, TaskCell};
use crate::finding::{Finding, Findings};
use crate::policy::Limits;
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// A run has at least so many steps.
const MIN_STEPS: u32 = 2;

fn is_run(run: &EarlierRun, now: Timestamp) -> bool {
    run.trace.steps >= MIN_STEPS
        && run.trace.works
        && now.since(run.touched) >= Millis::MINUTE
        && now.since(run.opened) < Millis::DAY
}

/// Judges the opening of one more run.
pub(crate) fn judge(
    task: &mut TaskCell,
    earlier: &[EarlierRun],
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let runs: Vec<&EarlierRun> = earlier.iter().filter(|run| is_run(run, now)).collect();
    let Some(last) = runs.last() else {
        return;
    };
    let same = runs
        .iter()
        .filter(|run| run.trace.digest == last.trace.digest);
    let same = u32::try_from(same.count()).unwrap_or(u32::MAX);
    let max = limits.session.rerun.get();
    let was_told = task.warned.is_some_and(|at| now.since(at) < Millis::DAY);
    if same < max || was_told {
        return;
    }
    task.warned = Some(now);
    let steps = last.trace.steps;
    found.add(limits, RuleId::SessionRerun, || {
        Finding::new(
            RuleId::SessionRerun,
            Decision::Warn,
            format!(
                "This task was run {same} times in the last 24 hours, each time with the same {steps} steps and the same results. Find out first what keeps it from getting on, or say that it is stuck."
            ),
        )
        .with("runs", same)
        .with("steps", steps)
        .with("max", max)
        .hint("sprag explain session.rerun")
    });
}
