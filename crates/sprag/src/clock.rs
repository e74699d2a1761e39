//! Where a guard takes its time from.
//!
//! The engine reads no clock, so that a log can be folded again. Somebody must stamp what happens now:
//! the guard does, with a clock that it is given. Tests give it one that they move by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sprag_core::{Millis, Timestamp};
#[cfg(feature = "redis")]
use sprag_store::RedisStore;

/// Tells the time. It may go back; a guard counts nothing less for that.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The clock of the system. One that stands before 1970 reads as 1970.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one clock of the library; everything else is given its time"
    )]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The time as Redis tells it: pods that share one Redis share its clock.
#[cfg(feature = "redis")]
#[derive(Debug, Clone)]
pub struct RedisClock(Arc<RedisStore>);

#[cfg(feature = "redis")]
impl RedisClock {
    /// The clock of the Redis behind `store`.
    #[must_use]
    pub const fn new(store: Arc<RedisStore>) -> Self {
        Self(store)
    }
}

#[cfg(feature = "redis")]
impl Clock for RedisClock {
    fn now(&self) -> Timestamp {
        self.0.now().unwrap_or_else(|| SystemClock.now())
    }
}

/// A clock that stands still until it is moved, for tests.
///
/// ```
/// use std::sync::Arc;
/// use sprag::{Clock, Millis, TestClock, Timestamp};
/// let clock = Arc::new(TestClock::at(Timestamp(1_000)));
/// clock.advance(Millis::MINUTE);
/// assert_eq!(clock.now(), Timestamp(61_000));
/// ```
#[derive(Debug, Default)]
pub struct TestClock(AtomicU64);

impl TestClock {
    /// A clock that says `at`.
    #[must_use]
    pub const fn at(at: Timestamp) -> Self {
        Self(AtomicU64::new(at.0))
    }

    /// Sets it, back too.
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.0, Ordering::SeqCst);
    }

    /// Moves it on.
    pub fn advance(&self, by: Millis) {
        self.0.fetch_add(by.0, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}
