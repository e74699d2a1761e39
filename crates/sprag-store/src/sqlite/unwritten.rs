//! A verdict where nothing can be written: the disk is full, or the file may only be read.
//!
//! An owner goes on in memory, until so many records wait for the disk that they would take all of it. Then the log
//! stands still, and so must the cells, which always equal its fold. Events are judged and counted on cells that lie
//! over them, and that are forgotten when the log goes on. A kill or block is set by a note, of which there are no
//! more than marks.

use std::collections::BTreeSet;

use sprag_core::{CellKey, CellKeys, CellMap, EngineError, Observed, Verdict};

use super::cell_rows::CellRows;
use super::owner::OwnedSqlite;
use super::reserve::{ReservedCells, ReservedMark};
use super::shared::SharedSqlite;
use super::writer::OwnerState;
use crate::cell_source::FoldResult;
use crate::draft::Draft;
use crate::durability::Durability;
use crate::encoded_record::{ChainHead, resolve_open_fields};
use crate::error::StoreError;
use crate::note::{Noted, RestoredMark};
use crate::record::Record;
use crate::store::Decided;
use crate::store_state::is_an_agents;

/// The most cells that lie over those of the log; past that, counting starts again.
const MAX_CELLS: usize = 1 << 14;

/// Cells that count what no record tells of.
#[derive(Debug, Default)]
pub(super) struct UnloggedCells(CellMap);

impl UnloggedCells {
    /// Judges an event on these cells, and on those of the log for what is not among them. The log's stay as they are.
    fn fold(&mut self, logged: &mut CellMap, draft: &Draft) -> Result<Verdict, EngineError> {
        if self.0.sessions.len() + self.0.count_others() > MAX_CELLS {
            self.forget();
        }
        let policy = &draft.policy.policy;
        let keys = CellKeys::of(&draft.observation, policy);
        let keys: BTreeSet<CellKey> = CellKey::all(&keys).collect();
        let mut aside = CellMap::default();
        for key in &keys {
            logged.copy_one(key, &mut aside);
            self.0.move_one(key, logged);
        }
        let folded = logged.fold(policy, &draft.observation);
        for key in &keys {
            logged.move_one(key, &mut self.0);
            aside.move_one(key, logged);
        }
        folded.map(|(verdict, _)| verdict)
    }

    /// The log goes on: what it says counts.
    pub(super) fn forget(&mut self) {
        if !self.0.sessions.is_empty() {
            self.0 = CellMap::default();
        }
    }
}

impl OwnedSqlite {
    /// The verdict on an event while no record can be added. An order that would have to be remembered, other than a
    /// kill, is an error: it can't be.
    pub(super) fn judge_unlogged(
        &self,
        mut draft: Draft,
        error: StoreError,
    ) -> Result<Decided, StoreError> {
        let must_stay = matches!(
            draft.observation.what,
            Observed::Reset(_) | Observed::Approve(_) | Observed::Decline(_)
        );
        if must_stay {
            return Err(error);
        }
        let mut state = self.queue.state();
        if state.loading.is_some() {
            self.read(|conn| state.fetch(conn, &mut draft))?;
        }
        resolve_open_fields(&mut draft.observation, &state.store.cells)?;
        let policy = draft.policy.clone();
        let OwnerState {
            store, unlogged, ..
        } = &mut *state;
        let verdict = unlogged.fold(&mut store.cells, &draft)?;
        let session = draft.observation.what.session();
        let mark = unlogged.0.session(session.as_str()).and_then(|cell| {
            let before = store.cells.session(session.as_str());
            RestoredMark::new_in(session, before, cell)
        });
        if let Some(mark) = mark {
            let (id, note) = (mark.session.clone(), Noted::MarkRestored(mark));
            note.apply(&mut state.store.cells);
            state.store.note_state(&id);
            state.pending.dirty.insert(CellKey::Session(id.clone()));
            state.pending.marks.push(id);
            state.note(draft.observation.at, &policy.digest, note)?;
        }
        let record = ChainHead::default().event(draft, verdict).record;
        // It is no record of the log: it has no number.
        let record = Record { seq: 0, ..record }.not_durable();
        Ok(Decided { record, wait: None })
    }
}

impl SharedSqlite {
    /// The verdict on an event that can't be written. What stops a session goes into the reserve, if that still
    /// works; the answer says whether it did.
    pub(super) fn judge_unwritten(
        &self,
        mut draft: Draft,
        error: StoreError,
    ) -> Result<Record, StoreError> {
        let conn = self.conn();
        let _turn = self.locks.as_ref().ok().and_then(|locks| locks.turn().ok());
        let mut reserve = self.reserve();
        let reserved = reserve.as_ref().and_then(|reserve| reserve.marks().ok());
        let cells = ReservedCells {
            rows: CellRows(&conn),
            marks: reserved.unwrap_or_default(),
        };
        // A file that can't be read either gives no verdict.
        let Ok(folded) = FoldResult::decide(&cells, &mut draft) else {
            return Err(error);
        };
        // What is let through would not be counted: that is for the adapter to decide about.
        if !folded.verdict.refuses() && is_an_agents(&draft.observation.what) {
            return Err(error);
        }
        let durability = Durability::of(&draft.observation, &folded.verdict);
        let session = draft.observation.what.session().clone();
        let cell = folded.state.cells.session(session.as_str());
        let mark = cell.and_then(|cell| ReservedMark::of(&session, cell));
        let record = ChainHead::default()
            .event(draft, folded.verdict.clone())
            .record;
        // It is no record of the log: it has no number.
        let record = Record { seq: 0, ..record };
        let is_kept = match (durability, mark, &mut *reserve) {
            (Durability::AfterOthers, ..) => true,
            (Durability::Durable, Some(mark), Some(reserve)) => {
                reserve.append(&[mark]).unwrap_or(false)
            }
            _ => false,
        };
        Ok(if is_kept {
            record
        } else {
            record.not_durable()
        })
    }
}
