//! Cells in memory with what people like to see of them: what a store that owns its data works on.

use std::collections::HashMap;

use sprag_core::{CellKey, CellKeys, CellMap, Id, Verdict};

use crate::capacity::{Capacity, after_eviction};
use crate::census::{Census, Marked};
use crate::draft::Draft;
use crate::encoded_record::resolve_open_fields;
use crate::error::StoreError;
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::{Eviction, Pool};
use crate::query::{Page, Session, SessionState, SessionSummary, Tally};

/// Cells and counts.
#[derive(Debug, Default)]
pub(crate) struct StoreState {
    pub(crate) cells: CellMap,
    pub(crate) tallies: HashMap<Id, Tally>,
    marked: Marked,
}

impl StoreState {
    /// Settles what a draft leaves open and folds it.
    pub(crate) fn decide(&mut self, draft: &mut Draft) -> Result<(Verdict, CellKeys), StoreError> {
        resolve_open_fields(&mut draft.observation, &self.cells)?;
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
        self.marked.census(self.count(Pool::Sessions))
    }

    /// Forgets what is over the capacity, and tells what.
    pub(crate) fn make_room(&mut self, capacity: Capacity) -> Vec<Eviction> {
        let pools = [
            (Pool::Sessions, capacity.sessions),
            (Pool::Others, capacity.others),
        ];
        let over = pools
            .into_iter()
            .filter(|(pool, limit)| pool.count(&self.cells) > *limit)
            .filter_map(|(pool, limit)| pool.to_evict(&self.cells, after_eviction(limit)))
            .collect::<Vec<_>>();
        for eviction in &over {
            eviction.apply(&mut self.cells);
        }
        if over.iter().any(|eviction| eviction.pool == Pool::Sessions) {
            let cells = &self.cells;
            self.tallies
                .retain(|id, _| cells.session(id.as_str()).is_some());
        }
        over
    }

    pub(crate) fn count(&self, pool: Pool) -> u64 {
        u64::try_from(pool.count(&self.cells)).unwrap_or(u64::MAX)
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
