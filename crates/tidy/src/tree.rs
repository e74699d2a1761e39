//! The files under check: those that git tracks, or would with the next `git add`.
//!
//! Ignored files are nobody's business, and a new file is seen before its first commit.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository's files by path from its root, with `/` between the parts.
#[derive(Debug, Default)]
pub struct Tree {
    /// The text of each file; none where it is not UTF-8.
    files: BTreeMap<String, Option<String>>,
}

/// One thing to mend, where it is and what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    file: String,
    line: usize,
    advice: String,
}

/// Why the files could not be read.
#[derive(Debug)]
pub enum TreeError {
    /// Git did not list the files; what it said.
    Git(String),
    /// A listed file could not be read.
    Read(PathBuf, std::io::Error),
}

impl Tree {
    /// Reads the repository that has its root at `root`.
    ///
    /// # Errors
    /// Returns an error if git is missing, `root` is in no repository, or a file can't be read.
    pub fn read(root: &Path) -> Result<Self, TreeError> {
        let mut files = BTreeMap::new();
        for path in list(root)? {
            let full = root.join(&path);
            // A file that is deleted but still in the index is gone as far as the next commit goes.
            if !full.is_file() {
                continue;
            }
            let bytes = std::fs::read(&full).map_err(|error| TreeError::Read(full, error))?;
            files.insert(path, String::from_utf8(bytes).ok());
        }
        Ok(Self { files })
    }

    /// Whether there is such a file, or a folder with files in it.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|file| file.starts_with(&folder))
    }

    /// The text of one file.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// All text files with their paths.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The text files whose names end in one of `extensions`.
    pub(crate) fn texts_in(&self, extensions: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.texts()
            .filter(|(path, _)| extensions.contains(&extension(path)))
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Tree {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a str)>>(files: T) -> Self {
        let owned = |(path, text): (&str, &str)| (path.to_owned(), Some(text.to_owned()));
        Self {
            files: files.into_iter().map(owned).collect(),
        }
    }
}

impl Violation {
    /// Something wrong on a line, counted from 1.
    pub(crate) fn new(file: &str, line: usize, advice: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.advice)
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Git(said) => write!(
                f,
                "git did not list the files; run this in a clone with git installed: {said}"
            ),
            Self::Read(path, error) => write!(f, "{} can't be read: {error}", path.display()),
        }
    }
}

impl std::error::Error for TreeError {}

/// What follows the last dot of a file's name.
pub(crate) fn extension(path: &str) -> &str {
    file_name(path)
        .rsplit_once('.')
        .map_or("", |(_, extension)| extension)
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn list(root: &Path) -> Result<Vec<String>, TreeError> {
    let output = Command::new("git")
        // A clone that belongs to another user, as in a container, is still only read.
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        // Set inside of a git hook, these would name another place than `root`.
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE")
        .current_dir(root)
        .output()
        .map_err(|error| TreeError::Git(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(TreeError::Git(said.trim().to_owned()));
    }
    let paths = String::from_utf8_lossy(&output.stdout);
    Ok(paths
        .split_terminator('\0')
        .map(ToOwned::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_reads_as_a_place_and_an_advice() {
        let violation = Violation::new("src/a.rs", 7, "split it");
        assert_eq!(violation.to_string(), "src/a.rs:7: split it");
    }

    #[test]
    fn folders_are_there_when_they_hold_files() {
        let tree: Tree = [("docs/a.md", "")].into_iter().collect();
        assert!(tree.has("docs") && tree.has("docs/a.md") && !tree.has("doc"));
    }

    #[test]
    fn a_folder_outside_of_any_repository_is_a_clear_error() {
        let error = Tree::read(Path::new("/")).unwrap_err().to_string();
        assert!(error.contains("run this in a clone"), "{error}");
    }
}
