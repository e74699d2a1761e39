//! `progress.recurrence`: one approach that keeps coming back, with other work in between.
//!
//! Between its attempts the agent reads, edits, looks around, and all of that is new, so no streak
//! of the whole session sees it. But the one call that matters answers the same each time: the test
//! that fails as before whatever was edited, the report that is still empty.
//!
//! Trips when: 5 repeats that count warn, 10 block.
//! Resets when: the approach answers something else; for what does not fail also a new change since
//! its last time (then it is a check), and more than 20 other steps in between.
//! Bounded by: one number an approach.
//! Odd cases: a look that neither fails nor comes up empty is a habit while other steps bring news:
//! it is worth a warning, never a block. If it is not a look and its answer is short (a label for
//! the item that was read before), it is work. `novelty.rs` decides what is a repeat.

use crate::cell::progress::Progress;
use crate::finding::Findings;
use crate::observation::{Tone, ToolKind};
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::StepFacts;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if !facts.counts {
        return;
    }
    let past = &facts.past;
    let is_habit = is_habit(facts, progress);
    let tried = facts.tried;
    let is_deed =
        tried.kind == ToolKind::Run && tried.label.as_str().is_empty() || tried.about.controls;
    if is_habit && is_deed && !facts.outcome.long {
        return;
    }
    let manner = if is_habit {
        Manner::NeverBlocks
    } else {
        Manner::WarnsTwice
    };
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: limits.progress.recurrence,
        count: past.same,
        manner,
        again_weighs: 1,
    };
    let first = progress.step.saturating_sub(u32::from(past.span));
    let changed = progress.changed > first;
    rung.climb(
        limits,
        found,
        || in_words(facts, changed),
        |finding| {
            finding
                .with("tool", facts.tried.name.as_str())
                .with("same_answers", u32::from(past.looks) + 1)
                .with("steps", u32::from(past.span) + 1)
                .with("changes_in_between", changed)
        },
    );
}

fn in_words(facts: &StepFacts<'_>, changed: bool) -> String {
    let failed = facts.outcome.tone == Tone::Failure;
    let what = if failed { "failure" } else { "answer" };
    let tool = name(facts.tried);
    if facts.flips {
        return format!("{tool} went back to a known {what} again and again");
    }
    let meanwhile = if changed {
        ", whatever was changed in between"
    } else {
        ""
    };
    format!(
        "{tool} gave the same {what} {} in {}{meanwhile}",
        times(u32::from(facts.past.looks).saturating_add(1), "time"),
        times(u32::from(facts.past.span).saturating_add(1), "step"),
    )
}

/// Whether it only looks at something that is well, between steps that bring news.
fn is_habit(facts: &StepFacts<'_>, progress: &Progress) -> bool {
    let well = !matches!(facts.outcome.tone, Tone::Failure | Tone::Empty);
    let news_since = facts
        .before
        .is_some_and(|before| progress.news.0 > before.step);
    let steers = facts.tried.about.controls;
    well && news_since && (facts.tried.kind != ToolKind::Change || steers)
}
