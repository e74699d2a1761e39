//! Cells of any kind by their [`CellKey`]: for stores that read, compare and forget them one by one.

use super::CellMap;
use crate::cell::{CellKey, InboxKey};
use crate::id::Id;
use crate::time::Timestamp;

/// Runs `$do` on the map that holds the cell of `$key`: `$map!(cells)` is that map in `cells`, and
/// `$name` is the key inside it. The maps have different types, so this can't be a function.
macro_rules! with_map {
    ($key:expr, $map:ident, $name:ident => $do:expr) => {
        match $key {
            CellKey::Session(id) => with_map!(@one sessions, id, $map, $name, $do),
            CellKey::Flow(id) => with_map!(@one flows, id, $map, $name, $do),
            CellKey::Pair(first, second) => {
                let pair = (first.clone(), second.clone());
                with_map!(@one pairs, &pair, $map, $name, $do)
            }
            CellKey::Inbox(id) => {
                let inbox = InboxKey::Session(id.clone());
                with_map!(@one inboxes, &inbox, $map, $name, $do)
            }
            CellKey::AgentInbox(id) => {
                let inbox = InboxKey::Agent(id.clone());
                with_map!(@one inboxes, &inbox, $map, $name, $do)
            }
            CellKey::Conversation(id) => with_map!(@one conversations, id, $map, $name, $do),
            CellKey::Agent(id) => with_map!(@one agents, id, $map, $name, $do),
            CellKey::Alias(id) => with_map!(@one aliases, id, $map, $name, $do),
            CellKey::Task(id) => with_map!(@one tasks, id, $map, $name, $do),
        }
    };
    (@one $field:ident, $id:expr, $map:ident, $name:ident, $do:expr) => {{
        macro_rules! $map {
            ($cells:expr) => {
                $cells.$field
            };
        }
        let $name = $id;
        $do
    }};
}

impl CellMap {
    /// The keys of all cells, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<CellKey> {
        let sessions = self.sessions.keys().cloned().map(CellKey::Session);
        let mut keys: Vec<_> = sessions.chain(self.others().map(|(key, _)| key)).collect();
        keys.sort_unstable();
        keys
    }

    /// All cells but sessions, in no order: their keys and the times of their last events.
    pub fn others(&self) -> impl Iterator<Item = (CellKey, Timestamp)> {
        macro_rules! entries {
            ($map:ident, $key:expr) => {
                self.$map
                    .iter()
                    .map(|(id, cell)| ($key(id), cell.touched()))
            };
        }
        entries!(flows, |id: &Id| CellKey::Flow(id.clone()))
            .chain(entries!(pairs, CellKey::of_pair))
            .chain(entries!(inboxes, CellKey::of_inbox))
            .chain(entries!(conversations, |id: &Id| {
                CellKey::Conversation(id.clone())
            }))
            .chain(entries!(agents, |id: &Id| CellKey::Agent(id.clone())))
            .chain(entries!(aliases, |id: &Id| CellKey::Alias(id.clone())))
            .chain(entries!(tasks, |id: &Id| CellKey::Task(id.clone())))
    }

    /// How many cells there are that are not sessions.
    #[must_use]
    pub fn count_others(&self) -> usize {
        self.flows.len()
            + self.pairs.len()
            + self.inboxes.len()
            + self.conversations.len()
            + self.agents.len()
            + self.aliases.len()
            + self.tasks.len()
    }

    /// The time of the last event that touched a cell.
    #[must_use]
    pub fn touched(&self, key: &CellKey) -> Option<Timestamp> {
        with_map!(key, of, name => of!(self).get(name).map(|cell| cell.touched()))
    }

    /// Copies one cell into another map. Returns false if it is missing.
    pub fn copy_one(&self, key: &CellKey, to: &mut Self) -> bool {
        with_map!(key, of, name => match of!(self).get(name) {
            Some(cell) => {
                of!(to).insert(name.clone(), cell.clone());
                true
            }
            None => false,
        })
    }

    /// Moves one cell into another map, if it is there.
    pub fn move_one(&mut self, key: &CellKey, to: &mut Self) {
        with_map!(key, of, name => {
            if let Some(cell) = of!(self).remove(name) {
                of!(to).insert(name.clone(), cell);
            }
        });
    }

    /// Removes one cell, so that it reads as new.
    pub fn remove(&mut self, key: &CellKey) {
        with_map!(key, of, name => {
            of!(self).remove(name);
        });
    }

    /// Whether both maps hold the same cell under `key`, or none.
    #[must_use]
    pub fn same_one(&self, other: &Self, key: &CellKey) -> bool {
        with_map!(key, of, name => of!(self).get(name) == of!(other).get(name))
    }

    /// The first cell, in the order of keys, that is not the same in both maps.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<CellKey> {
        if self == other {
            return None;
        }
        let keys = self.keys().into_iter().chain(other.keys());
        keys.filter(|key| !self.same_one(other, key)).min()
    }
}
