//! A policy file: the one place where policies are read from disk.
//!
//! A guard that starts, its hot reload, and every command that looks at a policy must agree on what a
//! file means. So all of them come here. A file is read whole or not at all, never past the size
//! that a policy may have, and only if it is a regular file: a named pipe would block the
//! reader until somebody writes to it.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
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
    /// A file that must exist does not.
    #[error("there is no policy {path}")]
    Missing {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// It can't be read.
    #[error("can't read the policy {path}: {why}")]
    Unreadable {
        /// The path that was asked for.
        path: PathBuf,
        /// The reason, as the system gives it.
        why: String,
    },
    /// Its bytes are not text.
    #[error("the policy {path} is not UTF-8 text: see line {line}")]
    NotText {
        /// The path that was asked for.
        path: PathBuf,
        /// The line of the first byte that is not UTF-8, from 1.
        line: usize,
    },
    /// It holds mistakes. The message lists them all, each with its key and its line.
    #[error("the policy can't be used\n{}", .errors.display(&path.display().to_string()))]
    Wrong {
        /// The path that was asked for.
        path: PathBuf,
        /// The mistakes.
        errors: PolicyErrors,
    },
}

impl PolicyFileError {
    /// What to do about it, if there is something better than what the message says.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Missing { path } => Some(format!(
                "`sprag policy show > {}` creates one from the defaults",
                path.display()
            )),
            Self::Unreadable { .. } => None,
            Self::NotText { .. } => Some("save it as UTF-8".to_owned()),
            Self::Wrong { path, .. } => Some(format!(
                "fix it, then try `sprag policy check {}`",
                path.display()
            )),
        }
    }
}

impl PolicyFile {
    /// A file that must exist.
    #[must_use]
    pub fn required(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            required: true,
        }
    }

    /// A file that may be missing: the defaults apply then.
    #[must_use]
    pub fn optional(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            required: false,
        }
    }

    /// The path, whether or not a file exists there.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is read as JSON: if its name ends in `.json`. Any other name means TOML.
    #[must_use]
    pub fn is_json(&self) -> bool {
        let extension = self.path.extension();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    }

    /// The policy in the file.
    ///
    /// # Errors
    /// Returns an error if the file can't be read, or what it holds is not a policy.
    pub fn load(&self) -> Result<Policy, PolicyFileError> {
        self.parse(self.text()?.as_deref())
    }

    /// The text of the file; none if it may be missing and is.
    ///
    /// # Errors
    /// Returns an error if the file can't be read or is not text.
    pub fn text(&self) -> Result<Option<String>, PolicyFileError> {
        let path = self.path.clone();
        let bytes = match self.read() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound && self.required => {
                return Err(PolicyFileError::Missing { path });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let why = error.to_string();
                return Err(PolicyFileError::Unreadable { path, why });
            }
        };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let text = error.as_bytes().get(..error.utf8_error().valid_up_to());
            let line = text.map_or(0, |text| text.split(|byte| *byte == b'\n').count());
            PolicyFileError::NotText { path, line }
        })
    }

    /// The policy that `text` holds; without a text, the default one.
    ///
    /// # Errors
    /// Returns an error that lists every mistake in the text.
    pub fn parse(&self, text: Option<&str>) -> Result<Policy, PolicyFileError> {
        let policy = match text {
            None => return Ok(Policy::default()),
            Some(text) if self.is_json() => Policy::from_json(text),
            Some(text) => Policy::from_toml(text),
        };
        policy.map_err(|errors| PolicyFileError::Wrong {
            path: self.path.clone(),
            errors,
        })
    }

    fn read(&self) -> std::io::Result<Vec<u8>> {
        // Opening a pipe that nobody writes to never returns, so look before opening.
        let metadata = self.path.metadata()?;
        if metadata.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        // One byte more than a policy may have is enough for the parser to report that it is too long.
        let most = u64::try_from(MAX_POLICY_BYTES).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        let file = File::open(&self.path)?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PolicyFile) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (home, PolicyFile::required(path))
    }

    #[test]
    fn the_name_decides_between_toml_and_json() {
        let (_home, toml) = file("p.toml", b"flow.max_depth = 3");
        let (_home, json) = file("p.JSON", br#"{"flow": {"max_depth": 3}}"#);
        assert_eq!(toml.load().unwrap(), json.load().unwrap());
        assert_ne!(toml.load().unwrap(), Policy::default());
    }

    #[test]
    fn only_a_file_that_may_be_missing_stands_for_the_defaults() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("gone.toml");
        let optional = PolicyFile::optional(&path);
        assert_eq!(optional.load().unwrap(), Policy::default());
        let error = PolicyFile::required(&path).load().unwrap_err();
        assert!(matches!(error, PolicyFileError::Missing { .. }));
    }

    #[test]
    fn a_byte_that_is_not_text_is_named_by_its_line() {
        let (_home, file) = file("p.toml", b"# one\n# two \xff\n");
        let error = file.load().unwrap_err();
        assert!(matches!(error, PolicyFileError::NotText { line: 2, .. }));
    }

    #[test]
    fn a_policy_that_is_too_long_is_refused_by_its_length() {
        let (_home, file) = file("p.toml", "#".repeat(MAX_POLICY_BYTES + 1).as_bytes());
        let message = file.load().unwrap_err().to_string();
        assert!(message.contains("at most"), "{message}");
    }

    #[test]
    fn a_directory_is_refused() {
        let home = tempfile::tempdir().unwrap();
        for file in [
            PolicyFile::required(home.path()),
            PolicyFile::optional(home.path()),
        ] {
            let message = file.load().unwrap_err().to_string();
            assert!(message.ends_with(": is a directory"), "{message}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nobody_writes_to_is_refused_and_does_not_block() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pipe.toml");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let message = PolicyFile::required(path).load().unwrap_err().to_string();
        assert!(message.ends_with(": not a regular file"), "{message}");
    }
}
