//! Points in time and spans between them, in milliseconds.
//!
//! The engine never reads a clock: a [`Timestamp`] comes with the event, a [`Millis`] from the
//! policy. Differences saturate at zero, so a clock that goes back yields "no time passed", never a
//! huge span.

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

/// A span of time in milliseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Timestamp {
    /// The span from `earlier` to here; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// This point moved on by `span`.
    #[must_use]
    pub const fn plus(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The number of the UTC day, for budgets per day.
    #[must_use]
    pub const fn utc_day(self) -> u64 {
        self.0 / Millis::DAY.0
    }
}

impl Millis {
    /// One second.
    pub const SECOND: Self = Self(1_000);
    /// One minute: the window of every "per minute" limit.
    pub const MINUTE: Self = Self(60_000);
    /// One hour: how long a silent pair is remembered.
    pub const HOUR: Self = Self(3_600_000);
    /// One day: how long a silent session, flow or conversation is remembered.
    pub const DAY: Self = Self(86_400_000);
}
