//! `progress.stuck`: ever new attempts that end the same.
//!
//! The agent varies what it does and runs into the same wall: a machine that is gone, a command that
//! is not there, a guess that is wrong again. A known failure counts whatever was tried, also what
//! once worked (the machine went away). Another answer counts only if it is long, if the question was
//! reworded, and as long as each attempt in a row has the same: the same short, healthy answer from
//! different targets is the result of a sweep. An empty finding is information, so searching on is
//! forgiven longer.
//!
//! Trips when: 5 such attempts warn and 8 block; of empty findings 8 and 20, where of those that name
//! another path, URL or id each time only each third counts: that is a sweep.
//! Resets when: any step brings news.
//! Bounded by: three numbers.
//! Odd cases: acknowledgements and silence are not counted (a batch of writes is work); in one turn a
//! streak grows once; a failure that repeats the attempt's own words differs each time and is news.

use crate::cell::progress::Progress;
use crate::finding::Findings;
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::{Novelty, StepFacts};

/// Of looks for a thing that is not there, where each looks for another thing, each third counts.
const AIMED_PER_COUNT: u16 = 3;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let streaks = &mut progress.streaks;
    if facts.before.is_none() && facts.novelty != Novelty::Echo {
        streaks.echo = 0;
    }
    let (key, streak, ended) = match facts.novelty {
        Novelty::Wall => (
            "stuck",
            &mut streaks.stuck,
            "failed in a way that was known",
        ),
        Novelty::Echo => ("stuck", &mut streaks.echo, "ended in the same answer"),
        Novelty::Nothing => ("empty", &mut streaks.empty, "found nothing"),
        Novelty::News | Novelty::Quiet | Novelty::Repeat => return,
    };
    let grown = if key == "empty" {
        &mut progress.grown.empty
    } else {
        &mut progress.grown.stuck
    };
    if *grown > facts.turn_start {
        return;
    }
    *grown = progress.step;
    if key == "empty" && facts.tried.aims {
        streaks.aimed = streaks.aimed.saturating_add(1);
        if !streaks.aimed.is_multiple_of(AIMED_PER_COUNT) {
            return;
        }
    }
    *streak = streak.saturating_add(1);
    let rung = Rung {
        rule: RuleId::ProgressStuck,
        key,
        threshold: if key == "empty" {
            limits.progress.empty
        } else {
            limits.progress.stuck
        },
        count: *streak,
        manner: Manner::WarnsTwice,
    };
    climb(&rung, ended, facts, progress, limits, found);
}

fn climb(
    rung: &Rung<'_>,
    ended: &str,
    facts: &StepFacts<'_>,
    progress: &Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let (news, since) = progress.news;
    let steps = progress.step.saturating_sub(news);
    let tool = facts.tried.name.as_str();
    let say = || {
        format!(
            "{} {ended}, the last by {}; {} without anything new",
            times(u32::from(rung.count), "attempt"),
            name(facts.tried),
            times(steps, "step")
        )
    };
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", tool)
            .with("counted", rung.key)
            .with("steps_without_news", steps)
            .with("seconds_without_news", facts.now.since(since).0 / 1000)
    });
}
