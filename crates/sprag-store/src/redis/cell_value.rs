//! A cell as Redis stores it: a version, then its bytes.
//!
//! `commit.lua` writes the version: the number of the record that changed the cell, and the start of that
//! record's hash. The number alone is not enough: after a failover that lost records, the same
//! numbers are given again.

use sprag_core::{CellKey, CellMap, Id, Millis, SessionCell, StepMemory, Timestamp};

use super::name_table::{expand, shorten};
use crate::codec::{decode_tally, encode_tally};
use crate::error::StoreError;
use crate::pack::{Packed, unpack_cell};
use crate::query::SessionState;
use crate::store_state::StoreState;

const UNREADABLE: &str = "its bytes can't be read";

/// The record that last changed a cell; all zero if there is no cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CellVersion(pub(super) [u8; 16]);

impl CellVersion {
    /// The bytes that the script compares: those of a missing key are empty.
    pub(super) fn expected(&self) -> &[u8] {
        if *self == Self::default() {
            &[]
        } else {
            &self.0
        }
    }

    /// The version that the commit of record `seq` writes; `hash` is in hex digits.
    pub(super) fn of(seq: u64, hash: &[u8]) -> Self {
        let mut version = [0; 16];
        let bytes = seq.to_be_bytes().into_iter().chain(hash.iter().copied());
        for (to, from) in version.iter_mut().zip(bytes) {
            *to = from;
        }
        Self(version)
    }

    /// The number of the record that wrote it.
    pub(super) fn seq(&self) -> u64 {
        let (seq, _) = self.0.split_at(8);
        seq.try_into().map_or(0, u64::from_be_bytes)
    }

    /// Splits a value in Redis into its version and the bytes of the cell.
    pub(super) fn split(value: &[u8]) -> Option<(Self, &[u8])> {
        let (version, bytes) = value.split_at_checked(16)?;
        Some((Self(version.try_into().ok()?), bytes))
    }
}

/// The bytes to write for one cell; empty if it stays as it is.
#[derive(Debug, Default)]
pub(super) struct EncodedCell {
    pub(super) bytes: Vec<u8>,
    /// How long Redis keeps it; none: for ever.
    pub(super) life: Option<Millis>,
}

fn damaged(key: &CellKey, what: impl ToString) -> StoreError {
    StoreError::Damaged {
        place: format!("cell {key:?} in Redis"),
        what: what.to_string(),
    }
}

/// Encodes a session as two values: the small part with its counts, which every event changes, and the
/// step memory, which is large and changes rarely.
pub(super) fn write_session(id: &Id, state: &StoreState, memory_changed: bool) -> [EncodedCell; 2] {
    let Some(cell) = state.cells.session(id.as_str()) else {
        return <[EncodedCell; 2]>::default();
    };
    let mut bytes = encode_tally(SessionState::of(cell), &state.tally(id));
    cell.write_small(&mut bytes);
    let life = cell.is_forgettable().then_some(LIFE_OF_SESSION);
    let small = EncodedCell { bytes, life };
    let mut bytes = Vec::new();
    if memory_changed {
        cell.write_memory(&mut bytes);
    }
    [small, EncodedCell { bytes, life }]
}

/// Encodes any other cell.
pub(super) fn write_cell(key: &CellKey, cells: &CellMap) -> Result<EncodedCell, StoreError> {
    let bytes = Packed::of(cells, key)?.map(|packed| shorten(packed.bytes));
    Ok(EncodedCell {
        bytes: bytes.unwrap_or_default(),
        life: life_of(key),
    })
}

/// Decodes the small part of a session.
pub(super) fn read_session(
    id: &Id,
    bytes: &[u8],
    state: &mut StoreState,
) -> Result<(), StoreError> {
    let key = CellKey::Session(id.clone());
    let (tally, bytes) = decode_tally(bytes).map_err(|error| damaged(&key, error))?;
    let cell = SessionCell::read_small(bytes).ok_or_else(|| damaged(&key, UNREADABLE))?;
    state.cells.sessions.insert(id.clone(), Box::new(cell));
    state.tallies.insert(id.clone(), tally);
    Ok(())
}

/// Decodes any other cell.
pub(super) fn read_cell(key: CellKey, bytes: &[u8], cells: &mut CellMap) -> Result<(), StoreError> {
    let named = expand(bytes).ok_or_else(|| damaged(&key, UNREADABLE))?;
    unpack_cell(cells, key, &named)
}

/// Decodes the step memory of a session.
pub(super) fn read_memory(id: &Id, bytes: &[u8]) -> Result<StepMemory, StoreError> {
    let unreadable = || damaged(&CellKey::Session(id.clone()), UNREADABLE);
    StepMemory::read(bytes).ok_or_else(unreadable)
}

/// How long after its last event a cell reads as new; none if some of it never does.
///
/// Of a session this is true only if [`SessionCell::is_forgettable`].
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

/// Redis keeps a cell a minute longer than it counts, so that a late event still finds it.
fn life_of(key: &CellKey) -> Option<Millis> {
    reads_as_new_after(key).map(|millis| Millis(millis.0 + Millis::MINUTE.0))
}

const LIFE_OF_SESSION: Millis = Millis(Millis::DAY.0 + Millis::MINUTE.0);

/// The time to live in ms, from Redis' present time. The last event may lie ahead of Redis' clock, and
/// the cell must outlive that too.
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
