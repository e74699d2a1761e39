//! The sessions above one: those that its id names, and those that started it one after the other.
//!
//! A kill reaches everything below it, and a sub-agent need not have its starter's id in its own. So each
//! session knows who started it, and a few of them are looked up one after the other.

use super::CellMap;
use crate::cell::CellKeys;
use crate::id::Id;

/// So many starters are looked up. Chains of delegation are refused long before.
pub const MAX_STARTERS: u32 = 8;

/// What stands above a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Above {
    /// The nearest one that is killed.
    pub killed: Option<Id>,
    /// The nearest one that was reset since it started the one below it.
    pub stale: Option<Id>,
    /// How many started it one after the other.
    pub starters: u32,
}

impl CellMap {
    /// What stands above `session`.
    #[must_use]
    pub fn above(&self, session: &Id) -> Above {
        let mut above = Above::default();
        let mut at = session;
        above.killed = self.killed_parent(at);
        while let Some(starter) = self.sessions.get(at).and_then(|cell| cell.starter.as_ref()) {
            if above.starters == MAX_STARTERS {
                break;
            }
            above.starters += 1;
            at = &starter.by;
            let cell = self.sessions.get(at);
            if cell.is_some_and(|cell| cell.generation() > starter.generation) {
                above.stale.get_or_insert_with(|| at.clone());
            }
            let is_killed = cell.is_some_and(|cell| cell.killed().is_some());
            let killed = if is_killed {
                Some(at.clone())
            } else {
                self.killed_parent(at)
            };
            above.killed = above.killed.or(killed);
        }
        above
    }

    /// The nearest killed session that the id of `session` names as above it.
    fn killed_parent(&self, session: &Id) -> Option<Id> {
        let killed = |parent: &&str| {
            self.session(parent)
                .is_some_and(|cell| cell.killed().is_some())
        };
        let parent = session.parents().find(killed)?;
        Id::new(parent).ok()
    }

    pub(super) fn above_both(&self, keys: &CellKeys) -> (Above, Above) {
        let above = |session: &Option<Id>| {
            let above = session.as_ref().map(|session| self.above(session));
            above.unwrap_or_default()
        };
        (above(&keys.session), above(&keys.peer))
    }
}
