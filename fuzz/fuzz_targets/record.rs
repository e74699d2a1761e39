//! Bytes as they may stand in a damaged log: read as a record or refused, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sprag_store::{Hash, RawRecord};

fuzz_target!(|data: &[u8]| {
    let row = RawRecord {
        seq: 1,
        body: data,
        hash: Hash::GENESIS,
    };
    let _ = row.read(Hash::GENESIS);
});
