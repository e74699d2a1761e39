//! `progress.stuck`: a round of a few calls in which nothing is new but wording, numbers and ids.
//!
//! Loops seldom repeat to the letter: the note is worded anew, the receipt bears another id. Each such step is new,
//! and sets the streaks of the other rules back; all of them together are not. So a step is also compared
//! coarsely: what it asks of what, without wording, and what is answered, without numbers and ids. A step that was
//! seen so twice is *familiar*.
//!
//! Such a step weighs three. It weighs one if it merely acknowledges, comes after a pause, polls, or if its answer is
//! another one than last time: another number may be what the agent is after. It weighs nothing if it says
//! something in other words, or checks a file after an edit and does not fail: that is how programs are written.
//!
//! Trips when: a weight of 48 warns and 64 blocks (eight times `stuck.block`): 22 steps of full weight.
//! Resets when: a step is not familiar, differs in numbers that it names, or a number in its answer advances.
//! Bounded by: a fingerprint a step, 256 of them together with those of answers that were given.
//! Odd cases: looks after a lull neither count nor reset; in one turn the streak grows once.

use crate::cell::hash::{first_half, mix};
use crate::cell::progress::Progress;
use crate::cell::tried::Tried;
use crate::finding::Findings;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::{Novelty, StepFacts};
use super::telling::SaidBefore;
use super::waiting::Wait;

/// A familiar step weighs so much, in units of those that weigh little.
const FULL: u16 = 3;
/// So many times `stuck.block` blocks.
const PATIENCE: u32 = 8;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if !is_familiar(facts) {
        progress.streaks.familiar = 0;
        progress.streaks.familiar_steps = 0;
        return;
    }
    let weight = weight(facts, progress);
    if weight == 0 || progress.grown.familiar > facts.turn_start {
        return;
    }
    progress.grown.familiar = progress.step;
    let block = limits.progress.stuck.block.get().saturating_mul(PATIENCE);
    let warn = block / 4 * 3;
    let streaks = &mut progress.streaks;
    streaks.familiar = grown(streaks.familiar, weight, [warn, block.saturating_sub(1)]);
    streaks.familiar_steps = streaks.familiar_steps.saturating_add(1);
    let rung = Rung {
        rule: RuleId::ProgressStuck,
        key: "stuck",
        threshold: Threshold {
            warn: Limit::of(warn),
            block: Limit::of(block),
        },
        count: streaks.familiar,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let steps = streaks.familiar_steps;
    let say = || {
        format!(
            "{} in a row asked what had been asked and got what was known, apart from wording and numbers, the last by {}",
            times(u32::from(steps), "step"),
            name(facts.tried)
        )
    };
    let tool = facts.tried.name.as_str();
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", tool)
            .with("counted", "familiar")
            .with("steps", steps)
    });
}

/// The streak with another step, which stops at each of its marks: whoever is stopped was warned.
fn grown(streak: u16, weight: u16, marks: [u32; 2]) -> u16 {
    let next = marks.into_iter().find(|mark| u32::from(streak) < *mark);
    let most = next.and_then(|mark| u16::try_from(mark).ok());
    let sum = streak.saturating_add(weight);
    most.map_or(sum, |most| sum.min(most))
}

/// Looks up and remembers that what the approach is about was answered so twice, but for numbers and ids.
pub(super) fn seen_twice(progress: &mut Progress, tried: &Tried, outcome: &Outcome) -> bool {
    let asked = match tried.about.form {
        0 => tried.normal,
        form => mix(u64::from(form), u64::from(tried.about.thing)),
    };
    // How many tests failed is what a failure says.
    let answered = match outcome.shape {
        shape if shape != 0 && outcome.tone != Tone::Failure => u64::from(shape),
        _ => outcome.normal.prefix(),
    };
    // Doing it all once more is free.
    [2, 3].into_iter().all(|time| {
        let key = first_half(mix(mix(asked, answered), time));
        progress.given.use_again(key)
    })
}

fn is_familiar(facts: &StepFacts<'_>) -> bool {
    let says_something = matches!(facts.wording, SaidBefore::OtherNumbers | SaidBefore::New);
    let gets_on = facts.gets_on || facts.trend.advances();
    facts.familiar && !says_something && !gets_on
}

fn weight(facts: &StepFacts<'_>, progress: &Progress) -> u16 {
    let fails = facts.outcome.tone == Tone::Failure;
    let rewords = facts.wording == SaidBefore::Reworded;
    let checks = !fails
        && facts
            .before
            .is_some_and(|before| before.step < progress.edited);
    if facts.wait == Wait::Lull || checks || rewords {
        return 0;
    }
    let acknowledges = matches!(facts.outcome.tone, Tone::Silent | Tone::Done);
    let patient = facts.wait != Wait::None || facts.tried.kind == ToolKind::Poll;
    // Another number may be what the agent is after.
    let differs = (facts.novelty == Novelty::News || facts.flips) && !fails;
    if acknowledges || patient || differs {
        1
    } else {
        FULL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streak_of_any_weights_meets_both_of_its_marks() {
        for weights in [[3, 3, 3], [1, 3, 3], [3, 1, 1], [1, 1, 3]] {
            let steps = weights.into_iter().cycle().take(64);
            let streaks = steps.scan(0, |streak, weight| {
                *streak = grown(*streak, weight, [48, 63]);
                Some(*streak)
            });
            let met: Vec<u16> = streaks.filter(|streak| [48, 63].contains(streak)).collect();
            assert_eq!(met, [48, 63], "{weights:?}");
        }
    }
}
