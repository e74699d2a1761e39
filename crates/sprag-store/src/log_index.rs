//! Where the index of a log finds a record.

use sprag_core::{CellKey, CellKeys};

/// The place of all notes: a replay of any session needs those too.
pub(crate) const NOTES: u64 = 0;

/// The places of a record: under each cell that its event touches, or among the notes. Events that
/// share an alias share a session too, and are found through it.
pub(crate) fn places(keys: Option<&CellKeys>) -> Vec<u64> {
    let Some(keys) = keys else {
        return vec![NOTES];
    };
    CellKey::all(keys)
        .filter(|key| !matches!(key, CellKey::Alias(_)))
        .map(|key| key.index())
        .collect()
}
