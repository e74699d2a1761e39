//! The marks of a session, straight from the file: for whoever must decide without the owner.
//!
//! A hook whose server does not answer may let its agent go on, but never one that was killed or
//! blocked. A mark is in the file before anyone was told of it, so reading the file is enough.

use std::path::Path;

use sprag_core::{Id, Mark};

use super::connection::open_for_reading;
use super::reserve::reserved_marks;
use super::session_rows::session_cell;
use crate::error::StoreError;

/// Why a session may not go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Why it, or a session above it, is killed.
    pub killed: Option<Mark>,
    /// Why it is blocked.
    pub blocked: Option<Mark>,
}

impl Marks {
    /// Reads the marks of `session` from the database at `path`, whoever owns it.
    pub fn read(path: &Path, session: &Id) -> Result<Self, StoreError> {
        Self::read_from(path, session).map_err(|error| error.at(path))
    }

    fn read_from(path: &Path, session: &Id) -> Result<Self, StoreError> {
        let conn = open_for_reading(path)?;
        let mut marks = Self::default();
        if let Some(cell) = session_cell(&conn, session.as_str())? {
            marks.killed = cell.killed().cloned();
            marks.blocked = cell.blocked().cloned();
        }
        let reserved = reserved_marks(path);
        for mark in reserved.iter().filter(|mark| mark.session == *session) {
            marks.killed = marks.killed.or(mark.killed.as_deref().cloned());
            marks.blocked = marks.blocked.or(mark.blocked.as_deref().cloned());
        }
        for parent in session.parents() {
            let mut above = reserved
                .iter()
                .filter(|mark| mark.session.as_str() == parent);
            let killed = above.find_map(|mark| mark.killed.as_deref());
            marks.killed = marks.killed.or_else(|| killed.cloned());
            if marks.killed.is_none()
                && let Some(cell) = session_cell(&conn, parent)?
            {
                marks.killed = cell.killed().cloned();
            }
        }
        Ok(marks)
    }
}
