//! The marks of a session, straight from the file: for whoever must decide without the owner.
//!
//! A hook whose server does not answer may let its agent go on, but never one that was killed or
//! blocked. A mark is in the file before anyone was told of it, so reading the file is enough.

use std::path::Path;

use rusqlite::Connection;
use sprag_core::{Id, MAX_STARTERS, Mark};

use super::connection::open_for_reading;
use super::log_rows::orders;
use super::reserve::reserved_marks;
use super::session_rows::session_cell;
use crate::error::StoreError;
use crate::in_force::StandingOrders;

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
        for above in above(&conn, session)? {
            let mut reserved = reserved.iter().filter(|mark| mark.session == above);
            let killed = reserved.find_map(|mark| mark.killed.as_deref());
            marks.killed = marks.killed.or_else(|| killed.cloned());
            if marks.killed.is_none()
                && let Some(cell) = session_cell(&conn, above.as_str())?
            {
                marks.killed = cell.killed().cloned();
            }
        }
        Ok(marks)
    }
}

/// The standing orders in the database at `path`, whoever owns it.
pub fn read_orders(path: &Path) -> Result<StandingOrders, StoreError> {
    let read = || orders(&open_for_reading(path)?);
    read().map_err(|error| error.at(path))
}

/// The sessions above `session`: by its id, and by who started whom.
fn above(conn: &Connection, session: &Id) -> Result<Vec<Id>, StoreError> {
    let mut all = Vec::new();
    let mut at = session.clone();
    for _ in 0..MAX_STARTERS {
        all.extend(at.parents().filter_map(|id| Id::new(id).ok()));
        let cell = session_cell(conn, at.as_str())?;
        let Some(starter) = cell.as_ref().and_then(|cell| cell.starter()) else {
            return Ok(all);
        };
        at = starter.clone();
        all.push(at.clone());
    }
    Ok(all)
}
