//! Notices, while a model still speaks, that one answer of it repeats itself without an end.
//!
//! A model that has fallen into a loop of its own words goes on until it runs out of tokens. Two
//! signs show it early: a stretch of bytes that is one unit over and over ([`Chant::Period`]), and
//! many lines of which nearly all were said before ([`Chant::Lines`]).
//!
//! *Trips when*: a unit of up to 256 bytes stands at least eight times in a row, over at least 400
//! bytes; or fewer than a tenth of the last 200 lines are distinct.
//! *Resets when*: code, a table or markup begins; the next answer has a detector of its own.
//! *Bounded by*: the last 512 bytes of text, a run a period and the digests of 200 lines, about
//! 11 KiB in all. The cost of a byte does not depend on what came before.
//! *Odd cases*: what repeats by its nature is not a chant. Code fences, tables and markup are left
//! out; a dump of bytes (base64, hexadecimal) and an answer that is JSON count only where the unit
//! itself is rich; units without a letter (rules, dots, zeros) and indented lines need 2 KiB.

mod layout;
mod lines;
mod periods;

use layout::{Grade, Layout};
use lines::Lines;
use periods::Periods;

/// How many copies of a unit make a chant, unless a policy names another number.
pub const CHANT_COPIES: u16 = 8;

/// How an answer repeats itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chant {
    /// One unit stands over and over.
    Period {
        /// The length of the unit.
        bytes: u16,
        /// How many copies there were when it was noticed.
        copies: u16,
    },
    /// Hardly a line is new.
    Lines {
        /// How many of the last 200 lines are distinct.
        distinct: u16,
    },
}

/// Reads one answer of a model, in pieces of any size.
#[derive(Debug, Clone)]
pub struct ChantDetector {
    layout: Layout,
    periods: Periods,
    lines: Lines,
    found: Option<Chant>,
}

impl Default for ChantDetector {
    fn default() -> Self {
        Self::new(CHANT_COPIES)
    }
}

impl ChantDetector {
    /// A detector that takes `copies` copies of a unit for a chant, at least two.
    pub fn new(copies: u16) -> Self {
        Self {
            layout: Layout::default(),
            periods: Periods::new(copies.max(2)),
            lines: Lines::default(),
            found: None,
        }
    }

    /// Reads on. Returns the chant from the byte on at which it was noticed.
    pub fn push(&mut self, text: &[u8]) -> Option<Chant> {
        for &byte in text {
            if self.found.is_some() {
                break;
            }
            self.found = self.read(byte);
        }
        self.found
    }

    /// The chant noticed so far.
    pub fn chant(&self) -> Option<Chant> {
        self.found
    }

    fn read(&mut self, byte: u8) -> Option<Chant> {
        let grade = self.layout.read(byte);
        let lines = self.lines.read(byte, grade);
        if grade == Grade::Skip {
            self.periods.reset();
            return lines;
        }
        self.periods.read(byte, grade).or(lines)
    }
}

#[cfg(test)]
mod tests;
