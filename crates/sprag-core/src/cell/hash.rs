//! A small stable hash for names and for sets of digests.
//!
//! What is hashed here is either already a keyed digest or a name that is compared with a handful
//! of others; it needs to be the same on every machine and version, not secret.

/// FNV-1a over bytes.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// One hash out of two; the order matters.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut hash = a.rotate_left(29) ^ b;
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash = (hash ^ (hash >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// The first half of a hash, where 32 bits are enough.
pub(crate) fn first_half(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}
