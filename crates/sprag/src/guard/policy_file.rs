//! A policy file: read whole, or not at all.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sprag_core::{MAX_POLICY_BYTES, Policy, PolicyErrors};

/// Where a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    path: PathBuf,
    required: bool,
}

/// Why a policy file can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyFileError {
    /// It can't be read.
    #[error("can't read the policy {path}: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// It is not text.
    #[error("the policy {path} is not UTF-8 text")]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// It holds mistakes; all of them are told, each with its line.
    #[error("the policy can't be used\n{}", .errors.display(&path.display().to_string()))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The mistakes.
        errors: PolicyErrors,
    },
}

impl PolicyFile {
    /// A file that must be there.
    #[must_use]
    pub fn required(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            required: true,
        }
    }

    /// A file that may be missing when a guard starts: the defaults hold then.
    #[must_use]
    pub fn optional(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            required: false,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes; none where it may be missing and is.
    pub(super) fn bytes(&self) -> Result<Option<Vec<u8>>, PolicyFileError> {
        match self.read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !self.required => {
                Ok(None)
            }
            Err(error) => Err(PolicyFileError::Unreadable {
                path: self.path.clone(),
                why: error.to_string(),
            }),
        }
    }

    /// One byte more than a policy may have is enough to tell that it has too many.
    fn read(&self) -> std::io::Result<Vec<u8>> {
        let most = u64::try_from(MAX_POLICY_BYTES).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        let file = File::open(&self.path)?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The policy that these bytes are; none of them is the default.
    pub(super) fn parse(&self, bytes: Option<&[u8]>) -> Result<Policy, PolicyFileError> {
        let path = || self.path.clone();
        let Some(bytes) = bytes else {
            return Ok(Policy::default());
        };
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| PolicyFileError::NotText { path: path() })?;
        let is_json = self
            .path
            .extension()
            .is_some_and(|name| name.eq_ignore_ascii_case("json"));
        let policy = if is_json {
            Policy::from_json(text)
        } else {
            Policy::from_toml(text)
        };
        policy.map_err(|errors| PolicyFileError::Wrong {
            path: path(),
            errors,
        })
    }
}
