//! Cells as bytes for a store, in the format of [`sprag_core::encoding`].

use sprag_core::encoding::{self, Encoding, Malformed, Reader, Writer};
use sprag_core::{CellKey, CellMap, InboxKey, SessionCell, StepMemory, Timestamp};

use crate::error::StoreError;
use crate::hash::Hash;

/// A cell's bytes with its last event.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) touched: Timestamp,
    pub(crate) bytes: Vec<u8>,
}

/// A session whole: all but the memory of its steps, then that memory.
fn pack_session(cell: &SessionCell) -> Vec<u8> {
    let mut out = Writer::new(Vec::with_capacity(1024));
    SessionCell::write(cell, &mut out);
    cell.write_memory(&mut out);
    out.into_bytes()
}

fn unpack_session(bytes: &[u8]) -> Result<SessionCell, Malformed> {
    let mut from = Reader::new(bytes)?;
    let mut cell = SessionCell::read(&mut from)?;
    cell.put_memory(StepMemory::read(&mut from)?);
    Ok(cell)
}

impl Packed {
    /// The bytes of one cell of `cells`; none if it is missing.
    pub(crate) fn of(cells: &CellMap, key: &CellKey) -> Option<Self> {
        macro_rules! packed {
            ($map:ident, $id:expr) => {
                cells
                    .$map
                    .get($id)
                    .map(|cell| (cell.touched(), encoding::encode(&**cell)))
            };
        }
        let found = match key {
            CellKey::Session(id) => {
                let cell = cells.sessions.get(id);
                cell.map(|cell| (cell.touched(), pack_session(cell)))
            }
            CellKey::Flow(id) => packed!(flows, id),
            CellKey::Pair(first, second) => packed!(pairs, &(first.clone(), second.clone())),
            CellKey::Inbox(id) => packed!(inboxes, &InboxKey::Session(id.clone())),
            CellKey::AgentInbox(id) => packed!(inboxes, &InboxKey::Agent(id.clone())),
            CellKey::Conversation(id) => packed!(conversations, id),
            CellKey::Agent(id) => packed!(agents, id),
            CellKey::Alias(id) => packed!(aliases, id),
            CellKey::Task(id) => packed!(tasks, id),
        };
        found.map(|(touched, bytes)| Self { touched, bytes })
    }
}

/// Puts one cell into `cells` from its bytes.
pub(crate) fn unpack_cell(
    cells: &mut CellMap,
    key: CellKey,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let damaged = |what: Malformed| StoreError::Damaged {
        place: format!("cell {key:?}"),
        what: what.to_string(),
    };
    macro_rules! unpacked {
        ($map:ident, $id:expr) => {{
            let cell = encoding::decode(bytes).map_err(damaged)?;
            cells.$map.insert($id, Box::new(cell));
        }};
    }
    match &key {
        CellKey::Session(id) => {
            let cell = unpack_session(bytes).map_err(damaged)?;
            cells.sessions.insert(id.clone(), Box::new(cell));
        }
        CellKey::Flow(id) => unpacked!(flows, id.clone()),
        CellKey::Pair(first, second) => unpacked!(pairs, (first.clone(), second.clone())),
        CellKey::Inbox(id) => unpacked!(inboxes, InboxKey::Session(id.clone())),
        CellKey::AgentInbox(id) => unpacked!(inboxes, InboxKey::Agent(id.clone())),
        CellKey::Conversation(id) => unpacked!(conversations, id.clone()),
        CellKey::Agent(id) => unpacked!(agents, id.clone()),
        CellKey::Alias(id) => unpacked!(aliases, id.clone()),
        CellKey::Task(id) => unpacked!(tasks, id.clone()),
    }
    Ok(())
}

/// The digest of many cells, given one after the other in order.
#[derive(Debug, Default)]
pub(crate) struct CellsDigest {
    so_far: Hash,
    pub(crate) count: u64,
}

impl CellsDigest {
    pub(crate) fn add(&mut self, kind: u8, name: &str, bytes: &[u8]) {
        let length = u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes();
        let before = self.so_far;
        self.so_far = Hash::over(&[before.as_bytes(), &[kind], &length, name.as_bytes(), bytes]);
        self.count = self.count.saturating_add(1);
    }

    pub(crate) fn finish(self) -> Hash {
        self.so_far
    }
}
