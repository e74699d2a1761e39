//! How many of the last lines are distinct.
//!
//! A block that is left out (code, a table, markup) counts as one line, by its content: an answer
//! that repeats one block of code for ever has few distinct lines too, and one that shows many
//! different blocks under equal headings has not.

use super::Chant;
use super::layout::Grade;

const KEPT: usize = 200;
/// Fewer distinct lines than this among [`KEPT`] are a chant: a tenth.
const LEAST_DISTINCT: u16 = 20;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

#[derive(Debug, Clone)]
pub(super) struct Lines {
    recent: [u64; KEPT],
    kept: usize,
    next: usize,
    distinct: u16,
    line: u64,
    says: bool,
    block: Option<u64>,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            recent: [0; KEPT],
            kept: 0,
            next: 0,
            distinct: 0,
            line: FNV_OFFSET,
            says: false,
            block: None,
        }
    }
}

impl Lines {
    pub(super) fn read(&mut self, byte: u8, grade: Grade) -> Option<Chant> {
        if byte != b'\n' {
            if !byte.is_ascii_whitespace() {
                self.line = (self.line ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
            }
            // Lines of brackets or rules alone say nothing.
            self.says |= byte.is_ascii_alphanumeric() || !byte.is_ascii();
            return None;
        }
        let line = std::mem::replace(&mut self.line, FNV_OFFSET);
        let says = std::mem::take(&mut self.says);
        match grade {
            Grade::Skip => {
                let block = self.block.unwrap_or(FNV_OFFSET) ^ line;
                self.block = Some(block.wrapping_mul(FNV_PRIME));
                None
            }
            Grade::Data => None,
            Grade::Plain | Grade::Indented if !says => None,
            Grade::Plain | Grade::Indented => {
                if let Some(block) = self.block.take() {
                    self.keep(block);
                }
                self.keep(line);
                self.judge()
            }
        }
    }

    fn judge(&self) -> Option<Chant> {
        (self.kept == KEPT && self.distinct < LEAST_DISTINCT).then_some(Chant::Lines {
            distinct: self.distinct,
        })
    }

    /// Puts a line into the place of the oldest.
    fn keep(&mut self, line: u64) {
        if self.kept == KEPT {
            let oldest = self.recent.get(self.next).copied().unwrap_or_default();
            let others = self.recent.iter().filter(|held| **held == oldest).count();
            if others == 1 {
                self.distinct = self.distinct.saturating_sub(1);
            }
        }
        let place = self.next;
        let held = self.recent.iter().take(self.kept).enumerate();
        let known = held
            .into_iter()
            .any(|(at, held)| *held == line && (at != place || self.kept < KEPT));
        if !known {
            self.distinct = self.distinct.saturating_add(1);
        }
        if let Some(slot) = self.recent.get_mut(place) {
            *slot = line;
        }
        self.kept = (self.kept + 1).min(KEPT);
        self.next = (place + 1) % KEPT;
    }
}
