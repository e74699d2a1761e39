//! Judging where cells are fetched one by one: only those that an event needs are taken in.
//!
//! Two rounds: the sessions and the tool use that an event names settle what it leaves open; the
//! settled event names its cells. The caller writes back what was touched, in the same transaction.

use std::collections::HashSet;

use sprag_core::{CellKey, CellKeys, Id, Known as _, Observation, Observed, Verdict};

use crate::draft::Draft;
use crate::error::StoreError;
use crate::judge::settle;
use crate::live::Live;
use crate::pack::with_parents;

/// Where cells come from.
pub(crate) trait Cellar {
    /// Puts a cell and, for a session, its counts into `live`, and tells whether it was there.
    fn fetch(&self, key: &CellKey, live: &mut Live) -> Result<bool, StoreError>;
}

/// The cells of one event, folded.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) live: Live,
    pub(crate) keys: CellKeys,
    pub(crate) verdict: Verdict,
    found: HashSet<CellKey>,
}

impl Gathered {
    /// Fetches what `draft` needs, settles it and folds it.
    pub(crate) fn decide(cellar: &impl Cellar, draft: &mut Draft) -> Result<Self, StoreError> {
        let mut live = Live::default();
        let mut seen = HashSet::new();
        let mut found = HashSet::new();
        fetch_for(draft, &mut live, |key, live| {
            if seen.insert(key.clone()) && cellar.fetch(&key, live)? {
                found.insert(key);
            }
            Ok(())
        })?;
        let (verdict, keys) = live.decide(draft)?;
        Ok(Self {
            live,
            keys,
            verdict,
            found,
        })
    }

    /// Whether a cell was there before.
    pub(crate) fn was_there(&self, key: &CellKey) -> bool {
        self.found.contains(key)
    }
}

/// Puts what `draft` needs into `live`, and settles it on the way. `fetch` may be asked for a cell twice.
pub(crate) fn fetch_for(
    draft: &mut Draft,
    live: &mut Live,
    mut fetch: impl FnMut(CellKey, &mut Live) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let at = draft.observation.at;
    let (sessions, use_id) = named(&draft.observation);
    for id in sessions.into_iter().flatten() {
        fetch(CellKey::Session(id.clone()), live)?;
    }
    if let Some(use_id) = use_id {
        fetch(CellKey::Alias(use_id.clone()), live)?;
        let first = live.cells.session_of_use(use_id, at);
        if let Some(first) = first {
            fetch(CellKey::Session(first), live)?;
        }
    }
    settle(&mut draft.observation, &live.cells)?;
    let keys = CellKeys::of(&draft.observation, &draft.policy.policy);
    for key in with_parents(&keys) {
        fetch(key, live)?;
    }
    Ok(())
}

/// The sessions and the tool use that an event names before it is settled.
fn named(observation: &Observation) -> ([Option<&Id>; 2], Option<&Id>) {
    match &observation.what {
        Observed::Message(message) => ([message.from.as_ref(), Some(&message.to)], None),
        Observed::Call(call) => ([Some(&call.session), None], call.use_id.as_ref()),
        Observed::Step(step) => ([Some(&step.session), None], step.use_id.as_ref()),
        Observed::Usage(usage) => ([Some(&usage.session), None], None),
        Observed::Kill(order) | Observed::Reset(order) => ([Some(&order.session), None], None),
        Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
            ([Some(&dispatch.session), None], None)
        }
    }
}
