//! Numbers, texts and flags as bytes, and back with every length checked.

use sprag_core::{Digest, Id};

/// Why bytes are not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("it ends too early")]
    Short,
    #[error("a number is too long")]
    Number,
    #[error("a text is not UTF-8 or not an id")]
    Text,
    #[error("{0} is no known {1}")]
    Tag(u64, &'static str),
    #[error("{0} bytes are left over")]
    Rest(usize),
    #[error("its verdict or note can't be read: {0}")]
    Json(String),
}

/// Appends fields to a buffer.
#[derive(Debug, Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            let [low, ..] = number.to_le_bytes();
            self.0.push(low | 0x80);
            number >>= 7;
        }
        let [low, ..] = number.to_le_bytes();
        self.0.push(low);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        // A usize always fits into 64 bits where Rust's std runs.
        self.number(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(super) fn id(&mut self, id: &Id) {
        self.text(id.as_str());
    }

    pub(super) fn ids<const N: usize>(&mut self, ids: [Option<&Id>; N]) {
        for id in ids.into_iter().flatten() {
            self.id(id);
        }
    }

    pub(super) fn digest(&mut self, digest: &Digest) {
        self.0.extend_from_slice(digest.as_bytes());
    }

    /// One bit a flag, the first one lowest.
    pub(super) fn flags<const N: usize>(&mut self, flags: [bool; N]) {
        let bits = flags
            .iter()
            .rev()
            .fold(0_u64, |bits, flag| bits << 1 | u64::from(*flag));
        self.number(bits);
    }
}

/// Takes fields off a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        let (byte, rest) = self.0.split_first().ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(*byte)
    }

    pub(super) fn number(&mut self) -> Result<u64, Malformed> {
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

    pub(super) fn small(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed::Number)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.number()?).map_err(|_| Malformed::Number)?;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed::Text)
    }

    pub(super) fn id(&mut self) -> Result<Id, Malformed> {
        Id::new(self.text()?).map_err(|_| Malformed::Text)
    }

    pub(super) fn id_if(&mut self, present: bool) -> Result<Option<Id>, Malformed> {
        present.then(|| self.id()).transpose()
    }

    pub(super) fn small_if(&mut self, present: bool) -> Result<Option<u32>, Malformed> {
        present.then(|| self.small()).transpose()
    }

    pub(super) fn text_if(&mut self, present: bool) -> Result<Option<Box<str>>, Malformed> {
        present.then(|| self.text().map(Into::into)).transpose()
    }

    pub(super) fn digest(&mut self) -> Result<Digest, Malformed> {
        let bytes = self.take(16)?.try_into().map_err(|_| Malformed::Short)?;
        Ok(Digest::from_bytes(bytes))
    }

    pub(super) fn flags<const N: usize>(&mut self) -> Result<[bool; N], Malformed> {
        let mut bits = self.number()?;
        let mut flags = [false; N];
        for flag in &mut flags {
            *flag = bits & 1 == 1;
            bits >>= 1;
        }
        match bits {
            0 => Ok(flags),
            _ => Err(Malformed::Tag(bits, "set of flags")),
        }
    }
}

/// Gives an enum without fields its stored numbers, and back.
macro_rules! tagged {
    ($tag:ident, $untag:ident, $type:ty, $name:literal, $($variant:ident = $number:literal),+) => {
        const fn $tag(value: $type) -> u8 {
            match value { $(<$type>::$variant => $number,)+ }
        }

        fn $untag(number: u8) -> Result<$type, Malformed> {
            match number {
                $($number => Ok(<$type>::$variant),)+
                other => Err(Malformed::Tag(u64::from(other), $name)),
            }
        }
    };
}
pub(super) use tagged;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_and_overlong_ones_are_refused() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut writer = Writer::default();
            writer.number(number);
            let mut reader = Reader(&writer.0);
            assert_eq!(reader.number(), Ok(number));
            assert!(reader.0.is_empty());
        }
        assert_eq!(Reader(&[0xff; 11]).number(), Err(Malformed::Number));
        assert_eq!(Reader(&[0x80]).number(), Err(Malformed::Short));
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        assert_eq!(Reader(&[5, b'a']).text(), Err(Malformed::Short));
    }
}
