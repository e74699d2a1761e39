//! Why a link has no verdict.

use std::path::PathBuf;

use sprag_store::StoreError;

use crate::guard::GuardError;

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// No server listens.
    #[error("no server listens on {socket}")]
    Absent {
        /// The socket.
        socket: PathBuf,
    },
    /// A server listens and did not answer as it should.
    #[error("the server on {socket} gave no answer: {why}")]
    NoAnswer {
        /// The socket.
        socket: PathBuf,
        /// What happened.
        why: String,
        /// It is just starting or ending, as far as can be told.
        is_passing: bool,
    },
    /// A server listens and took too long.
    #[error("the server on {socket} gave no answer: nothing came within {deadline_ms} ms")]
    Late {
        /// The socket.
        socket: PathBuf,
        /// How long was waited.
        deadline_ms: u128,
    },
    /// The server refused the request itself: the event is wrong, or not for this role to tell.
    #[error("the server refused it ({status}): {detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server says.
        detail: String,
    },
    /// The event acts in a session that belongs to somebody else, as the server says.
    #[error("{0}")]
    Foreign(String),
    /// The guard over the store failed.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

impl LinkError {
    /// Whether a server is just starting or ending, so that it is worth to try again in a moment.
    pub(super) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Absent { .. }
                | Self::NoAnswer {
                    is_passing: true,
                    ..
                }
                | Self::Guard(GuardError::Store(
                    StoreError::Owned { .. } | StoreError::Closed
                ))
        )
    }

    /// Whether the guard is to blame, so that a `fail` mode has to decide; else the event is wrong.
    #[must_use]
    pub fn is_no_answer(&self) -> bool {
        match self {
            Self::Refused { .. } | Self::Foreign(_) => false,
            Self::Guard(error) => error.is_no_answer(),
            Self::Absent { .. } | Self::NoAnswer { .. } | Self::Late { .. } => true,
        }
    }

    /// Whether the event acts in a session that belongs to somebody else.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        match self {
            Self::Foreign(_) => true,
            Self::Guard(error) => error.is_foreign(),
            _ => false,
        }
    }
}
