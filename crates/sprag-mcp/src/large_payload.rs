//! Payloads that are too large for the guard, reduced to their beginning and the digest of the whole.
//!
//! A guard digests a payload of more than 256 KiB over its raw bytes and does not look into it. So the
//! beginning followed by the SHA-256 of the whole serves as well as the whole: two of them are equal if
//! and only if the wholes are. Arguments that write a file of many megabytes need not travel to the guard.

use std::fmt::Write as _;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use sprag_core::Payload;

/// How much of a payload is kept. Together with the digest it is longer than what a guard looks into.
pub(crate) const KEPT: usize = 256 * 1024;

/// A longer payload is reduced.
const MAX_WHOLE: usize = 512 * 1024;

/// A payload, reduced if it is large.
pub(crate) fn payload(raw: &RawValue) -> Payload {
    let bytes = raw.get().as_bytes();
    if bytes.len() <= MAX_WHOLE {
        return Payload::from(raw);
    }
    let kept = bytes.get(..KEPT).unwrap_or_default();
    reduced(kept, Sha256::new_with_prefix(bytes))
}

/// The reduced payload, from its beginning and the digest of the whole.
pub(crate) fn reduced(kept: &[u8], digest: Sha256) -> Payload {
    let mut text = String::from_utf8_lossy(kept).into_owned();
    for byte in digest.finalize() {
        // Writing into a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    Payload::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_large_payload_is_reduced_and_every_byte_of_it_counts() {
        let of = |bytes: usize, last: char| {
            let text = format!("\"{}{last}\"", "x".repeat(bytes));
            let raw = RawValue::from_string(text).unwrap();
            payload(&raw).as_json().to_owned()
        };
        assert_eq!(of(10, 'a'), "\"xxxxxxxxxxa\"");
        let (one, other) = (of(1_000_000, 'a'), of(1_000_000, 'b'));
        assert_ne!(one, other);
        assert_eq!(one.len(), KEPT + 64 + 3);
    }
}
