//! Forgetting: which cells go when there are too many, and doing again what a log says was done.
//!
//! The longest idle cells go first, and the log names the youngest of them, so that a replay
//! forgets exactly the same ones. What an event was just judged on is never forgotten to make room
//! for that event: else a full store would forget each session as soon as it was seen.

use sprag_core::{CellKey, CellMap, Id, Mark, SessionCell, Timestamp};

use crate::note::{Eviction, Noted, Pool, RestoredMark};

impl Noted {
    /// Does to `cells` what this note says was done to them.
    pub fn apply(&self, cells: &mut CellMap) {
        match self {
            Self::Evicted(eviction) => eviction.apply(cells),
            Self::MarkRestored(restored) => restored.apply(cells),
            _ => {}
        }
    }
}

impl RestoredMark {
    /// The mark that `after` has and `before` had not, of a session.
    pub(crate) fn new_in(
        session: &Id,
        before: Option<&SessionCell>,
        after: &SessionCell,
    ) -> Option<Self> {
        let was_killed = before.is_some_and(|cell| cell.killed().is_some());
        let was_blocked = before.is_some_and(|cell| cell.blocked().is_some());
        let killed = after.killed().filter(|_| !was_killed);
        let blocked = after.blocked().filter(|_| !was_blocked);
        let mark = killed.or(blocked)?;
        Some(Self {
            session: session.clone(),
            generation: after.generation(),
            is_kill: killed.is_some(),
            at: mark.at,
            rule: mark.rule,
            why: mark.why.clone(),
            by: mark.by.as_deref().map(str::to_owned),
        })
    }

    fn apply(&self, cells: &mut CellMap) {
        let mark = Mark {
            at: self.at,
            rule: self.rule,
            why: self.why.clone(),
            by: self.by.as_deref().map(Into::into),
        };
        let cell = cells.sessions.entry(self.session.clone()).or_default();
        cell.restore_mark(self.generation, self.is_kill, mark);
    }
}

/// What may be forgotten.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room<'a> {
    /// How many cells must go.
    pub(crate) excess: usize,
    /// Only those whose last event was not after this.
    pub(crate) until: Timestamp,
    /// The cells of the event that needs the room.
    pub(crate) own: &'a [CellKey],
}

impl Pool {
    /// Every cell of this pool, after the time of its last event.
    fn idle(self, cells: &CellMap) -> Vec<(Timestamp, CellKey)> {
        match self {
            Self::Sessions | Self::Marks => {
                let wanted = self == Self::Marks;
                let sessions = cells.sessions.iter();
                sessions
                    .filter(|(_, cell)| is_marked(cell) == wanted)
                    .map(|(id, cell)| (idle_since(cell.touched()), CellKey::Session(id.clone())))
                    .collect()
            }
            Self::Others => cells
                .others()
                .map(|(key, touched)| (idle_since(touched), key))
                .collect(),
        }
    }

    /// Which cells go: the longest idle ones.
    pub(crate) fn to_evict(self, cells: &CellMap, room: Room<'_>) -> Option<Eviction> {
        let mut idle = self.idle(cells);
        idle.retain(|(touched, key)| *touched <= room.until && !room.own.contains(key));
        let last = room.excess.min(idle.len()).checked_sub(1)?;
        let (_, (touched, key), _) = idle.select_nth_unstable(last);
        let (touched, last_key) = (*touched, key.clone());
        Some(Eviction {
            pool: self,
            kept: kept(room.own, (touched, &last_key), |key| cells.touched(key)),
            touched,
            last: last_key,
            cells: u64::try_from(last + 1).unwrap_or(u64::MAX),
        })
    }
}

/// Those of `own` that an eviction up to `last` would take along.
pub(crate) fn kept(
    own: &[CellKey],
    last: (Timestamp, &CellKey),
    touched: impl Fn(&CellKey) -> Option<Timestamp>,
) -> Vec<CellKey> {
    let is_older = |key: &&CellKey| touched(key).is_some_and(|at| (idle_since(at), *key) <= last);
    own.iter().filter(is_older).cloned().collect()
}

impl Eviction {
    /// Forgets the cells that this eviction names.
    pub(crate) fn apply(&self, cells: &mut CellMap) {
        for (touched, key) in self.pool.idle(cells) {
            if (touched, &key) <= (self.touched, &self.last) && !self.kept.contains(&key) {
                cells.remove(&key);
            }
        }
    }
}

/// A kill or block outlives everything but a reset.
pub(crate) fn is_marked(cell: &SessionCell) -> bool {
    cell.killed().is_some() || cell.blocked().is_some()
}

/// Times beyond what a database holds are one and the same, so that all stores forget alike.
pub(crate) fn idle_since(touched: Timestamp) -> Timestamp {
    Timestamp(touched.0.min(i64::MAX.unsigned_abs()))
}
