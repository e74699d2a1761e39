//! One cell of a map, by its name: for stores that keep cells one by one.

use sprag_core::InboxKey;

use crate::cell_key::CellKey;
use crate::cells::CellMap;

macro_rules! each_kind {
    ($key:expr, $map:ident, $name:ident => $do:expr) => {
        match $key {
            CellKey::Session(id) => each_kind!(@one sessions, id, $map, $name, $do),
            CellKey::Flow(id) => each_kind!(@one flows, id, $map, $name, $do),
            CellKey::Pair(first, second) => {
                let pair = (first.clone(), second.clone());
                each_kind!(@one pairs, &pair, $map, $name, $do)
            }
            CellKey::Inbox(id) => {
                let inbox = InboxKey::Session(id.clone());
                each_kind!(@one inboxes, &inbox, $map, $name, $do)
            }
            CellKey::AgentInbox(id) => {
                let inbox = InboxKey::Agent(id.clone());
                each_kind!(@one inboxes, &inbox, $map, $name, $do)
            }
            CellKey::Conversation(id) => each_kind!(@one conversations, id, $map, $name, $do),
            CellKey::Agent(id) => each_kind!(@one agents, id, $map, $name, $do),
            CellKey::Alias(id) => each_kind!(@one aliases, id, $map, $name, $do),
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

#[cfg(feature = "redis")]
impl CellMap {
    /// Copies one cell into another map; false where there is none.
    pub(crate) fn copy_one(&self, key: &CellKey, to: &mut Self) -> bool {
        each_kind!(key, of, name => match of!(self).get(name) {
            Some(cell) => {
                of!(to).insert(name.clone(), cell.clone());
                true
            }
            None => false,
        })
    }

    /// Puts one cell into another map.
    pub(crate) fn move_one(&mut self, key: &CellKey, to: &mut Self) {
        each_kind!(key, of, name => {
            if let Some(cell) = of!(self).remove(name) {
                of!(to).insert(name.clone(), cell);
            }
        });
    }

    /// Forgets one cell.
    pub(crate) fn forget_one(&mut self, key: &CellKey) {
        each_kind!(key, of, name => {
            of!(self).remove(name);
        });
    }

    /// The last event of one cell.
    pub(crate) fn touched_one(&self, key: &CellKey) -> Option<sprag_core::Timestamp> {
        each_kind!(key, of, name => of!(self).get(name).map(|cell| cell.touched()))
    }
}

impl CellMap {
    /// Whether both hold the same cell, or none.
    pub(crate) fn same_one(&self, other: &Self, key: &CellKey) -> bool {
        each_kind!(key, of, name => of!(self).get(name) == of!(other).get(name))
    }
}
