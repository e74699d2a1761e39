//! The large part of a session's cell apart from the rest.
//!
//! What a session remembers of its steps takes kilobytes and changes only with steps; marks, counts
//! and calls are small and change with every event. A store that writes over a network keeps the two
//! apart.

use super::SessionCell;
use super::progress::{ApproachHistory, Recent, RecentKeys};
use crate::sender::Owner;

/// The approaches that a session tried and the answers that it got.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepMemory {
    pub(super) approaches: RecentKeys,
    pub(super) pasts: Recent<ApproachHistory>,
    pub(super) outcomes: RecentKeys,
    pub(super) given: RecentKeys<u32>,
    pub(super) told: RecentKeys<u32>,
}

impl StepMemory {
    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl SessionCell {
    /// Takes the memory of its steps out of the cell.
    pub fn take_memory(&mut self) -> StepMemory {
        let progress = &mut self.held.progress;
        StepMemory {
            approaches: std::mem::take(&mut progress.approaches),
            pasts: std::mem::take(&mut progress.pasts),
            outcomes: std::mem::take(&mut progress.outcomes),
            given: std::mem::take(&mut progress.given),
            told: std::mem::take(&mut progress.told),
        }
    }

    /// Puts it back.
    pub fn put_memory(&mut self, memory: StepMemory) {
        let progress = &mut self.held.progress;
        progress.approaches = memory.approaches;
        progress.pasts = memory.pasts;
        progress.outcomes = memory.outcomes;
        progress.given = memory.given;
        progress.told = memory.told;
    }

    /// Whether both remember the same steps.
    #[must_use]
    pub fn has_memory_of(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.held.progress, &other.held.progress);
        mine.approaches == theirs.approaches
            && mine.pasts == theirs.pasts
            && mine.outcomes == theirs.outcomes
            && mine.given == theirs.given
            && mine.told == theirs.told
    }

    /// Whether nothing of it outlives a day without events, so that a store may then forget it.
    #[must_use]
    pub fn is_forgettable(&self) -> bool {
        let Self {
            touched: _,
            generation,
            agent,
            steps,
            killed,
            blocked,
            owner,
            starter,
            family,
            last_killed,
            held: _,
        } = self;
        let is_unowned = matches!(owner, None | Some(Owner::Anonymous));
        let is_unmarked = killed.is_none() && blocked.is_none();
        let is_alone = starter.is_none() && family.is_none();
        let is_first = *generation == 1 && *last_killed == 0;
        is_first && is_alone && agent.is_none() && *steps == 0 && is_unmarked && is_unowned
    }
}
