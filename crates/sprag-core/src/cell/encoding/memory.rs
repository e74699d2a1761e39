//! The memory of a session's steps: by far the most of a busy session.
//!
//! What an approach brought last is mostly also among the answers, at about the same place: both are in
//! order of use. So a past refers to that place instead of repeating the answer. Steps and times are
//! written as their distance from those of the past before.

use crate::cell::progress::{ApproachHistory, Progress, RecentKeys};
use crate::cell::{SessionCell, StepMemory};
use crate::encoding::{Encoding, Fixed, Malformed, Reader, Writer};

/// The outcome is the answer right after the one that the past before referred to.
const NEXT: u8 = 1;
/// The outcome is one of the next few answers: how many further follows.
const NEAR: u8 = 1 << 1;
/// The answer before that was another one, which follows.
const CHANGED: u8 = 1 << 2;
/// Span, same, looks and thirds follow; without it all four are zero.
const COUNTS: u8 = 1 << 3;

/// How many answers further an outcome is looked for.
const FEW: usize = 32;

impl SessionCell {
    /// Writes the memory of its steps, which [`StepMemory`] reads. The rest of the cell is written apart.
    pub fn write_memory(&self, out: &mut Writer) {
        let Progress {
            approaches,
            pasts,
            outcomes,
            given,
            told,
            ..
        } = &self.held.progress;
        out.number(ALL | GIVEN | TOLD);
        write_keys(approaches, out);
        write_keys(outcomes, out);
        out.count(pasts.kept().len());
        let mut known = BackReferences::to(outcomes);
        for past in pasts.kept() {
            known.write(out, past);
        }
        write_keys(given, out);
        write_keys(told, out);
    }
}

/// Writes the digests that are kept, as a list is written.
fn write_keys<'a, K>(keys: &RecentKeys<K>, out: &mut Writer)
where
    Fixed: Encoding<'a, K>,
{
    out.count(keys.kept().len());
    for key in keys.kept() {
        Fixed::write(key, out);
    }
}

/// The bits of three fields: approaches, outcomes, pasts. They refer to each other, so all are always there.
const ALL: u64 = 0b111;
/// The bit of the answers that approaches gave.
const GIVEN: u64 = 0b1000;
/// The bit of what calls were about.
const TOLD: u64 = 0b1_0000;

impl StepMemory {
    /// Reads what [`SessionCell::write_memory`] wrote, up to the end.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let present = from.present()?;
        if present & ALL != ALL {
            return Err(Malformed::Missing("memory"));
        }
        let approaches = RecentKeys::from(Vec::<Fixed>::read(from)?);
        let outcomes = RecentKeys::from(Vec::<Fixed>::read(from)?);
        let count = from.count()?;
        let mut pasts = Vec::with_capacity(count);
        let mut known = BackReferences::to(&outcomes);
        for _ in 0..count {
            pasts.push(known.read(from)?);
        }
        let given = if present & GIVEN == 0 {
            RecentKeys::default()
        } else {
            Vec::<Fixed>::read(from)?.into()
        };
        let told = if present & TOLD == 0 {
            RecentKeys::default()
        } else {
            Vec::<Fixed>::read(from)?.into()
        };
        from.finish(present, 5)?;
        Ok(Self {
            approaches,
            pasts: pasts.into(),
            outcomes,
            given,
            told,
        })
    }
}

/// What the next past may refer to. Writer and reader go through the same states, or nothing after fits.
struct BackReferences<'a> {
    answers: &'a [u64],
    /// The answer after the last one that was referred to.
    next: usize,
    step: u32,
    tenths: u32,
}

impl<'a> BackReferences<'a> {
    fn to(outcomes: &'a RecentKeys) -> Self {
        Self {
            answers: outcomes.kept(),
            next: 0,
            step: 0,
            tenths: 0,
        }
    }

    /// An answer as a past holds it: the upper half.
    fn answer(&self, at: usize) -> Option<u32> {
        u32::try_from(*self.answers.get(at)? >> 32).ok()
    }

    /// How many answers further `outcome` is.
    fn find(&self, outcome: u32) -> Option<u8> {
        let places = (0..FEW).find(|further| self.answer(self.next + further) == Some(outcome))?;
        u8::try_from(places).ok()
    }

    fn write(&mut self, out: &mut Writer, past: &ApproachHistory) {
        let ApproachHistory {
            outcome,
            earlier,
            shape,
            step,
            tenths,
            span,
            same,
            looks,
            thirds,
        } = *past;
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        // First where the outcome is, so that most of them cost no byte but the flags.
        let found = self.find(outcome);
        let place = match found {
            Some(0) => NEXT,
            Some(_) => NEAR,
            None => 0,
        };
        let thirds = u16::from(thirds);
        let counts = [span, same, looks, thirds].iter().any(|count| *count != 0);
        out.byte(place | flag(earlier != outcome, CHANGED) | flag(counts, COUNTS));
        match found {
            Some(0) => {}
            Some(further) => out.byte(further),
            None => Fixed::write(&outcome, out),
        }
        if earlier != outcome {
            Fixed::write(&earlier, out);
        }
        Fixed::write(&shape, out);
        // Distances wrap: `tenths` is a time modulo 2^32, and an older step may come after a newer one.
        out.number(u64::from(step.wrapping_sub(self.step)));
        out.number(u64::from(tenths.wrapping_sub(self.tenths)));
        if counts {
            for count in [span, same, looks, thirds] {
                out.number(u64::from(count));
            }
        }
        self.advance(found, step, tenths);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<ApproachHistory, Malformed> {
        let flags = from.byte()?;
        let found = match (flags & NEXT, flags & NEAR) {
            (0, 0) => None,
            (0, _) => Some(from.byte()?),
            _ => Some(0),
        };
        // A place beyond the last answer is damage: no writer refers to what is not there.
        let outcome = match found {
            Some(further) => self
                .answer(self.next + usize::from(further))
                .ok_or(Malformed::Missing("answer"))?,
            None => Fixed::read(from)?,
        };
        let earlier = if flags & CHANGED == 0 {
            outcome
        } else {
            Fixed::read(from)?
        };
        let shape = Fixed::read(from)?;
        let step = self.step.wrapping_add(from.small()?);
        let tenths = self.tenths.wrapping_add(from.small()?);
        let ([span, same, looks], thirds) = if flags & COUNTS == 0 {
            ([0; 3], 0)
        } else {
            ([from.small()?, from.small()?, from.small()?], from.small()?)
        };
        self.advance(found, step, tenths);
        Ok(ApproachHistory {
            outcome,
            earlier,
            shape,
            step,
            tenths,
            span,
            same,
            looks,
            thirds,
        })
    }

    fn advance(&mut self, found: Option<u8>, step: u32, tenths: u32) {
        if let Some(further) = found {
            self.next += usize::from(further) + 1;
        }
        self.step = step;
        self.tenths = tenths;
    }
}
