//! Forgetting: which cells go when there are too many, and doing again what a log says was done.
//!
//! The longest idle cells go first, and the log names the youngest of them, so that a replay
//! forgets exactly the same ones.

use sprag_core::{CellKey, CellMap, SessionCell, Timestamp};

use crate::note::{Eviction, Noted, Pool};

impl Noted {
    /// Does to `cells` what this note says was done to them.
    pub fn apply(&self, cells: &mut CellMap) {
        if let Self::Evicted(eviction) = self {
            eviction.apply(cells);
        }
    }
}

impl Pool {
    /// The pool that a cell belongs to.
    #[must_use]
    pub const fn of(key: &CellKey) -> Self {
        match key {
            CellKey::Session(_) => Self::Sessions,
            _ => Self::Others,
        }
    }

    /// How many cells of this pool there are.
    #[must_use]
    pub fn count(self, cells: &CellMap) -> usize {
        match self {
            Self::Sessions => cells.sessions.len(),
            Self::Others => cells.count_others(),
        }
    }

    /// Every cell that may be forgotten, after the time of its last event.
    fn idle(self, cells: &CellMap) -> Vec<(Timestamp, CellKey)> {
        match self {
            Self::Sessions => {
                let forgettable = cells.sessions.iter().filter(|(_, cell)| may_forget(cell));
                forgettable
                    .map(|(id, cell)| (idle_since(cell.touched()), CellKey::Session(id.clone())))
                    .collect()
            }
            Self::Others => cells
                .others()
                .map(|(key, touched)| (idle_since(touched), key))
                .collect(),
        }
    }

    /// Which cells must go so that at most `keep` stay: the longest idle ones.
    pub(crate) fn to_evict(self, cells: &CellMap, keep: usize) -> Option<Eviction> {
        let excess = self.count(cells).checked_sub(keep).filter(|n| *n > 0)?;
        let mut idle = self.idle(cells);
        let last = excess.min(idle.len()).checked_sub(1)?;
        let (_, (touched, key), _) = idle.select_nth_unstable(last);
        Some(Eviction {
            pool: self,
            touched: *touched,
            last: key.clone(),
            cells: u64::try_from(last + 1).unwrap_or(u64::MAX),
        })
    }
}

impl Eviction {
    /// Forgets the cells that this eviction names.
    pub(crate) fn apply(&self, cells: &mut CellMap) {
        for (touched, key) in self.pool.idle(cells) {
            if (touched, &key) <= (self.touched, &self.last) {
                cells.remove(&key);
            }
        }
    }
}

/// A kill or block outlives everything but a reset.
fn may_forget(cell: &SessionCell) -> bool {
    cell.killed().is_none() && cell.blocked().is_none()
}

/// Times beyond what a database holds are one and the same, so that all stores forget alike.
pub(crate) fn idle_since(touched: Timestamp) -> Timestamp {
    Timestamp(touched.0.min(i64::MAX.unsigned_abs()))
}
