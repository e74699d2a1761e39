//! `progress.churn`: the same change again, whatever it answers.
//!
//! An edit that is applied a second time answers something else each time (the file grows, the line
//! numbers move), so by its answers it looks like work. But a change that was made already, with no
//! new one since, changes nothing that the agent wanted: either it works, and once was enough, or it
//! does not.
//!
//! Trips when: changes made before come 3 times with no new change since (the 4th of one change)
//! to warn, 6 times (the 7th) to block.
//! Resets when: a change that was not made before is made, and does not fail; after a lull of five
//! minutes. After a shorter lull, or a pause if something is in its way, a change is tried again, and does not count.
//! Bounded by: two numbers.
//! Odd cases: in one turn the streak grows once; the same change after a new one (`git add .` between edits) is not counted; a change
//! that fails counts when it is made again; a switch, a move or a label that is set again is steering
//! while other answers are new, or if it is set to and fro, and does not count; keys, clicks and lines sent to a program are runs, not
//! changes, since sending them again is how one gets on.

use crate::cell::progress::Progress;
use crate::finding::Findings;
use crate::observation::{Tone, ToolKind};
use crate::policy::Limits;
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
    if facts.tried.kind != ToolKind::Change {
        return;
    }
    let Some(before) = facts.before else {
        if facts.outcome.tone != Tone::Failure && !facts.outcome.absent {
            progress.changed = progress.step;
            if !facts.tried.label.as_str().is_empty() {
                progress.edited = progress.step;
            }
            progress.streaks.churn = 0;
        }
        return;
    };
    let to_and_fro = !facts.directly && facts.novelty == Novelty::Repeat;
    let steers = facts.tried.about.controls && (progress.news.0 > before.step || to_and_fro);
    let is_held_up = facts.outcome.tone == Tone::Failure && facts.outcome.pending;
    let waits = facts.wait == Wait::Lull || is_held_up && facts.wait != Wait::None;
    if progress.changed > before.step || waits || steers {
        return;
    }
    if progress.grown.churn > facts.turn_start {
        return;
    }
    progress.grown.churn = progress.step;
    let again = progress.streaks.churn.saturating_add(1);
    progress.streaks.churn = again;
    let rung = Rung {
        rule: RuleId::ProgressChurn,
        key: "churn",
        threshold: limits.progress.churn,
        count: again.saturating_add(1),
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let tool = facts.tried.name.as_str();
    rung.climb(
        limits,
        found,
        || {
            format!(
                "{} made a change that was already made, {} since the last new one",
                name(facts.tried),
                times(u32::from(again), "time")
            )
        },
        |finding| finding.with("tool", tool).with("made_again", again),
    );
}
