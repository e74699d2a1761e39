//! Cells in memory with what people like to see of them: what a store that owns its data works on.

use std::collections::HashMap;

use sprag_core::{CellKey, CellKeys, CellMap, Id, Millis, Observed, Timestamp, Verdict};

use crate::capacity::{Capacity, MARK_LIFE, after_eviction};
use crate::census::{Census, Marked};
use crate::draft::Draft;
use crate::encoded_record::resolve_open_fields;
use crate::error::StoreError;
use crate::eviction::Room;
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::{Eviction, Pool};
use crate::query::{Page, Session, SessionState, SessionSummary, Tally};

/// Cells and counts.
#[derive(Debug, Default)]
pub(crate) struct StoreState {
    pub(crate) cells: CellMap,
    pub(crate) tallies: HashMap<Id, Tally>,
    marked: Marked,
    /// When marks were last looked through for old ones, without finding enough.
    marks_searched: Option<Timestamp>,
}

impl StoreState {
    /// Settles what a draft leaves open and folds it.
    pub(crate) fn decide(&mut self, draft: &mut Draft) -> Result<(Verdict, CellKeys), StoreError> {
        resolve_open_fields(&mut draft.observation, &self.cells)?;
        self.compare_clock(draft);
        self.fold(draft)
    }

    /// Notes in the draft if the cells that it touches are ahead of the clock.
    fn compare_clock(&self, draft: &mut Draft) {
        let (keys, at) = (
            CellKeys::of(&draft.observation, &draft.policy.policy),
            draft.observation.at,
        );
        draft.observation.clock_back = self.cells.are_ahead(&keys, at);
    }

    /// Folds a draft that leaves nothing open, as it was recorded.
    pub(crate) fn fold(&mut self, draft: &mut Draft) -> Result<(Verdict, CellKeys), StoreError> {
        let policy = &draft.policy.policy;
        let (verdict, keys) = self.cells.fold(policy, &draft.observation)?;
        for id in keys.session.iter().chain(&keys.peer) {
            match self.tallies.get_mut(id) {
                Some(tally) => tally.count(&verdict),
                None => {
                    let mut tally = Tally::default();
                    tally.count(&verdict);
                    self.tallies.insert(id.clone(), tally);
                }
            }
        }
        if Marked::may_change(&draft.observation.what, &verdict) {
            for id in keys.session.iter().chain(&keys.peer) {
                self.note_state(id);
            }
        }
        Ok((verdict, keys))
    }

    /// Takes note of what a session is now.
    pub(crate) fn note_state(&mut self, id: &Id) {
        if let Some(cell) = self.cells.session(id.as_str()) {
            self.marked.set(id, SessionState::of(cell));
        }
    }

    /// Takes in the cells of `part` that `is_new` says are not here.
    pub(crate) fn take_in(&mut self, mut part: Self, mut is_new: impl FnMut(CellKey) -> bool) {
        let sessions: Vec<Id> = part.cells.sessions.keys().cloned().collect();
        for key in part.cells.keys() {
            if is_new(key.clone()) {
                part.cells.move_one(&key, &mut self.cells);
            }
        }
        let mut tallies = part.tallies;
        for id in sessions {
            // One that was here before has its counts already.
            if let (Some(tally), false) = (tallies.remove(&id), self.tallies.contains_key(&id)) {
                self.tallies.insert(id.clone(), tally);
            }
            self.note_state(&id);
        }
    }

    /// How many sessions are in which state.
    pub(crate) fn census(&self) -> Census {
        self.marked.census(self.sessions_count())
    }

    /// Refuses an event that would open a session while there are as many marks as there may be.
    pub(crate) fn admit(&self, draft: &mut Draft, capacity: Capacity) -> Result<(), StoreError> {
        if self.size(Pool::Marks) < capacity.marks {
            return Ok(());
        }
        resolve_open_fields(&mut draft.observation, &self.cells)?;
        let keys = CellKeys::of(&draft.observation, &draft.policy.policy);
        let mut sessions = keys.session.iter().chain(&keys.peer);
        if is_an_agents(&draft.observation.what)
            && sessions.any(|id| self.cells.session(id.as_str()).is_none())
        {
            return Err(StoreError::TooManyMarks {
                marks: capacity.marks,
            });
        }
        Ok(())
    }

    /// Forgets what is over the capacity after an event at `at` on the cells `own`, and tells what.
    pub(crate) fn make_room(
        &mut self,
        capacity: Capacity,
        own: &CellKeys,
        at: Timestamp,
    ) -> Vec<Eviction> {
        let pools = [
            (Pool::Sessions, capacity.sessions, Timestamp(u64::MAX)),
            (
                Pool::Marks,
                capacity.marks,
                Timestamp(at.0.saturating_sub(MARK_LIFE.0)),
            ),
            (Pool::Others, capacity.others, Timestamp(u64::MAX)),
        ];
        let mut evicted = Vec::new();
        for (pool, limit, until) in pools {
            let size = self.size(pool);
            let is_over = match pool {
                Pool::Marks => size >= limit && self.may_search_marks(at),
                Pool::Sessions | Pool::Others => size > limit,
            };
            if !is_over {
                continue;
            }
            let own: Vec<CellKey> = CellKey::all(own).collect();
            let excess = size.saturating_sub(after_eviction(limit)).max(1);
            let room = Room {
                excess,
                until,
                own: &own,
            };
            if let Some(eviction) = pool.to_evict(&self.cells, room) {
                self.evict(&eviction);
                evicted.push(eviction);
            }
        }
        evicted
    }

    /// Whether to look for old marks: all of them are looked through, so not with every event.
    fn may_search_marks(&mut self, at: Timestamp) -> bool {
        let may = self
            .marks_searched
            .is_none_or(|last| at.since(last) >= Millis::HOUR);
        if may {
            self.marks_searched = Some(at);
        }
        may
    }

    fn evict(&mut self, eviction: &Eviction) {
        eviction.apply(&mut self.cells);
        if eviction.pool != Pool::Others {
            let cells = &self.cells;
            self.tallies
                .retain(|id, _| cells.session(id.as_str()).is_some());
            self.marked
                .retain(|id| cells.session(id.as_str()).is_some());
        }
    }

    /// How many sessions there are, with and without a mark.
    pub(crate) fn sessions_count(&self) -> u64 {
        u64::try_from(self.cells.sessions.len()).unwrap_or(u64::MAX)
    }

    /// How many cells there are that are not sessions.
    pub(crate) fn others_count(&self) -> u64 {
        u64::try_from(self.cells.count_others()).unwrap_or(u64::MAX)
    }

    /// How many sessions have a mark.
    pub(crate) fn marks_count(&self) -> u64 {
        u64::try_from(self.marked.len()).unwrap_or(u64::MAX)
    }

    fn size(&self, pool: Pool) -> usize {
        match pool {
            Pool::Sessions => self.cells.sessions.len().saturating_sub(self.marked.len()),
            Pool::Marks => self.marked.len(),
            Pool::Others => self.cells.count_others(),
        }
    }

    pub(crate) fn tally(&self, id: &Id) -> Tally {
        self.tallies.get(id).copied().unwrap_or_default()
    }

    pub(crate) fn session_summary(&self, id: &Id) -> Option<SessionSummary> {
        let cell = self.cells.session(id.as_str())?;
        Some(SessionSummary::new(id.clone(), cell, self.tally(id)))
    }

    pub(crate) fn session(&self, id: &Id) -> Option<Session> {
        let cell = self.cells.session(id.as_str())?;
        Some(Session::new(
            id.clone(),
            Box::new(cell.clone()),
            self.tally(id),
        ))
    }

    pub(crate) fn sessions(&self, query: &SessionQuery) -> Page<SessionSummary, SessionCursor> {
        query.choose(self.summaries())
    }

    pub(crate) fn count_sessions(&self, query: &SessionQuery) -> u64 {
        if query.is_for_all() {
            return u64::try_from(self.cells.sessions.len()).unwrap_or(u64::MAX);
        }
        query.count(self.summaries())
    }

    fn summaries(&self) -> impl Iterator<Item = SessionSummary> {
        let sessions = self.cells.sessions.iter();
        sessions.map(|(id, cell)| SessionSummary::new(id.clone(), cell, self.tally(id)))
    }
}

/// Whether it comes from an agent or a user: an operator's order is carried out however full a store is.
pub(crate) const fn is_an_agents(what: &Observed) -> bool {
    !matches!(
        what,
        Observed::Kill(_) | Observed::Reset(_) | Observed::Approve(_) | Observed::Decline(_)
    )
}
