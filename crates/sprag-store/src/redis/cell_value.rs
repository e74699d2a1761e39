//! A cell as Redis stores it: a version, then its bytes.
//!
//! `commit.lua` writes the version: the number of the record that changed the cell, and the start of that
//! record's hash. The number alone is not enough: after a failover that lost records, the same
//! numbers are given again.

use sprag_core::encoding::{Encoding, Malformed, Reader, Writer};
use sprag_core::{CellKey, CellMap, Id, Millis, SessionCell, StepMemory, Timestamp};

use crate::error::StoreError;
use crate::pack::Packed;
use crate::query::{SessionState, Tally};
use crate::store_state::StoreState;

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

fn damaged(id: &Id, what: &Malformed) -> StoreError {
    StoreError::Damaged {
        place: format!("session {id} in Redis"),
        what: what.to_string(),
    }
}

/// Encodes a session as two values: the small part with its counts, which every event changes, and the
/// step memory, which is large and changes rarely.
pub(super) fn write_session(id: &Id, state: &StoreState, memory_changed: bool) -> [EncodedCell; 2] {
    let Some(cell) = state.cells.session(id.as_str()) else {
        return <[EncodedCell; 2]>::default();
    };
    // The state comes before all else, at a fixed place, because eviction reads only that far.
    let mark = match SessionState::of(cell) {
        SessionState::Active => b'a',
        SessionState::Blocked => b'b',
        SessionState::Killed => b'k',
    };
    let mut out = Writer::new(vec![mark]);
    Tally::write(&state.tally(id), &mut out);
    SessionCell::write(cell, &mut out);
    let life = cell.is_forgettable().then_some(LIFE_OF_SESSION);
    let bytes = out.into_bytes();
    let small = EncodedCell { bytes, life };
    let mut bytes = Vec::new();
    if memory_changed {
        let mut out = Writer::new(bytes);
        cell.write_memory(&mut out);
        bytes = out.into_bytes();
    }
    [small, EncodedCell { bytes, life }]
}

/// Encodes any other cell.
pub(super) fn write_cell(key: &CellKey, cells: &CellMap) -> EncodedCell {
    let bytes = Packed::of(cells, key).map(|packed| packed.bytes);
    EncodedCell {
        bytes: bytes.unwrap_or_default(),
        life: life_of(key),
    }
}

/// Decodes the small part of a session.
pub(super) fn read_session(
    id: &Id,
    bytes: &[u8],
    state: &mut StoreState,
) -> Result<(), StoreError> {
    let read = || {
        let (_mark, bytes) = bytes.split_first().ok_or(Malformed::Short)?;
        let mut from = Reader::new(bytes)?;
        Ok((Tally::read(&mut from)?, SessionCell::read(&mut from)?))
    };
    let (tally, cell) = read().map_err(|what| damaged(id, &what))?;
    state.cells.sessions.insert(id.clone(), Box::new(cell));
    state.tallies.insert(id.clone(), tally);
    Ok(())
}

/// Decodes the step memory of a session.
pub(super) fn read_memory(id: &Id, bytes: &[u8]) -> Result<StepMemory, StoreError> {
    Reader::new(bytes)
        .and_then(|mut from| StepMemory::read(&mut from))
        .map_err(|what| damaged(id, &what))
}

/// How long after its last event a cell reads as new; none if some of it never does.
///
/// Of a session this is true only if [`SessionCell::is_forgettable`].
pub(super) fn reads_as_new_after(key: &CellKey) -> Option<Millis> {
    match key {
        CellKey::Session(_)
        | CellKey::Flow(_)
        | CellKey::Conversation(_)
        | CellKey::Alias(_)
        | CellKey::Task(_) => Some(Millis::DAY),
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
