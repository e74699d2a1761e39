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
        /// The error of the system.
        source: std::io::Error,
    },
    /// The policy of a record is not in the log's table, or does not match its digest.
    #[error(
        "record {seq}: its policy {digest} is missing or can't be read; run `sprag log verify` for details"
    )]
    NoPolicy {
        /// The record.
        seq: u64,
        /// The policy.
        digest: String,
    },
}
