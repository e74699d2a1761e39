//! Bytes as they may stand in a damaged log: read or refused, and what was read is written as the same.

use sprag_core::encoding::{Encoding as _, Fields, Malformed, Reader, Writer, decode, encode};
use sprag_core::{
    AgentCell, AliasCell, ConversationCell, FlowCell, InboxCell, PairCell, SessionCell, StepMemory,
    TaskCell,
};
use sprag_store::{Hash, RawRecord};

/// A record is read or refused.
pub(crate) fn record(data: &[u8]) {
    let row = RawRecord {
        seq: 1,
        body: data,
        hash: Hash::GENESIS,
    };
    let _ = row.read(Hash::GENESIS);
}

/// The first byte says which cell.
pub(crate) fn cell(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    match kind {
        b'a' => kept::<AgentCell>(bytes),
        b'l' => kept::<AliasCell>(bytes),
        b'c' => kept::<ConversationCell>(bytes),
        b'f' => kept::<FlowCell>(bytes),
        b'i' => kept::<InboxCell>(bytes),
        b'p' => kept::<PairCell>(bytes),
        b't' => kept::<TaskCell>(bytes),
        _ => session(bytes),
    }
}

fn kept<T: for<'a> Fields<'a>>(bytes: &[u8]) {
    let Ok(cell) = decode::<T>(bytes) else {
        return;
    };
    let written = encode(&cell);
    let again = decode::<T>(&written).expect("what was written can be read");
    assert_eq!(encode(&again), written);
}

/// A session stands as two values, one behind the other.
fn session(bytes: &[u8]) {
    if let Ok(cell) = read_session(bytes) {
        let written = write_session(&cell);
        let again = read_session(&written).expect("what was written can be read");
        assert_eq!(write_session(&again), written);
    }
}

fn read_session(bytes: &[u8]) -> Result<SessionCell, Malformed> {
    let mut from = Reader::new(bytes)?;
    let mut cell = SessionCell::read(&mut from)?;
    cell.put_memory(StepMemory::read(&mut from)?);
    Ok(cell)
}

fn write_session(cell: &SessionCell) -> Vec<u8> {
    let mut out = Writer::new(Vec::new());
    SessionCell::write(cell, &mut out);
    cell.write_memory(&mut out);
    out.into_bytes()
}
