//! Proving a log: the chain holds, and every verdict comes out the same again.
//!
//! Nothing is taken on trust: numbers without a gap, every hash, every checkpoint kept apart, every
//! verdict under its own policy, the cells that a pruned log starts from, and at the end the cells in
//! the store against those that the log makes. What this build can't recompute, because it
//! was judged under other rules, is counted and said so. The first bad place ends it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::error::StoreError;
use crate::fold_log::{FoldLog, LogProblem, ReadPolicy, StepResult};
use crate::view::{Checkpoint, LogView};

/// A store that keeps checkpoints writes one at least every so many records.
pub(crate) const CHECKPOINT_EVERY: u64 = 1_000;

/// The first bad place of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {seq}: {problem}")]
pub struct BadRecord {
    /// Which record.
    pub seq: u64,
    /// What is wrong.
    pub problem: LogProblem,
}

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// The first record that is left.
    pub first: u64,
    /// The last record that was looked at.
    pub last: u64,
    /// Events whose verdict came out the same.
    pub recomputed: u64,
    /// Notes.
    pub notes: u64,
    /// Events that this build can't judge, by the version of their rules: their chain was checked, their
    /// verdicts were not.
    pub not_recomputed: BTreeMap<u32, u64>,
    /// The last checkpoint that the log reaches.
    pub checkpoint: Option<u64>,
    /// The first bad place.
    pub bad: Option<BadRecord>,
}

impl Verification {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.bad.is_none()
    }

    fn fail(&mut self, seq: u64, problem: LogProblem) {
        self.bad.get_or_insert(BadRecord { seq, problem });
    }
}

/// Verifies a log. Errors are those of reading; what is wrong with the log itself is in the answer.
pub fn verify(view: &dyn LogView, policies: ReadPolicy<'_>) -> Result<Verification, StoreError> {
    let base = view.base()?;
    let checkpoints = view.checkpoints()?;
    let mut expected = by_number(checkpoints.as_deref().unwrap_or_default());
    let mut found = Verification {
        first: base.after.saturating_add(1),
        last: base.after,
        ..Verification::default()
    };
    if expected
        .remove(&base.after)
        .is_some_and(|hash| hash != base.hash)
    {
        found.fail(base.after, LogProblem::Checkpoint);
        return Ok(found);
    }
    // Records come in order, and so do those that a checkpoint names.
    let mut expected = expected.split_off(&found.first).into_iter().peekable();
    let after = base.after;
    let mut fold = FoldLog::new(base, policies);
    view.scan(after, &mut |row| {
        let step = match fold.step(view, row) {
            Ok(_)
                if expected
                    .next_if(|(seq, _)| *seq == row.seq)
                    .is_some_and(|(_, hash)| hash != row.hash) =>
            {
                Err(LogProblem::Checkpoint)
            }
            other => other,
        };
        match step {
            Ok(StepResult::Recomputed) => found.recomputed += 1,
            Ok(StepResult::Noted) => found.notes += 1,
            Ok(StepResult::OtherRules(version)) => {
                *found.not_recomputed.entry(version).or_default() += 1;
            }
            Err(problem) => {
                found.fail(fold.last().saturating_add(1), problem);
                return ControlFlow::Break(());
            }
        }
        found.last = row.seq;
        ControlFlow::Continue(())
    })?;
    if found.is_sound() {
        let last = checkpoints
            .as_ref()
            .and_then(|all| all.iter().map(|one| one.seq).max());
        found.checkpoint = last.filter(|seq| *seq <= found.last);
        conclude(view, &fold, checkpoints.is_some(), last, &mut found)?;
    }
    Ok(found)
}

fn by_number(checkpoints: &[Checkpoint]) -> BTreeMap<u64, crate::hash::Hash> {
    checkpoints.iter().map(|one| (one.seq, one.hash)).collect()
}

/// What can only be told at the end.
fn conclude(
    view: &dyn LogView,
    fold: &FoldLog<'_>,
    keeps_checkpoints: bool,
    last_checkpoint: Option<u64>,
    found: &mut Verification,
) -> Result<(), StoreError> {
    let next = found.last.saturating_add(1);
    match last_checkpoint {
        Some(checkpoint) if checkpoint > found.last => {
            found.fail(next, LogProblem::Cut { checkpoint });
        }
        None if keeps_checkpoints && found.last >= CHECKPOINT_EVERY => {
            found.fail(found.last, LogProblem::NoCheckpoints);
        }
        _ => {}
    }
    if keeps_checkpoints && !fold.is_anchored() {
        let after = found.first.saturating_sub(1);
        found.fail(found.first, LogProblem::Unanchored { after });
    }
    if found.is_sound()
        && let Some(cells) = fold.cells()
        && let Some(key) = view.first_difference(cells)?
    {
        found.fail(found.last, LogProblem::Cells(key));
    }
    Ok(())
}
