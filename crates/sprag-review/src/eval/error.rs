//! Why runs could not be evaluated at all.
//!
//! A line that is no event is not among these: recordings have such lines, and one of them must not
//! cost the other hundred thousand. Those are counted as flaws.

use std::path::PathBuf;

use sprag_core::PolicyErrors;

/// What keeps an evaluation from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A file can't be read.
    #[error("can't read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file unpacks to more than is read.
    #[error("{} holds more than {max} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The most that is read.
        max: u64,
    },
    /// A folder holds no traces.
    #[error("{} holds no *.jsonl or *.jsonl.gz", path.display())]
    NoTraces {
        /// The folder.
        path: PathBuf,
    },
    /// A label can't be read.
    #[error("{}:{line}: this is not a label: {source}", path.display())]
    BadLabel {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The policy is wrong.
    #[error("the policy is wrong: {0}")]
    Policy(#[from] PolicyErrors),
}
