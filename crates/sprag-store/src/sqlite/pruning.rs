//! Pruning a database: planned on a view, carried out in one short transaction.

use rusqlite::Connection;

use super::log_rows::LogRow;
use super::snapshot_rows::SnapshotRows;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::note::{Noted, SnapshotReason};
use crate::prune::{Prune, Pruned, cut, fold_through};
use crate::view::LogView;

/// What is to be removed, and what it leaves behind.
#[derive(Debug)]
pub(super) struct PrunePlan {
    /// Where the log started when this was planned.
    pub(super) from: u64,
    pub(super) pruned: Pruned,
    snapshot: SnapshotRows,
}

/// Folds what may go; none where nothing may.
pub(super) fn plan(view: &dyn LogView, prune: &Prune<'_>) -> Result<Option<PrunePlan>, StoreError> {
    let through = cut(view, &prune.retention, prune.at)?;
    if through == 0 {
        return Ok(None);
    }
    let from = view.base()?.after;
    if through <= from {
        return Ok(None);
    }
    let (head, fold) = fold_through(view, through, prune.policies)?;
    // Under other rules the cells can't be told here; those records stay until all of them may go.
    let Some(cells) = fold.cells() else {
        return Ok(None);
    };
    Ok(Some(PrunePlan {
        from,
        pruned: Pruned {
            through,
            records: through - from,
        },
        snapshot: SnapshotRows::of(head, cells, SnapshotReason::Prune)?,
    }))
}

impl PrunePlan {
    /// The notes that tell it, in order.
    pub(super) fn notes(&self) -> [Noted; 2] {
        let Pruned { through, records } = self.pruned;
        [self.snapshot.noted(), Noted::Pruned { through, records }]
    }

    /// Writes the cells down and removes the records.
    pub(super) fn cut(&self, conn: &Connection) -> Result<(), StoreError> {
        self.snapshot.save(conn)?;
        self.snapshot.cut_before(conn)
    }

    /// Both, with the notes; answers the new head.
    pub(super) fn carry_out(
        &self,
        conn: &Connection,
        mut head: ChainHead,
        prune: &Prune<'_>,
    ) -> Result<ChainHead, StoreError> {
        self.cut(conn)?;
        for note in self.notes() {
            let encoded = head.note(prune.at, &prune.policy.digest, note)?;
            let (row, _) = LogRow::of(encoded, None);
            row.save(conn)?;
            head = row.head();
        }
        Ok(head)
    }
}
