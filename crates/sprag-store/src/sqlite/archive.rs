//! Copying the log of another store into a file, record by record, so that nothing is lost when the
//! other one forgets its oldest.
//!
//! The file becomes a store of its own with the same records under the same numbers: it is folded as
//! it grows, its hash chain is its own, and everything that reads a store reads it.

use std::ops::ControlFlow;
use std::sync::Arc;

use rusqlite::Connection;
use sprag_core::{CellKey, CellKeys, Observation};

use super::cell_rows::{CellRow, CellRows, evict};
use super::log_rows::{HeadRow, LogRow, learn, scan};
use super::shared::{Committed, SharedSqlite};
use crate::cell_source::FoldResult;
use crate::codec::{RecordBody, RecordContent};
use crate::draft::{ActivePolicy, Draft};
use crate::durability::Durability;
use crate::error::StoreError;
use crate::fold_log::ReadPolicy;
use crate::note::Noted;
use crate::view::LogView;

/// Records copied in one transaction.
const AT_ONCE: usize = 500;

struct CopiedRecord {
    seq: u64,
    body: Vec<u8>,
}

impl SharedSqlite {
    /// Copies what `from` has and this file has not; answers how many records.
    ///
    /// # Errors
    /// Returns an error if this file is not a copy of that log, or records in between are gone already.
    pub fn archive(&self, from: &dyn LogView, policies: ReadPolicy<'_>) -> Result<u64, StoreError> {
        let mut copied = 0;
        loop {
            let last = self.read(HeadRow::load)?.head.seq;
            let rows = self.next_rows(from, last)?;
            let Some(first) = rows.first() else {
                return Ok(copied);
            };
            if first.seq != last + 1 {
                return Err(self.not_a_copy(format!(
                    "it ends at record {last}, and the log now starts at record {}; start a new file",
                    first.seq
                )));
            }
            self.write(|tx, row| append(tx, row, &rows, from, policies))?;
            copied += u64::try_from(rows.len()).unwrap_or(u64::MAX);
        }
    }

    /// The records after `last`, which must be the same on both sides.
    fn next_rows(&self, from: &dyn LogView, last: u64) -> Result<Vec<CopiedRecord>, StoreError> {
        let mut mine = None;
        self.read(|conn| {
            scan(conn, last.saturating_sub(1), &mut |row| {
                mine = Some(row.body.to_vec());
                ControlFlow::Break(())
            })
        })?;
        let mut rows = Vec::new();
        let mut is_other = false;
        from.scan(last.saturating_sub(1), &mut |row| {
            if row.seq == last {
                is_other = mine.as_deref() != Some(row.body);
            } else {
                rows.push(CopiedRecord {
                    seq: row.seq,
                    body: row.body.to_vec(),
                });
            }
            if is_other || rows.len() >= AT_ONCE {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        if is_other {
            return Err(self.not_a_copy(format!("record {last} is another one there")));
        }
        Ok(rows)
    }

    fn not_a_copy(&self, why: String) -> StoreError {
        StoreError::Foreign {
            path: self.path().to_owned(),
            why: format!("it is no copy of that log: {why}"),
        }
    }
}

fn append(
    tx: &Connection,
    mut row: HeadRow,
    rows: &[CopiedRecord],
    from: &dyn LogView,
    policies: ReadPolicy<'_>,
) -> Result<Committed<()>, StoreError> {
    let before = row.head.seq;
    for copied in rows {
        row = append_one(tx, row, copied, from, policies)?;
    }
    Ok(Committed {
        answer: (),
        before,
        head: row,
        durability: Durability::Durable,
    })
}

fn append_one(
    tx: &Connection,
    mut row: HeadRow,
    copied: &CopiedRecord,
    from: &dyn LogView,
    policies: ReadPolicy<'_>,
) -> Result<HeadRow, StoreError> {
    let damaged = |what: String| StoreError::Damaged {
        place: format!("record {}", copied.seq),
        what,
    };
    let body = RecordBody::decode(&copied.body).map_err(|error| damaged(error.to_string()))?;
    let digest = body.policy.to_owned();
    let keys = match body.content {
        RecordContent::Event { observation, .. } => {
            let text = from.policy_text(&digest)?;
            let policy = text.as_deref().and_then(|text| policies(&digest, text));
            let (Some(text), Some(policy)) = (text, policy) else {
                return Err(damaged(format!("its policy {digest} is missing")));
            };
            let policy = ActivePolicy {
                policy,
                digest,
                text,
            };
            Some(fold_event(tx, &mut row, *observation, policy)?)
        }
        RecordContent::Note { note, .. } => {
            if let Noted::Evicted(eviction) = &*note {
                evict(tx, eviction)?;
                row.uncount(eviction);
            }
            None
        }
    };
    let encoded = row
        .head
        .copy(&copied.body)
        .map_err(|error| damaged(error.to_string()))?;
    let (log_row, _) = LogRow::of(encoded, keys.as_ref());
    log_row.save(tx)?;
    row.head = log_row.head();
    Ok(row)
}

/// Folds an event into the cells of the file, as it was folded when it was judged.
fn fold_event(
    tx: &Connection,
    row: &mut HeadRow,
    observation: Observation,
    policy: ActivePolicy,
) -> Result<CellKeys, StoreError> {
    learn(tx, &policy)?;
    let mut draft = Draft {
        observation,
        policy: Arc::new(policy),
        captured: None,
    };
    let folded = FoldResult::again(&CellRows(tx), &mut draft)?;
    row.count(&folded);
    for key in CellKey::all(&folded.keys) {
        CellRow::of(key, &folded.state)?.save(tx)?;
    }
    Ok(folded.keys)
}
