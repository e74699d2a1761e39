//! The plain matrix: was this approach ever tried, was this outcome ever seen?
//!
//! | | new outcome | outcome seen |
//! |---|---|---|
//! | new approach | `full_progress`: both streaks end | `stuck`: +1, stagnation ends |
//! | approach seen | `world_changed`: both streaks end | `full_stagnation`: +1, stuck ends |
//!
//! Exact digests, nothing else: no guess of what a tool is for, no noise taken out, no clock. It is
//! there for those who want a rule that fits in four cells, and as the measure for the informed one.
//!
//! Trips when: `progress.stagnation` and `progress.stuck` reach their thresholds.
//! Resets when: as in the matrix; a user's message.
//! Bounded by: the 256 most recently used approaches and outcomes.
//! Odd cases: a batch that answers `ok` each time is stuck by this matrix; an edit and test cycle
//! with one failure never fires, since each streak ends the other.

use crate::cell::progress::Progress;
use crate::cell::tried::Tried;
use crate::finding::Findings;
use crate::observation::Outcome;
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};

pub(super) fn judge(
    progress: &mut Progress,
    tried: &Tried,
    outcome: &Outcome,
    limits: &Limits,
    found: &mut Findings,
) {
    let approach_seen = progress.approaches.use_again(tried.exact);
    let outcome_seen = progress.outcomes.use_again(outcome.exact.prefix());
    let streaks = &mut progress.streaks;
    let (stagnation, stuck) = (streaks.stagnation, streaks.stuck);
    (streaks.stagnation, streaks.stuck) = match (approach_seen, outcome_seen) {
        (_, false) => (0, 0),
        (true, true) => (stagnation.saturating_add(1), 0),
        (false, true) => (0, stuck.saturating_add(1)),
    };
    if !outcome_seen {
        return;
    }
    let (rule, key, threshold, count, cell, did) = if approach_seen {
        (
            RuleId::ProgressStagnation,
            "stagnation",
            limits.progress.stagnation,
            streaks.stagnation,
            "full_stagnation",
            "repeated something",
        )
    } else {
        (
            RuleId::ProgressStuck,
            "stuck",
            limits.progress.stuck,
            streaks.stuck,
            "stuck",
            "tried something new",
        )
    };
    let rung = Rung {
        rule,
        key,
        threshold,
        count,
        manner: Manner::WarnsEachTime,
        again_weighs: 1,
    };
    let tool = tried.name.as_str();
    let say = || {
        let steps = times(u32::from(count), "step");
        let last = name(tried);
        format!("{steps} in a row {did} and got a known result, the last by {last}")
    };
    rung.climb(limits, found, say, |finding| {
        finding.with("cell", cell).with("tool", tool)
    });
}
