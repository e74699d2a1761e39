//! A fixed number of buckets that time goes around.
//!
//! A bucket's place is its number modulo the length, and each remembers its number: one that time has
//! passed by is overwritten when it is needed, and reads as empty before that. What is older than the ring is
//! not counted.

use sprag_core::{Millis, Timestamp};

use super::bucket::Bucket;

#[derive(Debug)]
pub(super) struct Ring {
    step: Millis,
    slots: Vec<(u64, Bucket)>,
}

impl Ring {
    pub(super) fn new(step: Millis, length: usize) -> Self {
        // No time that happens has the number `u64::MAX`, so these read as empty.
        Self {
            step,
            slots: vec![(u64::MAX, Bucket::EMPTY); length],
        }
    }

    pub(super) const fn step(&self) -> Millis {
        self.step
    }

    /// How far back it reaches.
    pub(super) fn reach(&self) -> Millis {
        let length = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        Millis(self.step.0.saturating_mul(length))
    }

    fn number(&self, at: Timestamp) -> u64 {
        at.0 / self.step.0
    }

    fn place(&self, number: u64) -> usize {
        let length = u64::try_from(self.slots.len()).unwrap_or(1);
        usize::try_from(number % length).unwrap_or_default()
    }

    /// The bucket of a time; none where newer time took its place.
    pub(super) fn at(&mut self, at: Timestamp) -> Option<&mut Bucket> {
        let number = self.number(at);
        let place = self.place(number);
        let (held, bucket) = self.slots.get_mut(place)?;
        if *held != number {
            if *held != u64::MAX && *held > number {
                return None;
            }
            (*held, *bucket) = (number, Bucket::EMPTY);
        }
        Some(bucket)
    }

    /// The buckets from `since` to `until` with their starts, oldest first, empty ones too.
    pub(super) fn between(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, &Bucket)> {
        const NOTHING: &Bucket = &Bucket::EMPTY;
        let (first, last) = (self.number(since), self.number(until));
        let length = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        let first = first.max(last.saturating_sub(length.saturating_sub(1)));
        (first..=last).map(move |number| {
            let slot = self.slots.get(self.place(number));
            let found = slot.filter(|(held, _)| *held == number);
            let start = Timestamp(number.saturating_mul(self.step.0));
            (start, found.map_or(NOTHING, |(_, bucket)| bucket))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(ring: &Ring, since: u64, now: u64) -> Vec<(u64, u32)> {
        ring.between(Timestamp(since), Timestamp(now))
            .map(|(start, bucket)| (start.0, bucket.events[0]))
            .collect()
    }

    #[test]
    fn time_that_went_around_is_forgotten_and_empty_time_reads_as_empty() {
        let mut ring = Ring::new(Millis(10), 3);
        ring.at(Timestamp(5)).unwrap().events[0] = 1;
        ring.at(Timestamp(25)).unwrap().events[0] = 2;
        assert_eq!(events(&ring, 0, 29), [(0, 1), (10, 0), (20, 2)]);
        ring.at(Timestamp(31)).unwrap().events[0] = 3;
        assert_eq!(events(&ring, 0, 39), [(10, 0), (20, 2), (30, 3)]);
        assert_eq!(events(&ring, 0, 1_000), [(980, 0), (990, 0), (1_000, 0)]);
    }

    #[test]
    fn what_is_older_than_the_ring_is_not_counted() {
        let mut ring = Ring::new(Millis(10), 3);
        ring.at(Timestamp(100)).unwrap().events[0] = 7;
        assert!(ring.at(Timestamp(70)).is_none());
        assert!(ring.at(Timestamp(80)).is_some());
    }
}
