//! Rounds that are longer than the memory.
//!
//! An agent that goes through three hundred files again and again has forgotten the first when it
//! comes back to it, and so has the guard: 256 approaches are remembered, and each looks new. So one
//! approach of sixteen, with its answer, is also kept as a sample, for much longer. A round that comes
//! back brings its samples back, and nothing but them.
//!
//! Trips when: 5 samples in a row that came back for at least the second time warn, 10 block
//! (`progress.recurrence`). One second round is free: people check everything again.
//! Resets when: a sample that was never seen.
//! Bounded by: 128 samples, so rounds of up to about 2,000 calls.
//! Odd cases: a sample that comes back after a change is a check, one that comes back after a lull is a
//! watch: both start again. In one turn the streak grows once.

use crate::cell::hash::{first_half, mix};
use crate::cell::progress::{Progress, SAMPLES, Sample};
use crate::finding::Findings;
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::StepFacts;
use super::waiting::tenths;

/// One of so many approaches is a sample.
const ONE_OF: u64 = 16;
/// A sample counts from when it came back so often.
const COUNTS_FROM: u8 = 2;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let key = mix(facts.tried.normal, facts.outcome.normal.prefix());
    if facts.before.is_some() || !key.is_multiple_of(ONE_OF) {
        return;
    }
    let Some(seen) = see(progress, key, facts) else {
        progress.streaks.rounds = 0;
        return;
    };
    if seen.times < COUNTS_FROM || progress.grown.rounds > facts.turn_start {
        return;
    }
    progress.grown.rounds = progress.step;
    progress.streaks.rounds = progress.streaks.rounds.saturating_add(1);
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: limits.progress.recurrence,
        count: progress.streaks.rounds,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let (rounds, steps) = (u32::from(seen.times).saturating_add(1), seen.steps);
    let say = || {
        format!(
            "the same round of about {} was gone through {} and brought the same answers, the last by {}",
            times(steps, "step"),
            times(rounds, "time"),
            name(facts.tried)
        )
    };
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", facts.tried.name.as_str())
            .with("counted", "rounds")
            .with("rounds", rounds)
            .with("steps_a_round", steps)
    });
}

/// A sample that was seen before.
struct SeenRounds {
    /// How often it came back.
    times: u8,
    /// How many steps ago it was last seen.
    steps: u32,
}

/// Makes the sample the newest; none if it was not known.
fn see(progress: &mut Progress, key: u64, facts: &StepFacts<'_>) -> Option<SeenRounds> {
    let now = tenths(facts.now);
    let key = first_half(key);
    let fresh = Sample {
        key,
        step: progress.step,
        tenths: now,
        times: 0,
    };
    let at = progress.rounds.iter().position(|held| held.key == key);
    let Some(held) = at.map(|at| progress.rounds.remove(at)) else {
        if progress.rounds.len() >= SAMPLES {
            progress.rounds.remove(0);
        }
        progress.rounds.push(fresh);
        return None;
    };
    let lull = progress.waited.lull;
    let waited = lull != 0 && now.wrapping_sub(lull) < now.wrapping_sub(held.tenths);
    let excused = waited || progress.changed > held.step;
    let times = if excused {
        0
    } else {
        held.times.saturating_add(1)
    };
    progress.rounds.push(Sample { times, ..fresh });
    Some(SeenRounds {
        times,
        steps: progress.step.saturating_sub(held.step),
    })
}
