//! SHA-256 over a few short parts.
//!
//! What is hashed here, for digests and for the chain of a log, is mostly one to four blocks. A hasher that takes any
//! number of parts keeps a buffer and a length, which is copied, filled and cleared for each hash: for one block that
//! takes as long as the compression itself. So the blocks are filled in place, and only the compression is `sha2`'s.

use sha2::block_api::compress256;

/// The size of a block, and of the length at the end of the last one.
pub(crate) const BLOCK: usize = 64;
const LENGTH: usize = 8;

/// The state that SHA-256 starts from.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The SHA-256 of `parts` one after the other.
#[must_use]
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let start = Sha256State {
        words: INITIAL,
        length: 0,
    };
    start.finish(parts)
}

/// SHA-256 after some whole blocks.
#[derive(Clone)]
pub(crate) struct Sha256State {
    words: [u32; 8],
    length: usize,
}

impl Sha256State {
    /// After one block.
    pub(crate) fn after(block: &[u8; BLOCK]) -> Self {
        let mut words = INITIAL;
        compress256(&mut words, std::slice::from_ref(block));
        Self {
            words,
            length: BLOCK,
        }
    }

    /// The hash of the blocks before and `parts`.
    pub(crate) fn finish(&self, parts: &[&[u8]]) -> [u8; 32] {
        let Self { words, length } = self;
        let mut words = *words;
        let mut bytes = [0; 32];
        end(&mut words, *length, parts);
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }
}

/// Hashes `parts` after `length` bytes.
fn end(state: &mut [u32; 8], mut length: usize, parts: &[&[u8]]) {
    let mut block = [0; BLOCK];
    let mut filled = 0;
    for part in parts {
        length += part.len();
        let mut rest = *part;
        if filled > 0 && filled + rest.len() >= BLOCK {
            let (head, tail) = rest.split_at(BLOCK - filled);
            put(&mut block, filled, head);
            compress256(state, &[block]);
            (filled, rest) = (0, tail);
        }
        if filled == 0 {
            let (blocks, tail) = rest.as_chunks::<BLOCK>();
            compress256(state, blocks);
            rest = tail;
        }
        put(&mut block, filled, rest);
        filled += rest.len();
    }
    pad(state, block, filled, length);
}

/// Ends a message of `length` bytes, of which the last `filled` stand in `block`, as SHA-256 does: a one, zeros, and the
/// number of bits at the end of a block.
fn pad(state: &mut [u32; 8], mut block: [u8; BLOCK], filled: usize, length: usize) {
    put(&mut block, filled, &[0x80]);
    if let Some(rest) = block.get_mut(filled + 1..) {
        rest.fill(0);
    }
    if filled >= BLOCK - LENGTH {
        compress256(state, &[block]);
        block = [0; BLOCK];
    }
    let bits = u64::try_from(length).unwrap_or(u64::MAX).wrapping_mul(8);
    put(&mut block, BLOCK - LENGTH, &bits.to_be_bytes());
    compress256(state, &[block]);
}

/// Writes `bytes` into `block` at `at`, where there is room for them.
fn put(block: &mut [u8; BLOCK], at: usize, bytes: &[u8]) {
    if let Some(room) = block.get_mut(at..at + bytes.len()) {
        room.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn it_is_the_sha_256_of_all_parts() {
        let text: Vec<u8> = (0..=255).collect();
        let block = [7; BLOCK];
        for end in 0..=256 {
            for cut in [0, 1, end / 2, end] {
                let (one, other) = text[..end].split_at(cut.min(end));
                let whole: [u8; 32] = Sha256::digest(&text[..end]).into();
                assert_eq!(sha256(&[one, other]), whole, "{end} {cut}");
                let keyed = Sha256::new().chain_update(block).chain_update(&text[..end]);
                let keyed: [u8; 32] = keyed.finalize().into();
                assert_eq!(
                    Sha256State::after(&block).finish(&[one, other]),
                    keyed,
                    "{end} {cut}"
                );
            }
        }
    }
}
