//! Judging where cells are fetched one by one: only those that an event needs are taken in.
//!
//! Two rounds: the sessions and the tool use that an event names resolve what it leaves open; the
//! resolved event names its cells. The caller writes back what was touched, in the same transaction.

use std::collections::HashSet;

use sprag_core::{CellKey, CellKeys, Id, Known as _, MAX_STARTERS, Observation, Observed, Verdict};

use crate::draft::Draft;
use crate::encoded_record::resolve_open_fields;
use crate::error::StoreError;
use crate::eviction::is_marked;
use crate::store_state::{StoreState, is_an_agents};

/// Where cells come from.
pub(crate) trait CellSource {
    /// Puts a cell and, for a session, its counts into `state`, and tells whether it was there.
    fn fetch(&self, key: &CellKey, state: &mut StoreState) -> Result<bool, StoreError>;
}

/// The cells of one event, folded.
#[derive(Debug)]
pub(crate) struct FoldResult {
    pub(crate) state: StoreState,
    pub(crate) keys: CellKeys,
    pub(crate) verdict: Verdict,
    /// By how much the event changed the number of sessions that are killed or blocked.
    pub(crate) marks_change: i64,
    found: HashSet<CellKey>,
}

impl FoldResult {
    /// Fetches what `draft` needs, resolves it and folds it.
    pub(crate) fn decide(source: &impl CellSource, draft: &mut Draft) -> Result<Self, StoreError> {
        Self::of(source, draft, StoreState::decide)
    }

    /// Fetches what `draft` needs, and folds it as another log recorded it.
    pub(crate) fn again(source: &impl CellSource, draft: &mut Draft) -> Result<Self, StoreError> {
        Self::of(source, draft, StoreState::fold)
    }

    fn of(
        source: &impl CellSource,
        draft: &mut Draft,
        fold: impl FnOnce(&mut StoreState, &mut Draft) -> Result<(Verdict, CellKeys), StoreError>,
    ) -> Result<Self, StoreError> {
        let mut state = StoreState::default();
        let mut seen = HashSet::new();
        let mut found = HashSet::new();
        fetch_for(draft, &mut state, |key, state| {
            if seen.insert(key.clone()) && source.fetch(&key, state)? {
                found.insert(key);
            }
            Ok(())
        })?;
        let keys = CellKeys::of(&draft.observation, &draft.policy.policy);
        let before = count_marks(&state, &keys);
        let (verdict, keys) = fold(&mut state, draft)?;
        Ok(Self {
            marks_change: count_marks(&state, &keys) - before,
            state,
            keys,
            verdict,
            found,
        })
    }

    /// Whether an agent opened a session by it.
    pub(crate) fn opens_session(&self, draft: &Draft) -> bool {
        let mut sessions = self.keys.session.iter().chain(&self.keys.peer);
        is_an_agents(&draft.observation.what)
            && sessions.any(|id| !self.was_there(&CellKey::Session(id.clone())))
    }

    /// Whether a cell was there before.
    pub(crate) fn was_there(&self, key: &CellKey) -> bool {
        self.found.contains(key)
    }
}

/// How many of the sessions of an event are killed or blocked.
fn count_marks(state: &StoreState, keys: &CellKeys) -> i64 {
    let sessions = keys.session.iter().chain(&keys.peer);
    let cells = sessions.filter_map(|id| state.cells.session(id.as_str()));
    cells.map(|cell| i64::from(is_marked(cell))).sum()
}

/// Puts what `draft` needs into `state`, and resolves it on the way. `fetch` may be asked for a cell twice.
pub(crate) fn fetch_for(
    draft: &mut Draft,
    state: &mut StoreState,
    mut fetch: impl FnMut(CellKey, &mut StoreState) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let at = draft.observation.at;
    let (sessions, use_id) = named(&draft.observation);
    for id in sessions.into_iter().flatten() {
        // Whose the sessions above are decides who may act in this one.
        fetch_above(id, state, &mut fetch)?;
    }
    if let Some(use_id) = use_id {
        fetch(CellKey::Alias(use_id.clone()), state)?;
        let first = state.cells.session_of_use(use_id, at);
        if let Some(first) = first {
            fetch(CellKey::Session(first), state)?;
        }
    }
    resolve_open_fields(&mut draft.observation, &state.cells)?;
    let keys = CellKeys::of(&draft.observation, &draft.policy.policy);
    for session in keys.session.iter().chain(&keys.peer) {
        fetch_above(session, state, &mut fetch)?;
    }
    for key in CellKey::all(&keys) {
        fetch(key, state)?;
    }
    // What the earlier runs of a task did is in their sessions.
    let task = keys
        .task
        .as_ref()
        .and_then(|task| state.cells.tasks.get(task));
    let runs: Vec<Id> = task
        .into_iter()
        .flat_map(|task| task.sessions().cloned())
        .collect();
    for session in runs {
        fetch(CellKey::Session(session), state)?;
    }
    Ok(())
}

/// Fetches a session and those above it, whose kills reach it: by its id, and by who started whom.
fn fetch_above(
    session: &Id,
    state: &mut StoreState,
    fetch: &mut impl FnMut(CellKey, &mut StoreState) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut next = Some(session.clone());
    for _ in 0..=MAX_STARTERS {
        let Some(id) = next.take() else {
            break;
        };
        for parent in id.parents().filter_map(|id| Id::new(id).ok()) {
            fetch(CellKey::Session(parent), state)?;
        }
        fetch(CellKey::Session(id.clone()), state)?;
        let cell = state.cells.session(id.as_str());
        next = cell.and_then(|cell| cell.starter().cloned());
    }
    Ok(())
}

/// The sessions and the tool use that an event names before it is resolved.
pub(crate) fn named(observation: &Observation) -> ([Option<&Id>; 2], Option<&Id>) {
    match &observation.what {
        Observed::Message(message) => ([message.from.as_ref(), Some(&message.to)], None),
        Observed::Call(call) => ([Some(&call.session), None], call.use_id.as_ref()),
        Observed::Step(step) => ([Some(&step.session), None], step.use_id.as_ref()),
        Observed::Usage(usage) => ([Some(&usage.session), None], None),
        Observed::Output(output) => ([Some(&output.session), None], None),
        Observed::Kill(order) | Observed::Reset(order) => ([Some(&order.session), None], None),
        Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
            ([Some(&dispatch.session), None], None)
        }
        Observed::Approve(answer) | Observed::Decline(answer) => {
            ([Some(&answer.session), None], None)
        }
    }
}
