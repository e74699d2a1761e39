//! The sessions above a sub-agent's: what it spends counts for them too.
//!
//! Only a session that is in use counts: it had an event in the last day. An id with a slash whose first
//! part nobody ever used is no sub-agent's, and a cell that a store may have deleted must read the same
//! as one that it has not.

use super::{SessionCell, Spending};
use crate::id::Id;
use crate::time::{Millis, Timestamp};

/// A session above one that reports usage, with its cell.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionAbove {
    pub(crate) id: Id,
    pub(crate) cell: Box<SessionCell>,
    /// The usage was counted in it.
    pub(crate) is_counted: bool,
}

impl SessionAbove {
    /// The session `id` with its cell, before the usage is counted.
    pub(crate) fn new(id: Id, cell: Box<SessionCell>) -> Self {
        let is_counted = false;
        Self {
            id,
            cell,
            is_counted,
        }
    }

    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        !self.cell.is_expired(now)
    }
}

/// What a session above the acting one has spent, to read only.
#[derive(Debug, Clone, PartialEq)]
pub struct SpentAbove {
    pub(crate) id: Id,
    pub(crate) agent: Option<Id>,
    pub(crate) spent: Spending,
    touched: Timestamp,
}

impl SpentAbove {
    /// None if nothing was spent.
    pub(crate) fn of(id: &str, cell: &SessionCell) -> Option<Self> {
        let mut spent = Spending::clone(&cell.held.spent);
        if spent.is_empty() {
            return None;
        }
        // Its own events warn; a sub-agent's call that only reads it does not.
        spent.warn_never();
        Some(Self {
            id: Id::new(id).ok()?,
            agent: cell.agent.clone(),
            spent,
            touched: cell.touched,
        })
    }

    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        now.since(self.touched) < Millis::DAY
    }
}
