//! Where a step fell between work and standing still, as the session's classifier judged it.
//!
//! Nothing is judged again: the memory before and after the fold says whether the approach was
//! known, whether the step was taken for news, and whether a streak grew.

use serde::Serialize;

use crate::cell::SessionCell;
use crate::cell::progress::{Progress, Streaks};
use crate::cell::tried::Tried;
use crate::engine::pending_id;
use crate::observation::Step;
use crate::policy::{Classifier, Limits};

/// What the progress rules made of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepProgress {
    /// A new approach that brought something new.
    FullProgress,
    /// A known approach that brought something new.
    WorldChanged,
    /// A new approach that brought nothing new, and counts.
    Stuck,
    /// A known approach that brought nothing new, and counts.
    FullStagnation,
    /// It brought nothing new, and nothing is held against it.
    Quiet,
}

impl StepProgress {
    /// What was made of `step`, from its session before it and after it; none if the progress rules
    /// did not judge it.
    pub(super) fn of(
        step: &Step,
        mut before: SessionCell,
        after: &SessionCell,
        limits: &Limits,
    ) -> Option<Self> {
        let pending = pending_id(step.use_id.as_ref(), step.id.as_ref())
            .and_then(|id| before.take_pending(id));
        let tried = match (pending, &step.approach) {
            (Some(pending), _) => pending.tried,
            (None, approach) => Tried::new(approach.as_ref()?, limits),
        };
        let (mut before, after) = (before.held.progress, &after.held.progress);
        before.belong_to(limits.progress.classifier);
        if after.step <= before.step {
            return None;
        }
        let approach_seen = match limits.progress.classifier {
            Classifier::Plain => before.approaches.use_again(tried.exact),
            Classifier::Informed => before.past(tried.normal).is_some(),
        };
        Some(match (approach_seen, brought_news(after)) {
            (false, true) => Self::FullProgress,
            (true, true) => Self::WorldChanged,
            _ if !grew(&before.streaks, &after.streaks) => Self::Quiet,
            (false, false) => Self::Stuck,
            (true, false) => Self::FullStagnation,
        })
    }
}

fn brought_news(after: &Progress) -> bool {
    match after.classifier {
        Classifier::Plain => after.streaks.stagnation == 0 && after.streaks.stuck == 0,
        Classifier::Informed => after.news.0 == after.step,
    }
}

/// Whether one of the streaks grew that new and known approaches make longer.
fn grew(before: &Streaks, after: &Streaks) -> bool {
    let counted = |streaks: &Streaks| {
        [
            streaks.stagnation,
            streaks.repeats,
            streaks.stuck,
            streaks.weak,
            streaks.echo,
            streaks.empty,
            streaks.similar,
        ]
    };
    let mut both = counted(before).into_iter().zip(counted(after));
    both.any(|(before, after)| after > before)
}
