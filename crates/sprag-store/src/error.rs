//! What can go wrong in a store, in words that say what to do next.

use std::path::PathBuf;

use sprag_core::EngineError;

/// Why a store could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The event itself is wrong. Nothing was changed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for a fresh id: {0}")]
    Random(getrandom::Error),
    /// What is stored can't be read.
    #[error("{place} is damaged: {what}; `sprag log verify` tells how far the log is sound")]
    Damaged {
        /// Which record, cell or file.
        place: String,
        /// What is wrong with it.
        what: String,
    },
    /// Another process owns the file.
    #[error("{path} is owned by a running `sprag serve`; go through its socket")]
    Owned {
        /// The file.
        path: PathBuf,
    },
    /// Too many wait for the file, or one holds it for too long.
    #[error("{path} was busy for {waited_ms} ms; nothing was written")]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        waited_ms: u64,
    },
    /// The store was closed, or its writer is gone.
    #[error("the store is closed")]
    Closed,
}
