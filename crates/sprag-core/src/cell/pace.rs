//! How fast a session works, and which of its calls belong together.
//!
//! Whether a second look is waiting or hammering shows in the time before it, and that depends on
//! the session: a fast model that pauses for a minute waits, a slow one that needs a minute for each
//! thought does not. So the session's *pace* is the median of its last gaps from a result (or a
//! user's words) to a call that it had not made before. A *lull* is a gap that is long for anybody and
//! long for this session.
//!
//! Calls that were all made before the first of their results, or that carry the same `turn`, are
//! one turn: a model that sees nothing in between makes one attempt, however many calls it takes.
//!
//! Bounded by: eight gaps and a few numbers.
//! Odd cases: parallel calls have one gap; what a user says ends a gap, `usage` and messages do not.

use crate::time::{Millis, Timestamp};

/// So many gaps make the pace.
const GAPS: usize = 8;
/// With fewer gaps than this the pace is not known.
const FEW: usize = 3;
/// The pace of a session of which little is known.
const USUAL: Millis = Millis(10_000);
/// A lull is at least this long, and so many times the pace.
pub(crate) const LULL: Millis = Millis(30_000);
const LULL_PACES: u64 = 3;
/// What asks about something that moves by itself needs less.
const SHORT_LULL: Millis = Millis(10_000);
const SHORT_LULL_PACES: u64 = 2;
/// What is in the way for now is given so long at least.
const UNHURRIED: Millis = Millis(5_000);
/// After this, work begins anew.
const LONG_LULL: Millis = Millis(300_000);

/// What the gap before a call was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Enough to try again if something was in the way.
    pub(crate) unhurried: bool,
    /// Enough for something that moves by itself.
    pub(crate) short_lull: bool,
    /// Long for anybody, whether or not for this session.
    pub(crate) slow: bool,
    /// Long for this session.
    pub(crate) lull: bool,
    /// So long that work begins again after it.
    pub(crate) long_lull: bool,
}

impl Gap {
    /// The gap of a command that slept.
    pub(crate) const SLEPT: Self = Self {
        unhurried: true,
        short_lull: true,
        slow: true,
        lull: true,
        long_lull: false,
    };
}

/// The last gaps in tenths of a second, the newest last. They lie in place: a list of its own takes more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Gaps {
    count: u8,
    tenths: [u16; GAPS],
}

impl Gaps {
    /// The gaps that are known.
    pub(crate) fn tenths(&self) -> &[u16] {
        self.tenths.get(..self.count.into()).unwrap_or_default()
    }

    fn tenths_mut(&mut self) -> &mut [u16] {
        self.tenths.get_mut(..self.count.into()).unwrap_or_default()
    }

    fn push(&mut self, tenths: u16) {
        match self.tenths.get_mut(usize::from(self.count)) {
            Some(free) => {
                *free = tenths;
                self.count += 1;
            }
            None => {
                self.tenths.rotate_left(1);
                if let Some(last) = self.tenths.last_mut() {
                    *last = tenths;
                }
            }
        }
    }
}

impl FromIterator<u16> for Gaps {
    fn from_iter<I: IntoIterator<Item = u16>>(gaps: I) -> Self {
        let mut kept = Self::default();
        gaps.into_iter().for_each(|gap| kept.push(gap));
        kept
    }
}

/// A session's gaps and its turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pace {
    /// The last gaps before new calls in tenths of a second, the newest last.
    pub(crate) gaps: Gaps,
    /// When the last result or word of a user came.
    pub(crate) answered: Option<Timestamp>,
    /// When the last call or step was.
    pub(crate) active: Option<Timestamp>,
    /// A call was made since the last result: more calls belong to its turn.
    pub(crate) in_turn: bool,
    /// The turn as the client named it; 0 if it did not.
    pub(crate) turn: u64,
    /// How many steps had been judged when the turn began.
    pub(crate) turn_start: u32,
}

impl Pace {
    /// The median gap before a new call; none if too little is known.
    fn known(&self) -> Option<Millis> {
        let mut gaps = self.gaps;
        let sorted = gaps.tenths_mut();
        if sorted.len() < FEW {
            return None;
        }
        sorted.sort_unstable();
        let middle = sorted.get(sorted.len() / 2).copied()?;
        Some(Millis(u64::from(middle) * 100))
    }

    /// What kind of gap there is before a call at `now`. Within a turn there is none.
    pub(crate) fn gap(&self, now: Timestamp, turn: u64) -> Gap {
        let Some(active) = self.active.filter(|_| !self.continues(turn)) else {
            return Gap::default();
        };
        let gap = now.since(active).0;
        let known = self.known();
        let pace = known.unwrap_or(USUAL).0;
        let short = SHORT_LULL_PACES * known.map_or(0, |known| known.0);
        let lull = gap >= LULL.0 && gap >= LULL_PACES * pace;
        Gap {
            unhurried: gap >= UNHURRIED.0,
            short_lull: gap >= SHORT_LULL.0 && gap >= short,
            slow: gap >= LULL.0,
            lull,
            long_lull: lull && gap >= LONG_LULL.0,
        }
    }

    fn continues(&self, turn: u64) -> bool {
        self.in_turn || turn != 0 && turn == self.turn
    }

    /// A call is made, which the session had or had not made before, after `steps` steps.
    pub(crate) fn call(&mut self, now: Timestamp, is_new: bool, turn: u64, steps: u32) {
        if !self.continues(turn) {
            self.turn_start = steps;
            if let Some(answered) = self.answered.filter(|_| is_new) {
                let tenths = u16::try_from(now.since(answered).0 / 100).unwrap_or(u16::MAX);
                self.gaps.push(tenths);
            }
        }
        self.turn = turn;
        self.in_turn = true;
        self.active = Some(now);
    }

    /// A result came.
    pub(crate) fn result(&mut self, now: Timestamp) {
        self.in_turn = false;
        self.active = Some(now);
        self.answered = Some(now);
    }

    /// A user, or whoever starts a run, spoke.
    pub(crate) fn spoken_to(&mut self, now: Timestamp) {
        self.in_turn = false;
        self.turn = 0;
        self.answered = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paced(gap_ms: u64, calls: u64) -> (Pace, Timestamp) {
        let mut pace = Pace::default();
        let mut now = Timestamp(1_760_000_000_000);
        for step in 0..calls {
            now = Timestamp(now.0 + gap_ms);
            pace.call(now, true, 0, u32::try_from(step).unwrap());
            pace.result(now);
        }
        (pace, now)
    }

    #[test]
    fn a_minute_is_a_lull_for_a_fast_session_and_not_for_a_slow_one() {
        let (fast, now) = paced(2_000, 6);
        assert!(fast.gap(now.plus(Millis(60_000)), 0).lull);
        let (slow, now) = paced(60_000, 6);
        let minute = slow.gap(now.plus(Millis(60_000)), 0);
        assert!(minute.slow && !minute.lull && !minute.short_lull);
        assert!(slow.gap(now.plus(Millis(180_000)), 0).lull);
    }

    #[test]
    fn the_edges_of_a_lull_in_a_session_of_which_little_is_known() {
        let (pace, now) = paced(1_000, 1);
        for (gap, expected) in [
            (9_999, (false, false, false)),
            (10_000, (true, false, false)),
            (29_999, (true, false, false)),
            (30_000, (true, true, false)),
            (299_999, (true, true, false)),
            (300_000, (true, true, true)),
        ] {
            let gap = pace.gap(now.plus(Millis(gap)), 0);
            assert_eq!((gap.short_lull, gap.lull, gap.long_lull), expected);
        }
    }

    #[test]
    fn calls_before_the_first_result_are_one_turn_with_one_gap() {
        let (mut pace, now) = paced(2_000, 4);
        let later = now.plus(Millis(60_000));
        pace.call(later, true, 0, 4);
        assert_eq!(pace.gap(later.plus(Millis(60_000)), 0), Gap::default());
        pace.call(later.plus(Millis(1)), true, 0, 4);
        assert_eq!((pace.gaps.tenths().len(), pace.turn_start), (4, 4));
    }

    #[test]
    fn a_named_turn_goes_on_after_its_first_result() {
        let (mut pace, now) = paced(2_000, 4);
        pace.call(now.plus(Millis(2_000)), true, 9, 4);
        pace.result(now.plus(Millis(2_100)));
        pace.call(now.plus(Millis(2_200)), true, 9, 5);
        assert_eq!(pace.turn_start, 4);
        pace.result(now.plus(Millis(2_300)));
        pace.call(now.plus(Millis(2_400)), true, 10, 6);
        assert_eq!(pace.turn_start, 6);
    }
}
