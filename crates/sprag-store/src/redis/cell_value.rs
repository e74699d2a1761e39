//! A cell as Redis keeps it: a version, then its bytes.
//!
//! The script writes the version: the number of the record that changed the cell and the start of
//! that record's hash. The number alone would not do: after a failover that lost records the same
//! numbers are given again.

use sprag_core::{Id, Millis, SessionCell, StepMemory, Timestamp};

use super::name_table::{expand, shorten};
use crate::cell_key::CellKey;
use crate::cells::CellMap;
use crate::codec::{decode_tally, encode_tally};
use crate::error::StoreError;
use crate::live::Live;
use crate::query::SessionState;

const UNREADABLE: &str = "its bytes can't be read";

/// Which record a cell is from; all zero where there is no cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CellVersion(pub(super) [u8; 16]);

impl CellVersion {
    /// As the script compares it.
    pub(super) fn expected(&self) -> &[u8] {
        if *self == Self::default() {
            &[]
        } else {
            &self.0
        }
    }

    /// What record `seq` with `hash` (as text) writes.
    pub(super) fn of(seq: u64, hash: &[u8]) -> Self {
        let mut version = [0; 16];
        let bytes = seq.to_be_bytes().into_iter().chain(hash.iter().copied());
        for (to, from) in version.iter_mut().zip(bytes) {
            *to = from;
        }
        Self(version)
    }

    /// The number of the record.
    pub(super) fn seq(&self) -> u64 {
        let (seq, _) = self.0.split_at(8);
        seq.try_into().map_or(0, u64::from_be_bytes)
    }

    /// Splits what Redis holds.
    pub(super) fn split(value: &[u8]) -> Option<(Self, &[u8])> {
        let (version, bytes) = value.split_at_checked(16)?;
        Some((Self(version.try_into().ok()?), bytes))
    }
}

/// What is to be written of one cell.
#[derive(Debug, Default)]
pub(super) struct EncodedCell {
    pub(super) bytes: Vec<u8>,
    /// None: for ever.
    pub(super) life: Option<Millis>,
}

fn damaged(key: &CellKey, what: impl ToString) -> StoreError {
    StoreError::Damaged {
        place: format!("cell {key:?} in Redis"),
        what: what.to_string(),
    }
}

/// The small part of a session with its counts, and its memory where that changed.
pub(super) fn write_session(id: &Id, live: &Live, memory_changed: bool) -> [EncodedCell; 2] {
    let Some(cell) = live.cells.session(id.as_str()) else {
        return <[EncodedCell; 2]>::default();
    };
    let mut bytes = encode_tally(SessionState::of(cell), &live.tally(id));
    cell.write_small(&mut bytes);
    let life = cell.is_forgettable().then_some(LIFE_OF_SESSION);
    let small = EncodedCell { bytes, life };
    let mut bytes = Vec::new();
    if memory_changed {
        cell.write_memory(&mut bytes);
    }
    [small, EncodedCell { bytes, life }]
}

/// Any other cell.
pub(super) fn write_cell(key: &CellKey, cells: &CellMap) -> Result<EncodedCell, StoreError> {
    let bytes = cells.pack(key)?.map(|packed| shorten(packed.bytes));
    Ok(EncodedCell {
        bytes: bytes.unwrap_or_default(),
        life: life_of(key),
    })
}

/// Reads the small part of a session.
pub(super) fn read_session(id: &Id, bytes: &[u8], live: &mut Live) -> Result<(), StoreError> {
    let key = CellKey::Session(id.clone());
    let (tally, bytes) = decode_tally(bytes).map_err(|error| damaged(&key, error))?;
    let cell = SessionCell::read_small(bytes).ok_or_else(|| damaged(&key, UNREADABLE))?;
    live.cells.sessions.insert(id.clone(), Box::new(cell));
    live.tallies.insert(id.clone(), tally);
    Ok(())
}

/// Reads any other cell.
pub(super) fn read_cell(key: CellKey, bytes: &[u8], cells: &mut CellMap) -> Result<(), StoreError> {
    let named = expand(bytes).ok_or_else(|| damaged(&key, UNREADABLE))?;
    cells.unpack(key, &named)
}

/// Reads the memory of a session.
pub(super) fn read_memory(id: &Id, bytes: &[u8]) -> Result<StepMemory, StoreError> {
    let unreadable = || damaged(&CellKey::Session(id.clone()), UNREADABLE);
    StepMemory::read(bytes).ok_or_else(unreadable)
}

/// How long after its last event a cell reads as new; none where some of it never does.
///
/// Of a session only one that nothing outlives may go.
pub(super) fn reads_as_new_after(key: &CellKey) -> Option<Millis> {
    match key {
        CellKey::Session(_) | CellKey::Flow(_) | CellKey::Conversation(_) | CellKey::Alias(_) => {
            Some(Millis::DAY)
        }
        CellKey::Pair(..) => Some(Millis::HOUR),
        CellKey::Inbox(_) | CellKey::AgentInbox(_) => Some(Millis::MINUTE),
        CellKey::Agent(_) => None,
    }
}

/// Redis keeps a cell a minute longer, so that a late event finds what it must.
fn life_of(key: &CellKey) -> Option<Millis> {
    reads_as_new_after(key).map(|millis| Millis(millis.0 + Millis::MINUTE.0))
}

const LIFE_OF_SESSION: Millis = Millis(Millis::DAY.0 + Millis::MINUTE.0);

/// The life of a cell whose last event may lie ahead of Redis' clock.
pub(super) fn life_from(life: Option<Millis>, touched: Timestamp, now: Timestamp) -> u64 {
    life.map_or(0, |life| life.0.saturating_add(touched.since(now).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_number_and_the_start_of_a_hash() {
        let version = CellVersion::of(258, b"0123456789abcdef");
        assert_eq!(&version.0, b"\0\0\0\0\0\0\x01\x0201234567");
        assert_eq!(version.seq(), 258);
        assert_eq!(CellVersion::default().expected(), b"");
        let (split, rest) = CellVersion::split(b"\0\0\0\0\0\0\x01\x0201234567cell").unwrap();
        assert_eq!((split, rest), (version, &b"cell"[..]));
    }
}
