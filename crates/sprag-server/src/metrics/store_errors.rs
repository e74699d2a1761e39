//! How a store fails, in words that a label may hold.

use sprag_store::StoreError;

/// The words, in the order of [`store_error_index`].
pub(super) const STORE_ERRORS: [&str; 7] = [
    "busy",
    "damaged",
    "full",
    "owned",
    "read_only",
    "io",
    "other",
];

/// The place of an error's word.
pub(super) const fn store_error_index(error: &StoreError) -> usize {
    match error {
        StoreError::Busy { .. } => 0,
        StoreError::Damaged { .. } => 1,
        StoreError::Full { .. } => 2,
        StoreError::Owned { .. } => 3,
        StoreError::ReadOnly { .. } => 4,
        StoreError::Io { .. }
        | StoreError::Database { .. }
        | StoreError::Sqlite(_)
        | StoreError::Unwritten { .. } => 5,
        _ => 6,
    }
}
