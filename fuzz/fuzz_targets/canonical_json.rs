//! The canonical form of any JSON is JSON, stays the same when made again, and means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sprag_core::canonical_json;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(canonical) = canonical_json(text) else {
        return;
    };
    let again = canonical_json(&canonical).expect("a canonical form is JSON");
    assert_eq!(again, canonical);
    serde_json::from_str::<serde_json::Value>(text).expect("canonical only where it is JSON");
});
