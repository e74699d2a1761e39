//! Why a scan could not start. What is wrong with a transcript is no error: it is skipped with a word.

use std::path::PathBuf;

/// What keeps a scan from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// A path that a person named can't be read.
    #[error("can't read {}: {source}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}
