//! For each period of up to 256 bytes: over how long a stretch the text repeats itself.
//!
//! Compared 16 bytes at a time: the newest 16 with the 16 that stand one period earlier. A period's
//! run counts the blocks in a row that were equal, so a run of `r` proves that the last `16 r` bytes
//! and the period before them are copies of one unit. That is 16 comparisons of 128 bits a byte,
//! whatever the text, and a chant is noticed at most 31 bytes late.

use super::Chant;
use super::layout::Grade;

const MAX_PERIOD: usize = 256;
const BLOCK: usize = 16;
const CAPACITY: usize = 2 * MAX_PERIOD;

const LEAST_BYTES: u32 = 400;
/// What is needed where the text may repeat by its nature.
const DOUBTFUL_BYTES: u32 = 2048;
/// A unit of fewer distinct bytes than this is poor: zeros, `AAAA`, `0, `.
const RICH_SYMBOLS: u32 = 8;

#[derive(Debug, Clone)]
pub(super) struct Periods {
    copies: u16,
    /// For each of the last bytes: it and the 15 before it. Twice as many as are looked at, so that
    /// they move once in 256 bytes.
    recent: [u128; CAPACITY],
    length: usize,
    unread: usize,
    runs: [u16; MAX_PERIOD],
}

impl Periods {
    pub(super) fn new(copies: u16) -> Self {
        Self {
            copies,
            recent: [0; CAPACITY],
            length: 0,
            unread: 0,
            runs: [0; MAX_PERIOD],
        }
    }

    pub(super) fn reset(&mut self) {
        if self.length > 0 {
            self.length = 0;
            self.unread = 0;
            self.runs = [0; MAX_PERIOD];
        }
    }

    pub(super) fn read(&mut self, byte: u8, grade: Grade) -> Option<Chant> {
        if self.length == CAPACITY {
            self.recent.copy_within(MAX_PERIOD.., 0);
            self.length = MAX_PERIOD;
        }
        let before = self
            .length
            .checked_sub(1)
            .and_then(|at| self.recent.get(at));
        let block = before.copied().unwrap_or_default() << 8 | u128::from(byte);
        if let Some(place) = self.recent.get_mut(self.length) {
            *place = block;
        }
        self.length += 1;
        self.unread += 1;
        if self.unread < BLOCK {
            return None;
        }
        self.unread = 0;
        self.compare();
        self.judge(grade)
    }

    fn compare(&mut self) {
        let text = self.recent.get(..self.length).unwrap_or_default();
        let Some((newest, text)) = text.split_last() else {
            return;
        };
        for (run, earlier) in self.runs.iter_mut().zip(text.iter().rev()) {
            *run = if earlier == newest {
                run.saturating_add(1)
            } else {
                0
            };
        }
    }

    /// The shortest period that makes a chant: its multiples have runs as well.
    fn judge(&self, grade: Grade) -> Option<Chant> {
        for (run, period) in self.runs.iter().zip(1u16..) {
            let stretch = u32::from(*run) * 16 + u32::from(period);
            let copies = stretch / u32::from(period);
            if *run == 0 || stretch < LEAST_BYTES || copies < u32::from(self.copies) {
                continue;
            }
            let copies = u16::try_from(copies).unwrap_or(u16::MAX);
            return (stretch >= self.least(period, grade)?).then_some(Chant::Period {
                bytes: period,
                copies,
            });
        }
        None
    }

    /// How long a stretch of this unit must be here; none if it is never a chant.
    fn least(&self, period: u16, grade: Grade) -> Option<u32> {
        let start = self.length.checked_sub(usize::from(period))?;
        let unit = self.recent.get(start..self.length)?;
        let mut bytes = unit.iter().map(newest_byte);
        let letters = (bytes.clone()).any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
        match grade {
            Grade::Plain if letters => Some(LEAST_BYTES),
            Grade::Plain | Grade::Indented => Some(DOUBTFUL_BYTES),
            Grade::Data if symbols(&mut bytes) >= RICH_SYMBOLS => Some(DOUBTFUL_BYTES),
            Grade::Data | Grade::Skip => None,
        }
    }
}

fn newest_byte(block: &u128) -> u8 {
    block.to_le_bytes()[0]
}

fn symbols(unit: &mut dyn Iterator<Item = u8>) -> u32 {
    let (mut low, mut high) = (0u128, 0u128);
    for byte in unit {
        let half = if byte < 128 { &mut low } else { &mut high };
        *half |= 1 << (byte & 0x7f);
    }
    low.count_ones() + high.count_ones()
}
