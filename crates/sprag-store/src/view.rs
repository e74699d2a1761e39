//! A log as it stands at one moment, for those who read all of it: verify, prune, export.

use std::ops::ControlFlow;

use sprag_core::{CellKey, CellMap};

use crate::codec::RecordBody;
use crate::error::StoreError;
use crate::hash::{Hash, chain};
use crate::record::Record;

/// A record as it stands in the log.
#[derive(Debug, Clone, Copy)]
pub struct RawRecord<'a> {
    /// Its number.
    pub seq: u64,
    /// Its bytes.
    pub body: &'a [u8],
    /// Its hash as stored.
    pub hash: Hash,
}

impl RawRecord<'_> {
    /// The record that people read; `prev` is the hash of the record before.
    pub fn read(&self, prev: Hash) -> Result<Record, StoreError> {
        RecordBody::decode(self.body)
            .and_then(|body| body.into_record(self.seq, prev, self.hash))
            .map_err(|error| StoreError::Damaged {
                place: format!("record {}", self.seq),
                what: error.to_string(),
            })
    }
}

/// Where the log that is left starts: the cells as they were after the last record that is gone.
///
/// Folding the records after `after` into `cells` gives every verdict again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Base {
    /// The last record that is gone; 0 where none is.
    pub after: u64,
    /// Its hash.
    pub hash: Hash,
    /// The cells after it.
    pub cells: CellMap,
}

/// Cells that were written down, with the digest of what stands there now.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenCells {
    /// The cells.
    pub cells: CellMap,
    /// The digest of their bytes.
    pub digest: Hash,
    /// How many.
    pub count: u64,
}

/// A record that was durable, told by a place apart from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

/// A log at one moment: all that these methods show belongs together.
pub trait LogView {
    /// Where the log that is left starts.
    fn base(&self) -> Result<Base, StoreError>;

    /// Shows every record after number `after` in order, until told to stop.
    fn scan(
        &self,
        after: u64,
        visit: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// How many bytes the records take at most, where that is known without reading them.
    fn size_bound(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// The text of a policy that records name.
    fn policy_text(&self, digest: &str) -> Result<Option<String>, StoreError>;

    /// The cells that were written down after record `after`.
    fn written_cells(&self, after: u64) -> Result<Option<WrittenCells>, StoreError>;

    /// The cells after the last record.
    fn cells(&self) -> Result<CellMap, StoreError>;

    /// The hash of record `seq` with `body`, after a record with hash `prev`, as this log makes it.
    fn link(&self, prev: &Hash, seq: u64, body: &[u8]) -> Hash {
        chain(prev, seq, body)
    }

    /// The first cell that is not what the log makes of it.
    fn first_difference(&self, folded: &CellMap) -> Result<Option<CellKey>, StoreError> {
        Ok(folded.first_difference(&self.cells()?))
    }

    /// What is known of the log from elsewhere, oldest first; none where a store keeps none.
    fn checkpoints(&self) -> Result<Option<Vec<Checkpoint>>, StoreError>;
}
