//! The last rung of `progress.stuck`: a long time in which no answer was new.
//!
//! The other ideas forgive a small world: a maze has two answers, and going through it takes many
//! steps. But an agent whose answers are all known, however it mixes them, learns nothing for ever.
//! So there is an end to forgiveness: far beyond what honest runs need, and in force whatever else
//! a step looks like.
//!
//! Trips when: 25 times `stuck.block` answers in a row were all known (200 by default); the warning
//! comes at four fifths of that.
//! Resets when: an answer that the session does not remember, or a change that does not fail.
//! Bounded by: one number.
//! Odd cases: silence, acknowledgements, short answers of new approaches, polls and looks after a
//! lull neither count nor reset: a long batch is work, and waiting is waiting. `budget.actions` bounds
//! those.

use crate::cell::progress::Progress;
use crate::finding::Findings;
use crate::observation::{Tone, ToolKind};
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::StepFacts;
use super::waiting::Wait;

const PATIENCE: u32 = 25;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let fails = facts.outcome.tone == Tone::Failure || facts.outcome.absent;
    let changes = facts.tried.kind == ToolKind::Change && !fails;
    if changes || !facts.answer_seen {
        progress.streaks.barren = 0;
        return;
    }
    let says_nothing = matches!(facts.outcome.tone, Tone::Silent | Tone::Done);
    let batch =
        facts.before.is_none() && facts.outcome.tone == Tone::Telling && !facts.outcome.long;
    let waits = facts.tried.kind == ToolKind::Poll || facts.wait == Wait::Lull;
    if says_nothing || batch || waits || progress.grown.barren > facts.turn_start {
        return;
    }
    progress.grown.barren = progress.step;
    progress.streaks.barren = progress.streaks.barren.saturating_add(1);
    let block = limits.progress.stuck.block.get().saturating_mul(PATIENCE);
    let rung = Rung {
        rule: RuleId::ProgressStuck,
        key: "stuck",
        threshold: Threshold {
            warn: Limit::of(block / 5 * 4),
            block: Limit::of(block),
        },
        count: progress.streaks.barren,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let tool = facts.tried.name.as_str();
    let say = || {
        format!(
            "{} in a row brought only answers that were known, the last by {}",
            times(u32::from(rung.count), "step"),
            name(facts.tried)
        )
    };
    rung.climb(limits, found, say, |finding| {
        finding.with("tool", tool).with("counted", "barren")
    });
}
