//! `progress.stuck`: ever new attempts that end the same.
//!
//! The agent varies what it does and runs into the same wall: a machine that is gone, a command that
//! is not there, a guess that is wrong again. A known failure counts whatever was tried, also what
//! once worked (the machine went away). Another answer counts only if it is long, if the question was
//! reworded, and as long as each attempt in a row has the same: the same short, healthy answer from
//! different targets is the result of a sweep. An empty finding is information, so searching on is
//! forgiven longer.
//!
//! A failure that repeats the attempt's own words differs each time. It is known by the words around
//! them, and because that is a guess, as patiently as an empty finding.
//!
//! Trips when: 5 such attempts warn and 8 block; of a report that counts its findings each third, since
//! the same report from different places is a sweep. Of empty findings and of failures in nearly the
//! same words 8 warn and 20 block; of those failures that a sweep brings two of three; of findings that name
//! another path, URL or id each time, or that one sweep brings, and of the same short
//! answer to other words, each second.
//! Resets when: any step brings news.
//! Bounded by: six numbers.
//! Odd cases: acknowledgements and silence are not counted (a batch of writes is work); in one turn a
//! streak grows once.

use crate::cell::progress::{Progress, Streaks};
use crate::finding::Findings;
use crate::observation::{Tone, ToolKind};
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::{Novelty, StepFacts};

/// Of looks for a thing that is not there, where each looks for another thing, each second counts.
const AIMED_PER_COUNT: u16 = 2;
/// Of known failures that may be findings each third counts; of short ones, which a sweep brings from
/// each of its targets (`denied`), each fifth; of those from one target after the other, asked in one form,
/// each fourth.
const WEAK_PER_COUNT: u16 = 3;
/// Of failures in nearly the same words from one target after the other each third does not count.
const SWEEP_SIMILAR: u16 = 3;
const SWEEP_PER_COUNT: u16 = 4;
const SHORT_WEAK_PER_COUNT: u16 = 5;

/// What an attempt ended in: the key of its threshold, and the words for it.
fn ended(facts: &StepFacts<'_>) -> Option<(&'static str, &'static str)> {
    Some(match facts.novelty {
        Novelty::Wall => ("stuck", "failed in a way that was known"),
        Novelty::Similar => ("empty", "failed in nearly the same words"),
        Novelty::Echo => ("stuck", "ended in the same answer"),
        Novelty::Nothing if is_short_echo(facts) => (
            "empty",
            "found nothing, or the same short answer in other words",
        ),
        Novelty::Nothing if asks_again(facts) => ("stuck", "asked nothing new and found nothing"),
        Novelty::Nothing => ("empty", "found nothing"),
        Novelty::News | Novelty::Quiet | Novelty::Repeat => return None,
    })
}

/// A question in other words brought the short answer of the step before.
fn is_short_echo(facts: &StepFacts<'_>) -> bool {
    facts.outcome.tone == Tone::Telling && !facts.outcome.absent
}

/// A question that says nothing new, at length, found nothing.
fn asks_again(facts: &StepFacts<'_>) -> bool {
    facts.asks_again && !is_short_echo(facts)
}

/// Counts an attempt: the streak, and how many attempts it is made of. Of the patient ones only some
/// count, the first among them.
fn count(facts: &StepFacts<'_>, streaks: &mut Streaks) -> Option<(u16, u32)> {
    let (streak, patient, per_count, is_patient) = match facts.novelty {
        Novelty::Nothing if asks_again(facts) => (&mut streaks.stuck, &mut streaks.weak, 1, false),
        Novelty::Nothing => {
            // What can't be changed because it is not there is no search.
            let aims = facts.tried.aims && facts.tried.kind != ToolKind::Change;
            let is_patient = aims || facts.sweeps || is_short_echo(facts);
            (
                &mut streaks.empty,
                &mut streaks.aimed,
                AIMED_PER_COUNT,
                is_patient,
            )
        }
        Novelty::Wall => {
            let per_count = if facts.sweeps {
                SWEEP_PER_COUNT
            } else if facts.outcome.long {
                WEAK_PER_COUNT
            } else {
                SHORT_WEAK_PER_COUNT
            };
            let may_be_found = facts.outcome.weak && facts.tried.kind != ToolKind::Change;
            let is_patient = may_be_found || facts.sweeps;
            (&mut streaks.stuck, &mut streaks.weak, per_count, is_patient)
        }
        Novelty::Similar => return count_similar(facts, streaks),
        _ => (&mut streaks.echo, &mut 0, 1, false),
    };
    let counts = !is_patient || patient.is_multiple_of(per_count);
    *patient = patient.saturating_add(u16::from(is_patient));
    *streak = streak.saturating_add(u16::from(counts));
    let uncounted = patient.saturating_sub(patient.div_ceil(per_count));
    counts.then(|| (*streak, u32::from(*streak) + u32::from(uncounted)))
}

/// Counts an attempt that failed in nearly the same words: of those of a sweep two of three.
fn count_similar(facts: &StepFacts<'_>, streaks: &mut Streaks) -> Option<(u16, u32)> {
    streaks.swept = streaks.swept.saturating_add(u16::from(facts.sweeps));
    if facts.sweeps && streaks.swept.is_multiple_of(SWEEP_SIMILAR) {
        return None;
    }
    streaks.similar = streaks.similar.saturating_add(1);
    let uncounted = streaks.swept / SWEEP_SIMILAR;
    Some((
        streaks.similar,
        u32::from(streaks.similar) + u32::from(uncounted),
    ))
}

/// In one turn a streak grows once, but patience is used up by each target.
fn use_up_patience(facts: &StepFacts<'_>, streaks: &mut Streaks) {
    let sweeps = facts.sweeps && facts.novelty == Novelty::Wall;
    if sweeps && !streaks.weak.is_multiple_of(SWEEP_PER_COUNT) {
        streaks.weak = streaks.weak.saturating_add(1);
    }
}

/// The threshold of an attempt. A sweep is warned only once, right before it is blocked.
fn with_one_warning_for_a_sweep(facts: &StepFacts<'_>, threshold: Threshold) -> Threshold {
    let block = threshold.block;
    let warn = match facts.novelty {
        Novelty::Wall if facts.sweeps => Limit::of(block.get().saturating_sub(1)),
        _ => threshold.warn,
    };
    Threshold { warn, block }
}

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if facts.before.is_none() && facts.novelty != Novelty::Echo {
        progress.streaks.echo = 0;
    }
    let Some((key, ended)) = ended(facts) else {
        return;
    };
    let (grown, threshold) = if key == "empty" {
        (progress.grown.empty, limits.progress.empty)
    } else {
        (progress.grown.stuck, limits.progress.stuck)
    };
    if grown > facts.turn_start {
        use_up_patience(facts, &mut progress.streaks);
        return;
    }
    match key {
        "empty" => progress.grown.empty = progress.step,
        _ => progress.grown.stuck = progress.step,
    }
    let Some((count, attempts)) = count(facts, &mut progress.streaks) else {
        return;
    };
    let rung = Rung {
        rule: RuleId::ProgressStuck,
        key,
        threshold: with_one_warning_for_a_sweep(facts, threshold),
        count,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let (news, since) = progress.news;
    let steps = progress.step.saturating_sub(news);
    let say = || {
        let (attempts, last) = (times(attempts, "attempt"), name(facts.tried));
        // A failure in words of its own is something new, though it does not help.
        if facts.novelty == Novelty::Similar {
            return format!("{attempts} {ended}, the last by {last}");
        }
        let steps = times(steps, "step");
        format!("{attempts} {ended}, the last by {last}; {steps} without anything new")
    };
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", facts.tried.name.as_str())
            .with("counted", key)
            .with("attempts", attempts)
            .with("steps_without_news", steps)
            .with("seconds_without_news", facts.now.since(since).0 / 1000)
    });
}
