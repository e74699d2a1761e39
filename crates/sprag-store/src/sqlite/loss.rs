//! Whether a file lost records that it once had, for whoever looks at a machine.

use std::path::Path;

use super::checkpoints::Checkpoints;
use super::connection::open_for_reading;
use super::log_rows::HeadRow;
use crate::error::StoreError;

/// The error of a log that was cut or replaced, if the one at `path` was.
///
/// # Errors
/// Returns an error if the file or its checkpoints can't be read.
pub fn find_loss(path: &Path) -> Result<Option<StoreError>, StoreError> {
    let look = || -> Result<_, StoreError> {
        let conn = open_for_reading(path)?;
        let lost = Checkpoints::of(path).lost(&conn)?;
        let last = HeadRow::load(&conn)?.head.seq;
        Ok(lost.map(|lost| StoreError::Cut {
            path: path.to_path_buf(),
            checkpoint: lost.seq,
            last,
        }))
    };
    look().map_err(|error| error.at(path))
}
