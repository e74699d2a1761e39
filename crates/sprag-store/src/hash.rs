//! The hash chain: each record's hash covers its bytes, its number and the hash before it.
//!
//! A log that can be edited without trace proves nothing. With the chain, one changed, dropped,
//! swapped or added record breaks every hash after it; a checkpoint kept apart catches a cut tail.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the first record of a log names as the hash before it.
    pub const GENESIS: Self = Self([0; 32]);

    /// From its 32 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// From a slice, where it has 32 bytes.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// From 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        unhex(text, &mut bytes)?;
        Some(Self(bytes))
    }

    /// Its 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of `parts` one after the other.
    pub(crate) fn over(parts: &[&[u8]]) -> Self {
        Self(sprag_core::sha256(parts))
    }
}

/// The hash of record `seq` with `body`, after a record with hash `prev`.
#[must_use]
pub fn chain(prev: &Hash, seq: u64, body: &[u8]) -> Hash {
    Hash::over(&[&prev.0, &seq.to_be_bytes(), body])
}

fn unhex(text: &str, to: &mut [u8]) -> Option<()> {
    let digits = text.as_bytes();
    if digits.len() != to.len() * 2 {
        return None;
    }
    for (byte, pair) in to.iter_mut().zip(digits.chunks_exact(2)) {
        let mut value = 0;
        for digit in pair {
            value = value << 4 | u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
        }
        *byte = value;
    }
    Some(())
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_hex(&text)
            .ok_or_else(|| serde::de::Error::custom("a hash is 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_from_its_text() {
        let hash = chain(&Hash::GENESIS, 1, b"x");
        assert_eq!(Hash::from_hex(&hash.to_string()), Some(hash));
        assert_eq!(Hash::from_hex("é"), None);
        assert_eq!(Hash::from_hex(&"0".repeat(63)), None);
    }

    #[test]
    fn number_body_and_predecessor_all_count() {
        let one = chain(&Hash::GENESIS, 1, b"x");
        assert_ne!(one, chain(&Hash::GENESIS, 2, b"x"));
        assert_ne!(one, chain(&Hash::GENESIS, 1, b"y"));
        assert_ne!(one, chain(&one, 1, b"x"));
    }
}
