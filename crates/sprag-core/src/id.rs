//! Names that come from outside: sessions, agents, flows, servers, tools.
//!
//! An id is chosen by a caller, lands in a log that people read and in a store that many agents
//! share, so its shape is checked once, here: 1 to 256 bytes, no control characters. Code that
//! holds an [`Id`] need not check again.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::DigestKey;

/// The longest id that is taken, in bytes.
pub const MAX_ID_BYTES: usize = 256;

/// A checked name; cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Arc<str>);

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// It is empty.
    #[error("an id must not be empty")]
    Empty,
    /// It is longer than [`MAX_ID_BYTES`].
    #[error("an id has at most {MAX_ID_BYTES} bytes, this one has {bytes}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It holds a control character.
    #[error("an id must not hold control characters (found one at byte {at})")]
    ControlCharacter {
        /// The byte offset of the first one.
        at: usize,
    },
}

impl Id {
    /// Checks `text` and keeps it.
    pub fn new(text: &str) -> Result<Self, IdError> {
        if text.is_empty() {
            return Err(IdError::Empty);
        }
        if text.len() > MAX_ID_BYTES {
            return Err(IdError::TooLong { bytes: text.len() });
        }
        // Most ids are ASCII, and ids are read from every record: a look at the bytes spares one at the characters.
        let is_plain = text.bytes().all(|byte| (b' '..0x7f).contains(&byte));
        let mut chars = text.char_indices();
        if !is_plain && let Some((at, _)) = chars.find(|(_, c)| c.is_control()) {
            return Err(IdError::ControlCharacter { at });
        }
        Ok(Self(text.into()))
    }

    /// The id nearest to `text`, for adapters whose clients choose names freely: a call whose tool has
    /// an odd name must still be judged. Control characters become U+FFFD. Of a text over `max_bytes`
    /// (at least 64, at most [`MAX_ID_BYTES`]) the beginning and a digest of the whole are kept.
    #[must_use]
    pub fn reduced(text: &str, max_bytes: usize) -> Self {
        let max_bytes = max_bytes.clamp(64, MAX_ID_BYTES);
        if text.is_empty() {
            return Self("(empty)".into());
        }
        let clean: String = text
            .chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .collect();
        if clean.len() <= max_bytes {
            return Self(clean.into());
        }
        let digest = DigestKey::fixed().digest(&[b"id\n", text.as_bytes()]);
        let kept = clean.floor_char_boundary(max_bytes - 33);
        let kept = clean.get(..kept).unwrap_or_default();
        Self(format!("{kept}~{digest}").into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The sessions above a sub-agent's, nearest first: `a/b/c` has `a/b` and `a`.
    pub fn parents(&self) -> impl Iterator<Item = &str> {
        let bytes = self.0.as_bytes();
        let slashes = (1..bytes.len())
            .rev()
            .filter(|at| bytes.get(*at) == Some(&b'/'));
        slashes.filter_map(|at| self.0.get(..at))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Borrow<str> for Id {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Id {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Id {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::new(text)
    }
}

impl TryFrom<&str> for Id {
    type Error = IdError;
    fn try_from(text: &str) -> Result<Self, IdError> {
        Self::new(text)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_1_to_256_bytes() {
        assert_eq!(Id::new(""), Err(IdError::Empty));
        assert!(Id::new(&"x".repeat(256)).is_ok());
        assert_eq!(
            Id::new(&"x".repeat(257)),
            Err(IdError::TooLong { bytes: 257 })
        );
    }

    #[test]
    fn an_id_has_no_control_characters() {
        assert_eq!(Id::new("a\nb"), Err(IdError::ControlCharacter { at: 1 }));
        assert!(Id::new("héllo #1/α").is_ok());
    }

    #[test]
    fn a_name_that_is_no_id_is_reduced_to_one_and_stays_apart_from_others() {
        assert_eq!(Id::reduced("plain", 160).as_str(), "plain");
        assert_eq!(Id::reduced("", 160).as_str(), "(empty)");
        assert_eq!(Id::reduced("a\nb\0", 160).as_str(), "a\u{fffd}b\u{fffd}");
        let one = Id::reduced(&"é".repeat(300), 160);
        let other = Id::reduced(&format!("{}x", "é".repeat(300)), 160);
        assert_ne!(one, other);
        for id in [one, other, Id::reduced(&"\n".repeat(255), 256)] {
            assert_eq!(Id::new(id.as_str()), Ok(id));
        }
    }

    #[test]
    fn parents_are_the_prefixes_at_slashes_nearest_first() {
        let id = Id::new("a/b/c").unwrap();
        assert_eq!(id.parents().collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(Id::new("/x").unwrap().parents().count(), 0);
    }
}
