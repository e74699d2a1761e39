//! The memory of a session's steps: by far the most of a busy session.
//!
//! What an approach brought last is mostly also among the answers, at about the same place: both
//! are in order of use. So it is told by that place. Steps and times are told by how far they
//! are from those of the approach before.

use super::bytes::{Reader, Writer};
use crate::cell::progress::{ApproachHistory, Progress, RecentKeys};
use crate::cell::{SessionCell, StepMemory};

/// It is the answer right after the one that the approach before brought.
const NEXT: u8 = 1;
/// It is one of the next few answers.
const NEAR: u8 = 1 << 1;
/// The answer before that was another.
const CHANGED: u8 = 1 << 2;
/// It repeated itself.
const COUNTS: u8 = 1 << 3;

/// How many answers further one is looked for.
const FEW: usize = 32;

impl SessionCell {
    /// Appends the memory of its steps.
    pub fn write_memory(&self, out: &mut Vec<u8>) {
        let Progress {
            approaches,
            pasts,
            outcomes,
            ..
        } = &self.held.progress;
        let mut out = Writer(out);
        write_keys(&mut out, approaches);
        write_keys(&mut out, outcomes);
        out.count(pasts.len());
        let mut teller = Teller::of(outcomes);
        for past in pasts {
            teller.write(&mut out, past);
        }
    }
}

impl StepMemory {
    /// Reads what [`SessionCell::write_memory`] wrote; none where it did not write that.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        let approaches = read_keys(&mut from)?;
        let outcomes = read_keys(&mut from)?;
        let count = from.count(3)?;
        let mut pasts = Vec::with_capacity(count);
        let mut teller = Teller::of(&outcomes);
        for _ in 0..count {
            pasts.push(teller.read(&mut from)?);
        }
        let memory = Self {
            approaches,
            pasts,
            outcomes,
        };
        from.is_empty().then_some(memory)
    }
}

fn write_keys(out: &mut Writer<'_>, recent: &RecentKeys) {
    out.count(recent.keys.len());
    for key in &recent.keys {
        out.fixed(key.to_le_bytes());
    }
}

fn read_keys(from: &mut Reader<'_>) -> Option<RecentKeys> {
    let count = from.count(8)?;
    let keys = (0..count).map(|_| Some(u64::from_le_bytes(from.fixed()?)));
    Some(RecentKeys {
        keys: keys.collect::<Option<_>>()?,
    })
}

/// What was told so far.
struct Teller<'a> {
    answers: &'a [u64],
    /// The answer after the last one that was told by its place.
    next: usize,
    step: u32,
    tenths: u32,
}

impl<'a> Teller<'a> {
    fn of(outcomes: &'a RecentKeys) -> Self {
        Self {
            answers: &outcomes.keys,
            next: 0,
            step: 0,
            tenths: 0,
        }
    }

    /// An answer as a past holds it.
    fn answer(&self, at: usize) -> Option<u32> {
        u32::try_from(*self.answers.get(at)? >> 32).ok()
    }

    /// How many answers further `outcome` is.
    fn find(&self, outcome: u32) -> Option<u8> {
        let places = (0..FEW).find(|further| self.answer(self.next + further) == Some(outcome))?;
        u8::try_from(places).ok()
    }

    fn write(&mut self, out: &mut Writer<'_>, past: &ApproachHistory) {
        let ApproachHistory {
            outcome,
            earlier,
            step,
            tenths,
            span,
            same,
            looks,
        } = *past;
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let found = self.find(outcome);
        let place = match found {
            Some(0) => NEXT,
            Some(_) => NEAR,
            None => 0,
        };
        let counts = [span, same, looks].iter().any(|count| *count != 0);
        out.byte(place | flag(earlier != outcome, CHANGED) | flag(counts, COUNTS));
        match found {
            Some(0) => {}
            Some(further) => out.byte(further),
            None => out.fixed(outcome.to_le_bytes()),
        }
        if earlier != outcome {
            out.fixed(earlier.to_le_bytes());
        }
        out.number(u64::from(step.wrapping_sub(self.step)));
        out.number(u64::from(tenths.wrapping_sub(self.tenths)));
        if counts {
            for count in [span, same, looks] {
                out.number(u64::from(count));
            }
        }
        self.go_on(found, step, tenths);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Option<ApproachHistory> {
        let flags = from.byte()?;
        let found = match (flags & NEXT, flags & NEAR) {
            (0, 0) => None,
            (0, _) => Some(from.byte()?),
            _ => Some(0),
        };
        let outcome = match found {
            Some(further) => self.answer(self.next + usize::from(further))?,
            None => u32::from_le_bytes(from.fixed()?),
        };
        let earlier = if flags & CHANGED == 0 {
            outcome
        } else {
            u32::from_le_bytes(from.fixed()?)
        };
        let step = self.step.wrapping_add(from.small()?);
        let tenths = self.tenths.wrapping_add(from.small()?);
        let [span, same, looks] = if flags & COUNTS == 0 {
            [0; 3]
        } else {
            [from.small()?, from.small()?, from.small()?]
        };
        self.go_on(found, step, tenths);
        Some(ApproachHistory {
            outcome,
            earlier,
            step,
            tenths,
            span,
            same,
            looks,
        })
    }

    fn go_on(&mut self, found: Option<u8>, step: u32, tenths: u32) {
        if let Some(further) = found {
            self.next += usize::from(further) + 1;
        }
        self.step = step;
        self.tenths = tenths;
    }
}
