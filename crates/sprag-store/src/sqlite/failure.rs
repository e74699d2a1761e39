//! What SQLite's errors mean to a person.

use std::io::ErrorKind;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::StoreError;

impl StoreError {
    /// Names the file, and what its trouble is called.
    pub(super) fn at(self, path: &Path) -> Self {
        let Self::Sqlite(source) = self else {
            return self;
        };
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { path, waited_ms: 0 }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly {
                    path,
                    why: source.to_string(),
                }
            }
            Some(ErrorCode::NotADatabase) => Self::Foreign {
                path,
                why: "it is no database".to_owned(),
            },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                place: path.display().to_string(),
                what: source.to_string(),
            },
            _ => Self::Database { path, source },
        }
    }

    /// Whether the disk is to blame: nothing can be written, and a verdict can still be given.
    pub(super) const fn is_of_disk(&self) -> bool {
        matches!(
            self,
            Self::Full { .. }
                | Self::ReadOnly { .. }
                | Self::Io { .. }
                | Self::Database { .. }
                | Self::Unwritten { .. }
        )
    }

    /// What the system said about a file beside the database.
    pub(super) fn io(path: &Path, doing: &'static str, source: std::io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::ReadOnly {
                path,
                why: source.to_string(),
            },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full { path }
            }
            _ => Self::Io {
                path,
                doing,
                source,
            },
        }
    }
}
