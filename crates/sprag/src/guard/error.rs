//! What can go wrong when a guard is asked.

use std::path::PathBuf;

use sprag_core::{EngineError, EventError, Role};
use sprag_store::StoreError;

use crate::policy_file::PolicyFileError;

/// Why a guard gave no verdict. What it means is for the caller to decide: an adapter has a
/// `fail` mode for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The event is wrong. Nothing was changed.
    #[error(transparent)]
    Event(#[from] EventError),
    /// This role may not say that. Nothing was changed.
    #[error("{role}s may not send {what}; {}", who(.what))]
    Forbidden {
        /// The role.
        role: Role,
        /// What it said.
        what: &'static str,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The policy file can't be used.
    #[error(transparent)]
    Policy(#[from] PolicyFileError),
    /// There is no policy file that could be replaced.
    #[error("this guard has no policy file; start it with one to change the policy")]
    NoPolicyFile,
    /// The policy was changed by somebody else in the meantime.
    #[error("another policy is in force by now: {current}")]
    PolicyMoved {
        /// Its digest.
        current: String,
    },
    /// The policy file can't be written.
    #[error("can't write the policy {path}: {source}")]
    PolicyWrite {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The folder of the store can't be made.
    #[error("can't make the folder {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The thread that watches the policy file can't be started.
    #[error("can't start to watch the policy: {0}")]
    Watch(std::io::Error),
}

impl GuardError {
    /// Whether the guard is to blame, so that an adapter's fail mode has to decide; otherwise the event is wrong, or not
    /// for its sender to tell.
    #[must_use]
    pub fn is_no_answer(&self) -> bool {
        !matches!(
            self,
            Self::Event(_) | Self::Forbidden { .. } | Self::Store(StoreError::Engine(_))
        )
    }

    /// Whether the event acts in a session that belongs to somebody else.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let foreign = |error: &EngineError| matches!(error, EngineError::Foreign(_));
        matches!(self, Self::Store(StoreError::Engine(error)) if foreign(error))
    }
}

/// Who may.
fn who(what: &str) -> &'static str {
    match what {
        "a kill" | "a reset" => "an operator may",
        _ => "a relay, a hook or an operator may",
    }
}
