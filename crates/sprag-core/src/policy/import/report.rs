//! What an import reports: which key each setting became, or why there is no policy.

use std::fmt;

/// What became of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportNote {
    /// It is in the policy.
    Mapped {
        /// Its name in the file.
        from: String,
        /// The key of the policy.
        to: &'static str,
        /// The value there.
        value: String,
    },
    /// It is in the policy, with the highest value that a policy may have.
    Lowered {
        /// Its name in the file.
        from: String,
        /// The key of the policy.
        to: &'static str,
        /// The value there.
        value: String,
        /// The value in the file.
        found: u64,
    },
    /// Another key of the file set the same limit lower.
    Overruled {
        /// Its name in the file.
        from: String,
        /// The key of the policy.
        to: &'static str,
    },
    /// A policy has nothing like it.
    Ignored {
        /// Its name in the file.
        from: String,
    },
}

impl fmt::Display for ImportNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mapped { from, to, value } => write!(f, "{from} → {to} = {value}"),
            Self::Lowered {
                from,
                to,
                value,
                found,
            } => {
                write!(
                    f,
                    "{from} → {to} = {value}, the most it may be, instead of {found}"
                )
            }
            Self::Overruled { from, to } => {
                write!(f, "{from} → {to}, which another key sets lower")
            }
            Self::Ignored { from } => write!(f, "{from}: ignored, a policy has nothing like it"),
        }
    }
}

/// Why a file could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is not JSON.
    #[error("this is not JSON: {0}")]
    Syntax(String),
    /// It is JSON, but holds no keys.
    #[error("a file of limits is a JSON object; this one is something else")]
    NoObject,
    /// It is larger than any file of limits.
    #[error("a file of limits has at most {max} bytes, this one has {found}")]
    TooLong {
        /// What is allowed.
        max: usize,
        /// What there is.
        found: usize,
    },
    /// None of its keys is known.
    #[error(
        "no known limits in this file: it has none of `maxDepth`, `maxStackDepth`, \
         `maxUniqueSessions`, `maxTotalCalls`, `maxCallsPerMinute`, `maxDuration`, `maxRevisits` \
         (recursion limits), `protection.max_agent_messages_per_minute`, \
         `protection.max_chain_depth` (settings), `max_deletes`, `window_s` (deletes)"
    )]
    Unknown,
    /// A limit that can't be one.
    #[error("{key}: must be a whole number from 1, not {found}")]
    Value {
        /// The key.
        key: String,
        /// What there is.
        found: String,
    },
}
