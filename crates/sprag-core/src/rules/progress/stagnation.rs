//! `progress.stagnation`: repeats, and no news in between.
//!
//! The plainest loop: the same call with the same answer, or a round of calls that all answer what
//! they answered before. It is not the repetition that counts but that nothing else brought
//! anything either, so attempts that end in known failures do not end the streak.
//!
//! Trips when: a streak of 3 warns (the 4th identical call in a row), of 5 blocks. Whoever makes the
//! very same call again right after a warning was warned: that counts twice, and the warning says so.
//! So the 5th identical call in a row blocks, and in a longer round the 5th repeat. In one turn the
//! streak grows once.
//! Resets when: any step brings news.
//! Bounded by: one number.
//! Odd cases: what is a repeat is said in `novelty.rs`, and which repeats count in `repeat.rs`.

use crate::cell::progress::Progress;
use crate::finding::Findings;
use crate::observation::Tone;
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::StepFacts;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if !facts.counts || progress.grown.stagnation > facts.turn_start {
        return;
    }
    progress.grown.stagnation = progress.step;
    let streak = &mut progress.streaks.stagnation;
    let told = u32::from(*streak) >= limits.progress.stagnation.warn.get();
    let weight = if told && facts.directly { 2 } else { 1 };
    *streak = streak.saturating_add(weight);
    let count = *streak;
    let repeats = &mut progress.streaks.repeats;
    *repeats = repeats.saturating_add(1);
    let repeats = u32::from(*repeats);
    let (news, since) = progress.news;
    let rung = Rung {
        rule: RuleId::ProgressStagnation,
        key: "stagnation",
        threshold: limits.progress.stagnation,
        count,
        manner: Manner::WarnsTwice,
        again_weighs: if facts.directly { 2 } else { 1 },
    };
    let steps = progress.step.saturating_sub(news);
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
            if facts.past.looks == facts.past.span && facts.past.looks > 0 {
                let same = u32::from(facts.past.looks).saturating_add(1);
                let same = times(same, "time");
                return format!("{} gave the same {what} {same} in a row", name(facts.tried));
            }
            format!(
                "{} repeated what had been done before and got a known answer, the last by {}; {} without anything new",
                times(repeats, "step"),
                name(facts.tried),
                times(steps, "step")
            )
        },
        |finding| {
            finding
                .with("tool", tool)
                .with("same_answers", u32::from(facts.past.looks).saturating_add(1))
                .with("steps_without_news", steps)
                .with("seconds_without_news", facts.now.since(since).0 / 1000)
        },
    );
}
