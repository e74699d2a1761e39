//! A verdict where nothing can be written: the disk is full, or the file may only be read.

use super::cell_rows::CellRows;
use super::reserve::{ReservedCells, ReservedMark};
use super::shared::SharedSqlite;
use crate::cell_source::FoldResult;
use crate::draft::Draft;
use crate::durability::Durability;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::record::Record;
use crate::store_state::is_an_agents;

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
