//! Why tokens can't be used.

use std::path::PathBuf;

use sprag::Role;

/// What is wrong with a token or its file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for a token: {0}")]
    Random(getrandom::Error),
    /// A file can't be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Others than its user may read it.
    #[error("{path} can be read by others; `chmod 600` it, or remove it to have a new one made")]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// It holds something else.
    #[error("{path} holds no token; remove it to have a new one made")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// What was given at the start is not a token.
    #[error(
        "{source_name} holds no token: it must be sprag_{role}_ and 64 hexadecimal digits; make one: \
         echo \"sprag_{role}_$(openssl rand -hex 32)\""
    )]
    Form {
        /// Where it comes from.
        source_name: String,
        /// The role of its holder.
        role: Role,
    },
    /// The list of tokens is damaged.
    #[error("{path} is not a list of tokens: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A name is taken.
    #[error("there is a token {name:?} already; revoke it first, or take another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// A name can't be one.
    #[error(
        "a token's name has 1 to 64 letters, digits, dots, dashes or underscores, not {name:?}"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// There is no such token.
    #[error("there is no token {name:?}")]
    Unknown {
        /// The name.
        name: String,
    },
}

impl TokenError {
    pub(super) fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}
