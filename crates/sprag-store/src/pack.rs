//! Cells as bytes for a store.
//!
//! Sessions are written again and again, so they have a form of their own, in few bytes and quickly made. The
//! others are MessagePack with names: those cost a little room and buy a lot of peace, since a cell that
//! grows a field is read with its default, and a verdict inside an alias may hold any evidence.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sprag_core::{CellKey, CellKeys, CellMap, InboxKey, SessionCell, StepMemory, Timestamp};

use crate::error::StoreError;
use crate::hash::Hash;

const FORMAT: u8 = 1;
/// A session: the length of its small part, that part, and the memory of its steps.
const SESSION_FORMAT: u8 = 2;

/// A cell's bytes with its last event.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) touched: Timestamp,
    pub(crate) bytes: Vec<u8>,
}

fn damaged(key: &CellKey, what: impl ToString) -> StoreError {
    StoreError::Damaged {
        place: format!("cell {key:?}"),
        what: what.to_string(),
    }
}

pub(crate) fn pack(key: &CellKey, cell: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![FORMAT];
    rmp_serde::encode::write_named(&mut bytes, cell).map_err(|error| damaged(key, error))?;
    Ok(bytes)
}

pub(crate) fn unpack<C: DeserializeOwned>(
    key: &CellKey,
    bytes: &[u8],
) -> Result<Box<C>, StoreError> {
    match bytes.split_first() {
        Some((&FORMAT, rest)) => rmp_serde::from_slice(rest).map_err(|error| damaged(key, error)),
        Some((other, _)) => Err(damaged(key, format!("{other} is no known format"))),
        None => Err(damaged(key, "it is empty")),
    }
}

fn pack_session(key: &CellKey, cell: &SessionCell) -> Result<Vec<u8>, StoreError> {
    let mut small = Vec::with_capacity(512);
    cell.write_small(&mut small);
    let length = u32::try_from(small.len()).map_err(|error| damaged(key, error))?;
    let mut bytes = vec![SESSION_FORMAT];
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.append(&mut small);
    cell.write_memory(&mut bytes);
    Ok(bytes)
}

fn unpack_session(key: &CellKey, bytes: &[u8]) -> Result<Box<SessionCell>, StoreError> {
    let Some((&SESSION_FORMAT, rest)) = bytes.split_first() else {
        return unpack(key, bytes);
    };
    let read = || {
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (small, memory) = rest.split_at_checked(length)?;
        let mut cell = SessionCell::read_small(small)?;
        cell.put_memory(StepMemory::read(memory)?);
        Some(Box::new(cell))
    };
    read().ok_or_else(|| damaged(key, "its bytes can't be read"))
}

impl Packed {
    /// The bytes of one cell of `cells`; none if it is missing.
    pub(crate) fn of(cells: &CellMap, key: &CellKey) -> Result<Option<Self>, StoreError> {
        macro_rules! packed {
            ($map:ident, $id:expr) => {
                cells
                    .$map
                    .get($id)
                    .map(|cell| (cell.touched(), pack(key, &**cell)))
            };
        }
        let found = match key {
            CellKey::Session(id) => {
                let cell = cells.sessions.get(id);
                cell.map(|cell| (cell.touched(), pack_session(key, cell)))
            }
            CellKey::Flow(id) => packed!(flows, id),
            CellKey::Pair(first, second) => packed!(pairs, &(first.clone(), second.clone())),
            CellKey::Inbox(id) => packed!(inboxes, &InboxKey::Session(id.clone())),
            CellKey::AgentInbox(id) => packed!(inboxes, &InboxKey::Agent(id.clone())),
            CellKey::Conversation(id) => packed!(conversations, id),
            CellKey::Agent(id) => packed!(agents, id),
            CellKey::Alias(id) => packed!(aliases, id),
        };
        found
            .map(|(touched, bytes)| bytes.map(|bytes| Self { touched, bytes }))
            .transpose()
    }
}

/// Puts one cell into `cells` from its bytes.
pub(crate) fn unpack_cell(
    cells: &mut CellMap,
    key: CellKey,
    bytes: &[u8],
) -> Result<(), StoreError> {
    macro_rules! unpacked {
        ($map:ident, $id:expr) => {{
            let cell = unpack(&key, bytes)?;
            cells.$map.insert($id, cell);
        }};
    }
    match &key {
        CellKey::Session(id) => {
            let cell = unpack_session(&key, bytes)?;
            cells.sessions.insert(id.clone(), cell);
        }
        CellKey::Flow(id) => unpacked!(flows, id.clone()),
        CellKey::Pair(first, second) => unpacked!(pairs, (first.clone(), second.clone())),
        CellKey::Inbox(id) => unpacked!(inboxes, InboxKey::Session(id.clone())),
        CellKey::AgentInbox(id) => unpacked!(inboxes, InboxKey::Agent(id.clone())),
        CellKey::Conversation(id) => unpacked!(conversations, id.clone()),
        CellKey::Agent(id) => unpacked!(agents, id.clone()),
        CellKey::Alias(id) => unpacked!(aliases, id.clone()),
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

/// The cells that an event touches, with the sessions above its own, whose kills reach it.
pub(crate) fn with_parents(keys: &CellKeys) -> Vec<CellKey> {
    let sessions = keys.session.iter().chain(&keys.peer);
    let parents =
        sessions.flat_map(|id| id.parents().filter_map(|id| sprag_core::Id::new(id).ok()));
    let mut all: Vec<_> = parents.map(CellKey::Session).collect();
    all.extend(CellKey::all(keys));
    all
}
