//! When things happen: in bursts, at the edges of windows, after long pauses, and sometimes before
//! what was before.

use sprag_core::{Observation, Timestamp};

use super::rng::Rng;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 86_400_000;

/// Short spans between two events.
const SHORT: [u64; 9] = [0, 1, 10, 400, 999, 1_000, 1_001, 1_700, 2_500];
/// Spans that some window or limit ends with, and one that ends most of a minute's budget.
const EDGES: [u64; 9] = [
    1_000,
    2_000,
    10_000,
    30_000,
    50_000,
    60_000,
    300_000,
    HOUR,
    2 * HOUR,
];
/// Spans after which something is forgotten.
const PAUSES: [u64; 7] = [HOUR - 1, HOUR, 6 * HOUR, DAY - 1, DAY, DAY + 1, 2 * DAY];
/// How far a clock goes back.
const BACK: [u64; 5] = [1, 1_000, 60_000, HOUR, DAY];

/// What a clock may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockHabits {
    pub(crate) goes_back: bool,
    pub(crate) pauses: bool,
}

/// The clock of a history.
#[derive(Debug)]
pub(crate) struct Clock {
    time: u64,
    habits: ClockHabits,
    /// How often, in percent, a long span follows.
    slowness: usize,
}

impl Clock {
    /// Starts within the hours before a UTC day ends, so that days end in histories.
    pub(crate) fn new(rng: &mut Rng, habits: ClockHabits) -> Self {
        let before_midnight = *rng.pick(&[1, 2_000, 60_000, HOUR, 20 * HOUR]);
        Self {
            time: 20_370 * DAY - before_midnight,
            habits,
            slowness: rng.weighted(&[(60, 5), (30, 20), (10, 60)]),
        }
    }

    /// The time of the next event.
    pub(crate) fn next(&mut self, rng: &mut Rng, past: &[Observation]) -> Timestamp {
        if self.habits.goes_back && rng.chance(4) {
            let back = self.time - rng.pick(&BACK);
            if rng.chance(30) {
                self.time = back;
            }
            return Timestamp(back);
        }
        self.time = match rng.below(100) {
            0..20 => self.edge(rng, past),
            20..24 if self.habits.pauses => self.time + rng.pick(&PAUSES),
            _ if rng.chance(self.slowness) => self.time + rng.pick(self.edges()),
            _ => self.time + rng.pick(&SHORT),
        };
        Timestamp(self.time)
    }

    /// Just at, before or after the end of a window that starts with an earlier event.
    fn edge(&self, rng: &mut Rng, past: &[Observation]) -> u64 {
        let Some(start) = past.iter().rev().nth(rng.below(6)) else {
            return self.time;
        };
        let edge = start.at.0 + rng.pick(self.edges()) + 1 - rng.pick(&[0, 1, 2]);
        edge.max(self.time)
    }

    /// A clock without pauses stays within the minute.
    fn edges(&self) -> &'static [u64] {
        if self.habits.pauses {
            &EDGES
        } else {
            &EDGES[..6]
        }
    }
}
