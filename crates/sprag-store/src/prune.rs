//! Which old records may go, and the cells that they leave behind.
//!
//! A log that only grows fills the disk in the end; a log that is cut proves nothing. So before the
//! oldest records go, they are folded once more into the cells as they were after them; those are
//! written down and their digest enters the chain. What is left verifies from there.

use std::ops::ControlFlow;
use std::sync::Arc;

use sprag_core::{Millis, Timestamp};

use crate::codec::{RecordBody, RecordContent};
use crate::draft::ActivePolicy;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::fold_log::{FoldLog, ReadPolicy};
use crate::view::LogView;

/// How long a log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Records older than this may go.
    pub max_age: Millis,
    /// If the file with its write-ahead log, or without a file the records, takes more than this, the oldest records
    /// go, and an eighth more than must: so the log is looked through now and then, not at every look. Records that
    /// take less than a quarter of it stay.
    pub max_bytes: u64,
}

impl Default for Retention {
    /// Thirty days, 256 MiB.
    fn default() -> Self {
        Self {
            max_age: Millis(30 * Millis::DAY.0),
            max_bytes: 256 << 20,
        }
    }
}

/// An order to prune.
#[derive(Clone)]
pub struct Prune<'a> {
    /// What to keep.
    pub retention: Retention,
    /// The present time.
    pub at: Timestamp,
    /// The policy in force, for the notes.
    pub policy: Arc<ActivePolicy>,
    /// Reads the policies that the records name.
    pub policies: ReadPolicy<'a>,
}

impl std::fmt::Debug for Prune<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prune")
            .field("retention", &self.retention)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// What a prune did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The last record that was removed; 0 where none was.
    pub through: u64,
    /// How many were removed.
    pub records: u64,
}

/// The last record that may go.
///
/// Clocks differ, records don't come sorted by time: the log is cut before the first record
/// that is young enough to stay.
pub(crate) fn cut(
    view: &dyn LogView,
    retention: &Retention,
    at: Timestamp,
) -> Result<u64, StoreError> {
    let mut surplus = surplus(view, retention.max_bytes)?;
    let mut through = 0;
    view.scan(0, &mut |row| {
        let is_old = match RecordBody::decode(row.body).map(|body| body.content) {
            Ok(RecordContent::Event { observation, .. }) => {
                at.since(observation.at) > retention.max_age
            }
            Ok(RecordContent::Note { at: noted, .. }) => at.since(noted) > retention.max_age,
            // What can't be read is for verify to tell, not for prune to remove.
            Err(_) => false,
        };
        if !is_old && surplus == 0 {
            return ControlFlow::Break(());
        }
        surplus = surplus.saturating_sub(size(row.body));
        through = row.seq;
        ControlFlow::Continue(())
    })?;
    Ok(through)
}

/// How many bytes of records must go so that at most seven eighths of `most` stay, of the whole file if there is one;
/// none where it takes no more than `most` now.
fn surplus(view: &dyn LogView, most: u64) -> Result<u64, StoreError> {
    let bound = view.size_bound()?;
    if bound.is_some_and(|bound| bound <= most) {
        return Ok(0);
    }
    let mut total = 0_u64;
    view.scan(0, &mut |row| {
        total = total.saturating_add(size(row.body));
        ControlFlow::Continue(())
    })?;
    let whole = bound.unwrap_or(0).max(total);
    if whole <= most {
        return Ok(0);
    }
    // Sessions and indexes take room too. They are not to blame on records alone: a quarter of the room stays
    // for those.
    let over = whole - (most - most / 8);
    Ok(over.min(total.saturating_sub(most / 4)))
}

fn size(body: &[u8]) -> u64 {
    u64::try_from(body.len()).unwrap_or(u64::MAX)
}

/// The cells after record `through`, and that record.
pub(crate) fn fold_through<'a>(
    view: &dyn LogView,
    through: u64,
    policies: ReadPolicy<'a>,
) -> Result<(ChainHead, FoldLog<'a>), StoreError> {
    let base = view.base()?;
    let mut head = ChainHead {
        seq: base.after,
        hash: base.hash,
    };
    let mut fold = FoldLog::new(base, policies);
    let mut failed = None;
    view.scan(head.seq, &mut |row| {
        if row.seq > through {
            return ControlFlow::Break(());
        }
        head = ChainHead {
            seq: row.seq,
            hash: row.hash,
        };
        match fold.step(view, row) {
            Ok(_) => ControlFlow::Continue(()),
            Err(problem) => {
                failed = Some(StoreError::Damaged {
                    place: format!("record {}", row.seq),
                    what: format!("{problem}; nothing was pruned"),
                });
                ControlFlow::Break(())
            }
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    Ok((head, fold))
}
