//! Numbers, texts and times as bytes, and back with every length checked.

use super::VERSION;
use crate::time::Timestamp;

/// Why bytes can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// They were written in another format.
    #[error(
        "its format is {0}, and this build reads format {VERSION} only; use the build that wrote it"
    )]
    Version(u8),
    /// They end inside a value.
    #[error("it ends too early")]
    Short,
    /// A number has more bits than what holds it.
    #[error("a number is too long")]
    Number,
    /// A text is not UTF-8, or not an id.
    #[error("a text is not UTF-8 or not an id")]
    Text,
    /// A variant that this build doesn't know.
    #[error("{0} is not a known {1}; it may be from a newer build")]
    Unknown(u64, &'static str),
    /// A rule that this build doesn't know.
    #[error("it names an unknown rule; it may be from a newer build")]
    Rule,
    /// A field that must be there is not.
    #[error("its field `{0}` is missing")]
    Missing(&'static str),
    /// There is more than was announced.
    #[error("{0} bytes are left over")]
    Rest(usize),
    /// The JSON in it is wrong.
    #[error("the JSON in it can't be read: {0}")]
    Json(String),
}

/// Appends values to a buffer.
#[derive(Debug, Default)]
pub struct Writer {
    pub(super) bytes: Vec<u8>,
    /// The last time that was written in this struct, or before it.
    last: Timestamp,
}

/// Takes values off a slice.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    last: Timestamp,
}

impl Writer {
    /// Starts with what is in `bytes` and the version.
    #[must_use]
    pub fn new(mut bytes: Vec<u8>) -> Self {
        bytes.push(VERSION);
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// Appends a part, which has no version, to what is in `bytes`.
    pub(super) fn part(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// All that was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends one byte.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Seven bits a byte, the lowest first.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            let [low, ..] = number.to_le_bytes();
            self.bytes.push(low | 0x80);
            number >>= 7;
        }
        let [low, ..] = number.to_le_bytes();
        self.bytes.push(low);
    }

    pub(crate) fn count(&mut self, count: usize) {
        // A usize has at most 64 bits wherever Rust's std runs.
        self.number(u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(crate) fn fixed<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes.extend_from_slice(&bytes);
    }

    /// A length and so many bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// The distance from the time before, even if it is earlier and odd if it is later, so that small
    /// distances are small numbers both ways.
    pub(crate) fn time(&mut self, at: Timestamp) {
        let back = self.last.0.wrapping_sub(at.0).cast_signed();
        self.number(((back << 1) ^ (back >> 63)).cast_unsigned());
        self.last = at;
    }

    /// Writes a part with its length in front, so that a reader can skip what it doesn't know of it.
    pub fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        let (start, last) = (self.bytes.len(), self.last);
        // Room for a length below 128: longer ones are rare and move the part.
        self.bytes.push(0);
        write(self);
        // A reader may skip times inside of this part, so none after it may depend on them.
        self.last = last;
        let length = self.bytes.len() - start - 1;
        match (u8::try_from(length), self.bytes.get_mut(start)) {
            (Ok(short @ ..0x80), Some(place)) => *place = short,
            _ => {
                let mut long = Self::default();
                long.count(length);
                self.bytes.splice(start..=start, long.bytes);
            }
        }
    }
}

impl<'a> Reader<'a> {
    /// Checks the version, and reads what comes after it.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut from = Self::part(bytes);
        match from.byte()? {
            VERSION => Ok(from),
            other => Err(Malformed::Version(other)),
        }
    }

    /// Reads bytes without a version: those of a part. No bytes are a struct with all its defaults.
    #[must_use]
    pub const fn part(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            last: Timestamp(0),
        }
    }

    /// Takes one byte off.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let (byte, rest) = self.bytes.split_first().ok_or(Malformed::Short)?;
        self.bytes = rest;
        Ok(*byte)
    }

    /// Takes a number off; one that has more than 64 bits is refused.
    pub fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Malformed::Number);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed::Number)
    }

    /// A number that must not be larger than what holds it.
    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Result<T, Malformed> {
        T::try_from(self.number()?).map_err(|_| Malformed::Number)
    }

    /// How many items follow. Each takes a byte at least, so a damaged count never reserves more memory than
    /// was sent times the size of an item.
    pub(crate) fn count(&mut self) -> Result<usize, Malformed> {
        let count = self.small()?;
        if count > self.bytes.len() {
            return Err(Malformed::Short);
        }
        Ok(count)
    }

    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) = self.bytes.split_first_chunk().ok_or(Malformed::Short)?;
        self.bytes = rest;
        Ok(*bytes)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.small()?;
        let (taken, rest) = self
            .bytes
            .split_at_checked(length)
            .ok_or(Malformed::Short)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed::Text)
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, Malformed> {
        let back = self.number()?;
        let (half, sign) = (back >> 1, (back & 1).wrapping_neg());
        self.last = Timestamp(self.last.0.wrapping_sub(half ^ sign));
        Ok(self.last)
    }

    /// The part that [`Writer::nested`] wrote, on its own.
    pub fn nested(&mut self) -> Result<Self, Malformed> {
        Ok(Self {
            bytes: self.bytes()?,
            last: self.last,
        })
    }

    /// The bits of a struct's fields; no bytes at all mean no fields.
    pub fn present(&mut self) -> Result<u64, Malformed> {
        if self.bytes.is_empty() {
            return Ok(0);
        }
        self.number()
    }

    /// Ends a struct of which this build knows the first `known` fields.
    pub fn finish(&mut self, present: u64, known: usize) -> Result<(), Malformed> {
        // What a newer build wrote comes after all that this one knows: skipped. If there is no such
        // field, bytes that are left are damage.
        if present >> known == 0 && !self.bytes.is_empty() {
            return Err(Malformed::Rest(self.bytes.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back_and_longer_ones_are_refused() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX] {
            let mut out = Writer::default();
            out.number(number);
            assert_eq!(Reader::part(&out.bytes).number(), Ok(number));
        }
        assert_eq!(Reader::part(&[0xff; 11]).number(), Err(Malformed::Number));
        assert_eq!(Reader::part(&[0x80]).number(), Err(Malformed::Short));
    }

    #[test]
    fn every_distance_of_times_comes_back() {
        let times = [0, 1, 127, 1_700_000_000_000, u64::MAX >> 1, u64::MAX];
        for first in times.map(Timestamp) {
            for second in times.map(Timestamp) {
                let mut out = Writer::default();
                out.time(first);
                out.time(second);
                let mut from = Reader::part(&out.bytes);
                assert_eq!((from.time(), from.time()), (Ok(first), Ok(second)));
            }
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        assert_eq!(Reader::part(&[5, b'a']).text(), Err(Malformed::Short));
        assert_eq!(Reader::part(&[5, b'a']).count(), Err(Malformed::Short));
    }
}
