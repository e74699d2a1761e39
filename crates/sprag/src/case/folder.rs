//! The folder in which cases are kept.

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use super::{Case, CaseHead, CaseRecord};
use crate::atomic;

/// The most cases; more are refused, so that a folder can't grow without end.
const MAX_CASES: usize = 1_000;

/// The folder `cases` beside a store.
#[derive(Debug, Clone)]
pub struct CaseFolder(PathBuf);

/// Why a case can't be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseFolderError {
    /// There is no such case.
    #[error("there is no case {0:?}")]
    Unknown(String),
    /// The stop was marked before.
    #[error("this stop was marked as wrong before: case {0}")]
    Known(String),
    /// There are too many.
    #[error("there are {MAX_CASES} cases already in {path}; remove those that are settled", path = .0.display())]
    TooMany(PathBuf),
    /// The file can't be used.
    #[error("{path}: {error}", path = .0.display(), error = .1)]
    Io(PathBuf, std::io::Error),
    /// A line is not part of a case.
    #[error("{path}: {error}", path = .0.display(), error = .1)]
    Damaged(PathBuf, serde_json::Error),
}

impl CaseFolder {
    /// The one beside the store `db`.
    #[must_use]
    pub fn beside(db: &Path) -> Self {
        Self(db.with_file_name("cases"))
    }

    /// Keeps a case.
    ///
    /// # Errors
    /// Returns an error if the stop was marked before, there are too many cases, or the file can't be written.
    pub fn save(&self, case: &Case) -> Result<(), CaseFolderError> {
        let path = self.path(&case.head.case)?;
        if path.exists() {
            return Err(CaseFolderError::Known(case.head.case.clone()));
        }
        if self.names()?.len() >= MAX_CASES {
            return Err(CaseFolderError::TooMany(self.0.clone()));
        }
        let damaged = |error| CaseFolderError::Damaged(path.clone(), error);
        let mut text = serde_json::to_string(&case.head).map_err(damaged)?;
        for record in &case.records {
            text.push('\n');
            text += &serde_json::to_string(record).map_err(damaged)?;
        }
        text.push('\n');
        let failed = |error| CaseFolderError::Io(path.clone(), error);
        std::fs::create_dir_all(&self.0).map_err(failed)?;
        atomic::write_private(&path, &text).map_err(failed)
    }

    /// Reads a case.
    ///
    /// # Errors
    /// Returns an error if there is none of that name, or its file can't be read.
    pub fn load(&self, name: &str) -> Result<Case, CaseFolderError> {
        let path = self.path(name)?;
        let mut lines = self.open(name, &path)?.lines();
        let failed = |error| CaseFolderError::Io(path.clone(), error);
        let damaged = |error| CaseFolderError::Damaged(path.clone(), error);
        let head = lines.next().transpose().map_err(failed)?;
        let head = serde_json::from_str(&head.unwrap_or_default()).map_err(damaged)?;
        let mut records = Vec::new();
        for line in lines {
            let record: CaseRecord =
                serde_json::from_str(&line.map_err(failed)?).map_err(damaged)?;
            records.push(record);
        }
        Ok(Case { head, records })
    }

    /// What the cases are about, the newest first; files that are not cases are left out.
    ///
    /// # Errors
    /// Returns an error if the folder can't be read.
    pub fn list(&self) -> Result<Vec<CaseHead>, CaseFolderError> {
        let mut heads: Vec<CaseHead> = Vec::new();
        for name in self.names()? {
            let path = self.path(&name)?;
            let mut line = String::new();
            if self.open(&name, &path)?.read_line(&mut line).is_ok() {
                heads.extend(serde_json::from_str::<CaseHead>(&line).ok());
            }
        }
        heads.sort_by(|a, b| b.marked.cmp(&a.marked).then(b.seq.cmp(&a.seq)));
        Ok(heads)
    }

    fn open(&self, name: &str, path: &Path) -> Result<BufReader<std::fs::File>, CaseFolderError> {
        match std::fs::File::open(path) {
            Ok(file) => Ok(BufReader::new(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(CaseFolderError::Unknown(name.to_owned()))
            }
            Err(error) => Err(CaseFolderError::Io(path.to_owned(), error)),
        }
    }

    fn names(&self) -> Result<Vec<String>, CaseFolderError> {
        let entries = match std::fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(CaseFolderError::Io(self.0.clone(), error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| CaseFolderError::Io(self.0.clone(), error))?;
            let name = entry.file_name();
            names.extend(
                name.to_str()
                    .and_then(|name| name.strip_suffix(".jsonl"))
                    .filter(|name| is_name(name))
                    .map(str::to_owned),
            );
        }
        Ok(names)
    }

    /// Where a case is. A name is `c` and a number, so it never leads out of the folder.
    fn path(&self, name: &str) -> Result<PathBuf, CaseFolderError> {
        if is_name(name) {
            return Ok(self.0.join(format!("{name}.jsonl")));
        }
        Err(CaseFolderError::Unknown(name.to_owned()))
    }
}

fn is_name(name: &str) -> bool {
    let number = name.strip_prefix('c').unwrap_or_default();
    !number.is_empty() && number.len() <= 20 && number.bytes().all(|byte| byte.is_ascii_digit())
}
