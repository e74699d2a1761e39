//! Fingerprints of what agents send, and the key that keeps a log from being searched.
//!
//! The log holds no payload, only digests: SHA-256 over a key and the canonical form of a value, cut
//! to 128 bits. The key belongs to the store, so that somebody who steals a log can't try guessed
//! passwords against it. Cells keep 64-bit prefixes: a session compares a few hundred of them, so
//! an accidental collision is out of reach, and the guard is against errors, not forgers.
//!
//! What is kept in 64 bits or fewer anyway, such as the words of a text, is a *fingerprint*: SipHash-2-4
//! under a key that is derived from the same secret. It keeps a secret as well as so few bits can, and
//! costs a tenth of a digest.

use std::fmt;
use std::hash::Hasher as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use siphasher::sip::SipHasher24;

use crate::sha256::{BLOCK, Sha256State};

/// 128 bits of a keyed SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Digest([u8; 16]);

impl Digest {
    /// From its 16 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The first 64 bits: what cells keep.
    #[must_use]
    pub const fn prefix(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        parse_hex(&text)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a digest is 32 hexadecimal digits"))
    }
}

fn parse_hex(text: &str) -> Option<[u8; 16]> {
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// The secret of a store under which all its digests are made.
///
/// Its first block is hashed once; each digest starts from a copy of that state.
#[derive(Clone)]
pub struct DigestKey {
    digests: Sha256State,
    /// For each kind of fingerprint the state behind its tag.
    fingerprints: [SipHasher24; TAGS.len()],
}

/// What is fingerprinted: the same bytes have another fingerprint as another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fingerprint {
    /// The name of a turn.
    Turn,
    /// A word in a text argument.
    SaidWord,
    /// How a call is put.
    Form,
    /// What a call is about.
    Thing,
    /// A word in a failure.
    FailureWord,
    /// A text without its numbers.
    Shape,
    /// A short text as a whole.
    Said,
}

/// By [`Fingerprint`].
const TAGS: [&[u8; 8]; 7] = [
    b"turn    ",
    b"saidword",
    b"form    ",
    b"thing   ",
    b"word    ",
    b"shape   ",
    b"said    ",
];

impl DigestKey {
    /// The key of `decide` and `test`, which keep nothing.
    #[must_use]
    pub fn fixed() -> Self {
        Self::new(&[0; 32])
    }

    /// From 32 secret bytes.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        // One whole SHA-256 block, so that the state after it can be reused.
        let mut block = [0; BLOCK];
        for (to, from) in block.iter_mut().zip(secret) {
            *to = *from;
        }
        let digests = Sha256State::after(&block);
        let derived = digest(&digests, &[b"fingerprints\n"]);
        let fingerprints = TAGS.map(|tag| {
            let mut hash = SipHasher24::new_with_key(derived.as_bytes());
            hash.write(tag);
            hash
        });
        Self {
            digests,
            fingerprints,
        }
    }

    /// The digest of `parts` one after the other. Callers separate fields themselves.
    #[must_use]
    pub fn digest(&self, parts: &[&[u8]]) -> Digest {
        digest(&self.digests, parts)
    }

    /// A fingerprint of `bytes` as `kind`.
    pub(crate) fn fingerprint(&self, kind: Fingerprint, bytes: &[u8]) -> u64 {
        let tagged = self.fingerprints.get(kind as usize);
        tagged.map_or(0, |hash| hash.hash(bytes))
    }

    /// The first 32 bits of a fingerprint.
    pub(crate) fn fingerprint_32(&self, kind: Fingerprint, bytes: &[u8]) -> u32 {
        u32::try_from(self.fingerprint(kind, bytes) >> 32).unwrap_or_default()
    }

    /// The first 16 bits of a fingerprint.
    pub(crate) fn fingerprint_16(&self, kind: Fingerprint, bytes: &[u8]) -> u16 {
        u16::try_from(self.fingerprint(kind, bytes) >> 48).unwrap_or_default()
    }
}

fn digest(state: &Sha256State, parts: &[&[u8]]) -> Digest {
    let [bytes @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = state.finish(parts);
    Digest(bytes)
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_differ_by_key_kind_and_bytes() {
        let (key, other) = (DigestKey::fixed(), DigestKey::new(&[1; 32]));
        let one = key.fingerprint(Fingerprint::Said, b"a");
        assert_eq!(one, key.clone().fingerprint(Fingerprint::Said, b"a"));
        assert_ne!(one, key.fingerprint(Fingerprint::Said, b"b"));
        assert_ne!(one, key.fingerprint(Fingerprint::Shape, b"a"));
        assert_ne!(one, other.fingerprint(Fingerprint::Said, b"a"));
        assert_eq!(Fingerprint::Said as usize + 1, TAGS.len());
    }
}
