//! `progress.probe`: calls that only talk to themselves, one after the other.
//!
//! `echo s1`, `echo s2`, `echo s3`: every approach is new and so is every answer, so no comparison of
//! answers finds it. But nothing that such a call says could surprise anybody. A few of them are how people
//! and agents write headings or look at the clock; twenty in a row are not.
//!
//! Trips when: 20 probes in a row warn, 40 block. A probe is a shell command of idle programs only (see
//! `digester/probe.rs`), or a call that changes nothing and answered its own argument for the second time.
//! Resets when: any other step.
//! Bounded by: two numbers.
//! Odd cases: in one turn the streak grows once; a look at the clock after a lull waits, and does not count.
//! The silence of other commands is not a probe, and a batch of real work that is acknowledged is not one.

use crate::cell::progress::Progress;
use crate::finding::Findings;
use crate::observation::ToolKind;
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, times};
use super::novelty::StepFacts;
use super::waiting::Wait;

/// From this answer on a call that says its own argument is a probe.
const PARROTS: u16 = 2;

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    let (tried, said) = (facts.tried, facts.outcome.said);
    let parrots = said != 0 && said == tried.argument && tried.kind != ToolKind::Change;
    if !parrots && !tried.probes {
        progress.streaks.probe = 0;
        progress.streaks.parrots = 0;
        return;
    }
    if parrots {
        progress.streaks.parrots = progress.streaks.parrots.saturating_add(1);
    }
    let is_probe = tried.probes || progress.streaks.parrots >= PARROTS;
    let has_grown = progress.grown.probe > facts.turn_start;
    if !is_probe || has_grown || facts.wait == Wait::Lull {
        return;
    }
    progress.grown.probe = progress.step;
    let count = progress.streaks.probe.saturating_add(1);
    progress.streaks.probe = count;
    let rung = Rung {
        rule: RuleId::ProgressProbe,
        key: "probe",
        threshold: limits.progress.probe,
        count,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    rung.climb(
        limits,
        found,
        || {
            format!(
                "{} in a row only printed what they were given and did no work",
                times(u32::from(count), "call")
            )
        },
        |finding| finding.with("tool", tried.name.as_str()),
    );
}
