//! The keys in Redis.
//!
//! All start with the namespace in braces. A cluster takes that as the hash tag, so all keys of a
//! namespace are on one node, and one script can write them in one step.

use sprag_core::{CellKey, Id};

/// How the keys and their values are laid out. A build refuses a namespace of another format.
pub(super) const FORMAT: u64 = 1;

/// The keys of one namespace.
#[derive(Debug, Clone)]
pub(super) struct RedisKeys {
    prefix: String,
    /// Hash: number and hash of the last record; secret, epoch, format and rules version of the namespace.
    pub(super) head: String,
    /// Stream: the records.
    pub(super) log: String,
    /// Sorted set: sessions by the time of their last event.
    pub(super) sessions: String,
    /// Sorted set: numbers of the records that are notes.
    pub(super) notes: String,
    /// Hash: sessions that are killed or blocked.
    pub(super) marked: String,
    /// Hash: texts of policies by digest.
    pub(super) policies: String,
    /// Hash: the cells as the pruned part of the log left them.
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

    /// The keys that every commit may write, in the order in which the scripts expect them.
    pub(super) fn shared(&self) -> Vec<String> {
        let keys = [
            &self.head,
            &self.log,
            &self.sessions,
            &self.notes,
            &self.marked,
        ];
        keys.into_iter().cloned().collect()
    }

    /// The key of a cell; of a session, its small part.
    pub(super) fn cell(&self, key: &CellKey) -> String {
        format!("{}{}:{}", self.prefix, key.kind(), key.name())
    }

    /// The key of a pod's fence.
    pub(super) fn fence(&self, pod: &str) -> String {
        format!("{}fence:{pod}", self.prefix)
    }

    /// The key of a session's step memory.
    pub(super) fn memory(&self, session: &Id) -> String {
        format!("{}m:{session}", self.prefix)
    }
}
