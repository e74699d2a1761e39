//! The names under which Redis keeps things.
//!
//! All start with the namespace in braces, which a cluster takes as the hash tag: everything of a
//! namespace is in one place, so one script decides.

use sprag_core::Id;

use crate::cell_key::CellKey;

/// The names of one namespace.
#[derive(Debug, Clone)]
pub(super) struct RedisKeys {
    prefix: String,
    /// The number and hash of the last record, and what the namespace was made with.
    pub(super) head: String,
    /// The stream of records.
    pub(super) log: String,
    /// The sessions by their last event.
    pub(super) sessions: String,
    /// The numbers of the records that are notes.
    pub(super) notes: String,
    /// The sessions that are killed or blocked.
    pub(super) marked: String,
    /// The texts of policies by digest.
    pub(super) policies: String,
    /// The cells that the forgotten part of the log left behind.
    pub(super) base: String,
}

impl RedisKeys {
    pub(super) fn new(namespace: &str) -> Self {
        let prefix = format!("{{{namespace}}}:");
        Self {
            head: format!("{prefix}head"),
            log: format!("{prefix}log"),
            sessions: format!("{prefix}sessions"),
            notes: format!("{prefix}notes"),
            marked: format!("{prefix}marked"),
            policies: format!("{prefix}policies"),
            base: format!("{prefix}base"),
            prefix,
        }
    }

    /// Where a cell is; of a session the small part.
    pub(super) fn cell(&self, key: &CellKey) -> String {
        format!("{}{}:{}", self.prefix, key.kind(), key.name())
    }

    /// Where a pod says what it has given up.
    pub(super) fn fence(&self, pod: &str) -> String {
        format!("{}fence:{pod}", self.prefix)
    }

    /// Where the memory of a session's steps is.
    pub(super) fn memory(&self, session: &Id) -> String {
        format!("{}m:{session}", self.prefix)
    }
}
