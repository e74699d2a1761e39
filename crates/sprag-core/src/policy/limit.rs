//! A count that the engine can keep its word on.
//!
//! Windows and sets in the cells are bounded, so a limit beyond what they hold would never be
//! reached. A [`Limit`] can only be built within those bounds.

use serde::{Deserialize, Serialize};

/// The highest number that any window, streak or count may be limited to.
pub const MAX_LIMIT: u32 = 4096;

/// A count from 1 to 4,096.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Limit(u32);

/// A number outside what a limit may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a limit is a whole number from 1 to {MAX_LIMIT}, not {0}")]
pub struct LimitError(pub i64);

impl Limit {
    /// Checks a number.
    pub const fn new(count: u32) -> Result<Self, LimitError> {
        if count == 0 || count > MAX_LIMIT {
            Err(LimitError(count as i64))
        } else {
            Ok(Self(count))
        }
    }

    /// A default of this crate; out-of-range numbers are brought into range.
    pub(crate) const fn of(count: u32) -> Self {
        match Self::new(count) {
            Ok(limit) => limit,
            Err(_) => Self(MAX_LIMIT),
        }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for Limit {
    type Error = LimitError;
    fn try_from(count: u32) -> Result<Self, LimitError> {
        Self::new(count)
    }
}

impl From<Limit> for u32 {
    fn from(limit: Limit) -> Self {
        limit.0
    }
}
