//! Why a recording can't be folded.

use std::path::PathBuf;

use sprag_store::StoreError;

/// What is wrong with a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The log can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file can't be read.
    #[error("can't read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The policy of a record is not in the log's table, or not what its digest says.
    #[error(
        "record {seq}: its policy {digest} is missing or can't be read; `sprag log verify` tells more"
    )]
    NoPolicy {
        /// The record.
        seq: u64,
        /// The policy.
        digest: String,
    },
}
