//! How long to wait before the next try.
//!
//! Twice as long each time, up to a bound, and each time a little less than that by chance: so that many
//! who failed together don't come back together.

use std::time::Duration;

/// How often and how long something is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// The longest wait.
    pub most: Duration,
    /// How many tries there are in all.
    pub tries: u32,
}

impl Default for Backoff {
    /// Eight tries in about two minutes.
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            most: Duration::from_secs(60),
            tries: 8,
        }
    }
}

impl Backoff {
    /// The wait after `failures` failures; none where that was the last try. `chance` is any number.
    pub(super) fn wait(&self, failures: u32, chance: u32) -> Option<Duration> {
        if failures >= self.tries {
            return None;
        }
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let full = self.first.saturating_mul(doubled).min(self.most);
        // Between a half and all of it.
        let share = 512 + chance % 513;
        Some(full.saturating_mul(share) / 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_then_it_ends() {
        let backoff = Backoff {
            first: Duration::from_secs(1),
            most: Duration::from_secs(5),
            tries: 5,
        };
        let full = |failures| backoff.wait(failures, 512);
        let waits = [1, 2, 4, 5].map(|seconds| Some(Duration::from_secs(seconds)));
        assert_eq!([1, 2, 3, 4].map(full), waits);
        assert_eq!(full(5), None);
    }

    #[test]
    fn chance_takes_at_most_a_half_away() {
        let backoff = Backoff::default();
        for chance in [0, 1, 511, 512, 513, u32::MAX] {
            let wait = backoff.wait(1, chance).unwrap();
            assert!(wait >= Duration::from_millis(500) && wait <= Duration::from_secs(1));
        }
    }
}
