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
    #[error("{place} is damaged: {what}; `sprag log verify` reports how much of the log is intact")]
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
    /// So many sessions are killed or blocked that no new one may be opened. Nothing was changed.
    #[error(
        "{marks} sessions are killed or blocked, which is all that is kept; new sessions are refused \
         until an operator resets some, or they were idle for 30 days"
    )]
    TooManyMarks {
        /// How many are kept.
        marks: usize,
    },
    /// Records that were written once are not in the file any more.
    #[error(
        "the log in {path} was cut or replaced: it ends at record {last}, and a checkpoint beside it knows \
         record {checkpoint}"
    )]
    Cut {
        /// The file.
        path: PathBuf,
        /// The furthest record that a checkpoint knows.
        checkpoint: u64,
        /// The last record that is left.
        last: u64,
    },
    /// Too many wait for the file, or one holds it for too long.
    #[error("{path} was busy for {waited_ms} ms; nothing was written")]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        waited_ms: u64,
    },
    /// There is no room left on the disk, or in what the store may take of it.
    #[error(
        "no room left for {path}; free some, or `sprag log prune`; nothing acknowledged was lost"
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file may be read, not written.
    #[error("{path} can't be written: {why}")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file is something else.
    #[error("{path} is not a Sprag store: {why}; it was left as it is")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        why: String,
    },
    /// The file was written by a newer build.
    #[error("{path} has {what} {found}, this build knows {known}; use a newer `sprag`")]
    Newer {
        /// The file.
        path: PathBuf,
        /// What is newer: the schema, or the rules.
        what: &'static str,
        /// Its number.
        found: i64,
        /// The newest that this build knows.
        known: i64,
    },
    /// The system failed.
    #[error("{path}: {doing}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The database failed in a way that has no better name.
    #[cfg(feature = "sqlite")]
    #[error("{path}: {source}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What the database says.
        source: rusqlite::Error,
    },
    /// The same, before it is known which file it was.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// What was decided can't be written; it is kept in memory and tried again.
    #[error("{path}: the log can't be written ({why}); it is kept in memory and tried again")]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The address of Redis makes no sense.
    #[error("the address of Redis can't be read: {why}")]
    RedisUrl {
        /// What is wrong with it.
        why: String,
    },
    /// Redis can't be reached, or not in time.
    #[error("Redis at {place} can't be used: {why}")]
    Redis {
        /// Its address, without a password.
        place: String,
        /// What went wrong.
        why: String,
    },
    /// A note that would lie about the store.
    #[error("only the store itself writes this note")]
    Reserved,
    /// The store was closed, or its writer is gone.
    #[error("the store is closed")]
    Closed,
}
