//! Numbers, times and texts as bytes, and back with every length checked.

use crate::time::Timestamp;

/// Appends to a buffer.
#[derive(Debug)]
pub(super) struct Writer<'a>(pub(super) &'a mut Vec<u8>);

/// Takes off a slice; none where that is not what was written.
#[derive(Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

/// What stands behind a field's number.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Part(Reader<'a>),
}

impl Writer<'_> {
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits a byte, the lowest first.
    pub(super) fn number(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.0.push(low & 0x7f);
            }
            self.0.push(low | 0x80);
        }
    }

    pub(super) fn count(&mut self, count: usize) {
        self.number(u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(super) fn fixed<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0.extend_from_slice(&bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// How long before `from` something was; also where it was after it.
    pub(super) fn time(&mut self, from: Timestamp, at: Timestamp) {
        self.number(before(from, at));
    }

    /// A field with one value; nothing where that is zero.
    pub(super) fn field(&mut self, field: u8, value: u64) {
        if value != 0 {
            self.number(u64::from(field) << 1);
            self.number(value);
        }
    }

    /// A field with many values; nothing where all are zero.
    pub(super) fn row(&mut self, field: u8, values: &[u64]) {
        let length = values.iter().rposition(|value| *value != 0);
        let used = length.and_then(|last| values.get(..=last));
        if let Some(used) = used {
            self.part(field, |part| {
                for value in used {
                    part.number(*value);
                }
            });
        }
    }

    /// A field with bytes of its own.
    pub(super) fn part(&mut self, field: u8, write: impl FnOnce(&mut Writer<'_>)) {
        self.number(u64::from(field) << 1 | 1);
        let start = self.0.len();
        write(&mut Writer(self.0));
        let mut length = Vec::new();
        Writer(&mut length).count(self.0.len() - start);
        self.0.splice(start..start, length);
    }
}

impl<'a> Reader<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number that must not be larger than what holds it.
    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// How many follow, each of at least `bytes` bytes: nobody is made to reserve more than he sent.
    pub(super) fn count(&mut self, bytes: usize) -> Option<usize> {
        let count: usize = self.small()?;
        (count.checked_mul(bytes)? <= self.0.len()).then_some(count)
    }

    pub(super) fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = self.small()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    pub(super) fn time(&mut self, from: Timestamp) -> Option<Timestamp> {
        Some(after(from, self.number()?))
    }

    /// The next of a row of numbers, zero after its end.
    pub(super) fn cell<T: TryFrom<u64>>(&mut self) -> Option<T> {
        if self.is_empty() {
            return T::try_from(0).ok();
        }
        self.small()
    }

    /// The next field; the inner none at the end.
    #[expect(
        clippy::option_option,
        reason = "damaged and finished are two things, and both end the reading"
    )]
    pub(super) fn field(&mut self) -> Option<Option<(u64, Value<'a>)>> {
        if self.is_empty() {
            return Some(None);
        }
        let key = self.number()?;
        let value = if key & 1 == 0 {
            Value::Number(self.number()?)
        } else {
            let length = self.small()?;
            let (part, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            Value::Part(Reader(part))
        };
        Some(Some((key >> 1, value)))
    }
}

/// The distance from `from` back to `at`: even where it is before, odd where it is after.
fn before(from: Timestamp, at: Timestamp) -> u64 {
    let back = from.0.wrapping_sub(at.0).cast_signed();
    ((back << 1) ^ (back >> 63)).cast_unsigned()
}

fn after(from: Timestamp, back: u64) -> Timestamp {
    let half = (back >> 1).cast_signed();
    let sign = (back & 1).cast_signed().wrapping_neg();
    Timestamp(from.0.wrapping_sub((half ^ sign).cast_unsigned()))
}

/// A time that may be missing, as one number of a row.
pub(super) fn maybe_before(from: Timestamp, at: Option<Timestamp>) -> u64 {
    // The one distance that has no room is from one end of time to the other.
    at.map_or(0, |at| before(from, at).saturating_add(1))
}

pub(super) fn maybe_after(from: Timestamp, back: u64) -> Option<Timestamp> {
    Some(after(from, back.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_comes_back() {
        let times = [0, 1, 127, 1_700_000_000_000, u64::MAX >> 1, u64::MAX];
        for from in times.map(Timestamp) {
            for at in times.map(Timestamp) {
                assert_eq!(after(from, before(from, at)), at, "{at:?} from {from:?}");
            }
        }
        assert_eq!(maybe_after(Timestamp(9), 0), None);
    }

    #[test]
    fn numbers_of_any_size_come_back_and_longer_ones_are_refused() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX] {
            let mut bytes = Vec::new();
            Writer(&mut bytes).number(number);
            assert_eq!(Reader(&bytes).number(), Some(number));
        }
        assert_eq!(Reader(&[0xff; 9]).number(), None);
        assert_eq!(Reader(&[0xff; 10]).number(), None);
    }
}
