//! How observations, verdicts and cells become bytes: one format for the log and for every store.
//!
//! The hash chain covers these bytes, a verified replay reads millions of them, and Redis keeps them in
//! memory, so they are few and quickly read. They also outlive the build that wrote them. Hence:
//!
//! - Bytes start with a [`VERSION`]. Another version is refused with an error that names both.
//! - A struct is a set of numbered fields. First one bit for each field that is present, as a varint; then
//!   the values of those fields, in the order of their numbers. What equals its default is not written.
//! - A struct inside another has its length in front. A newer build only adds fields with higher numbers, so
//!   all that an older build does not know is at the end of a struct, and it skips that.
//! - An enum is the number of its variant; number 0 is what a missing field means. A number that this build
//!   doesn't know is refused.
//! - A point in time is the distance from the one before it in the same struct: mostly two bytes of six.
//!
//! **To add a field**: a line in the struct and a line with the next number in its [`numbered_fields!`](crate::numbered_fields)
//! list. The compiler refuses a field that is not in the list and a number that is out of order. The type in the list
//! is an [`Encoding`] of the field: its own type, or a marker such as [`Fixed`] or [`Text`]. Old bytes read
//! with the field's default, so it must have one: an `Option`, a number, a list, a flag. A
//! number is never used for something else. [`VERSION`] changes only if the rules above do.

mod bytes;
mod observation;
mod values;
mod verdict;

pub use bytes::{Malformed, Reader, Writer};
pub use values::{Fixed, Json, KnownRule, Lent, Or, Text, YesNo};

/// The format that this build writes and reads.
pub const VERSION: u8 = 1;

/// How a `T` is written as the value of a field.
pub trait Encoding<'a, T> {
    /// What a field that was not written means; none if it must be there.
    #[must_use]
    fn absent() -> Option<T> {
        None
    }

    /// Whether the field need not be written.
    fn is_absent(_value: &T) -> bool {
        false
    }

    /// Appends a value.
    fn write(value: &T, out: &mut Writer);

    /// Takes a value off.
    fn read(from: &mut Reader<'a>) -> Result<T, Malformed>;
}

/// A struct with numbered fields. [`numbered_fields!`](crate::numbered_fields) implements it.
pub trait Fields<'a>: Sized {
    /// One bit for each field that must be written, the first one lowest.
    fn present(&self) -> u64;

    /// Appends the fields; whoever reads them must know where they end.
    fn write_fields(&self, out: &mut Writer);

    /// Reads fields up to the end of `from`.
    fn read_fields(from: &mut Reader<'a>) -> Result<Self, Malformed>;
}

/// The bytes of a value: the version, then its fields.
#[must_use]
pub fn encode<'a>(value: &impl Fields<'a>) -> Vec<u8> {
    let mut out = Writer::new(Vec::with_capacity(256));
    value.write_fields(&mut out);
    out.into_bytes()
}

/// The value that [`encode`] made bytes of.
pub fn decode<'a, T: Fields<'a>>(bytes: &'a [u8]) -> Result<T, Malformed> {
    T::read_fields(&mut Reader::new(bytes)?)
}

/// Nearly every part is shorter.
const PART_BYTES: usize = 32;

/// The bytes of a value inside of others, which have the version.
#[must_use]
pub fn encode_part<'a>(value: &impl Fields<'a>) -> Vec<u8> {
    encode_part_into(value, Vec::with_capacity(PART_BYTES))
}

/// The same in the place of `bytes`: whoever encodes one part after the other need not allocate for each.
#[must_use]
pub fn encode_part_into<'a>(value: &impl Fields<'a>, mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.clear();
    let mut out = Writer::part(bytes);
    value.write_fields(&mut out);
    out.into_bytes()
}

/// The value that [`encode_part`] made bytes of.
pub fn decode_part<'a, T: Fields<'a>>(bytes: &'a [u8]) -> Result<T, Malformed> {
    T::read_fields(&mut Reader::part(bytes))
}

/// Whether numbers are 1, 2, 3…, and few enough for the bits of a `u64`.
#[doc(hidden)]
#[must_use]
pub const fn are_in_order(mut numbers: &[u32]) -> bool {
    let mut last = 0;
    while let [first, rest @ ..] = numbers {
        last += 1;
        if *first != last || last > 63 {
            return false;
        }
        numbers = rest;
    }
    true
}

/// Gives a struct its numbered fields: `1 session: Id,` and so on, each number one more than the last.
///
/// A field that mostly equals an earlier one is written as `5 normal: Digest = exact,` and then costs
/// nothing. Fields that are kept elsewhere stand in `unwritten { … }` and read as their default.
#[macro_export]
macro_rules! numbered_fields {
    (
        $type:ident $(<$life:lifetime>)? {
            $($number:literal $field:ident: $codec:ty $(= $same:ident)?,)+
        }
        $(unwritten { $($elsewhere:ident),+ })?
    ) => {
        impl<'a> $crate::encoding::Fields<'a> for $crate::numbered_fields!(@type $type $($life)?) {
            fn present(&self) -> u64 {
                const { assert!($crate::encoding::are_in_order(&[$($number),+])) };
                let mut bits = 0;
                $(
                    let same = false $(|| self.$field == self.$same)?;
                    if !same && !<$codec as $crate::encoding::Encoding<'a, _>>::is_absent(&self.$field) {
                        bits |= 1 << ($number - 1);
                    }
                )+
                bits
            }

            fn write_fields(&self, out: &mut $crate::encoding::Writer) {
                let bits = $crate::encoding::Fields::present(self);
                out.number(bits);
                $(
                    if bits & 1 << ($number - 1) != 0 {
                        <$codec as $crate::encoding::Encoding<'a, _>>::write(&self.$field, out);
                    }
                )+
            }

            fn read_fields(
                from: &mut $crate::encoding::Reader<'a>,
            ) -> Result<Self, $crate::encoding::Malformed> {
                let bits = from.present()?;
                $(
                    let $field = if bits & 1 << ($number - 1) != 0 {
                        <$codec as $crate::encoding::Encoding<'a, _>>::read(from)?
                    } else {
                        $crate::numbered_fields!(@absent $field $codec $(= $same)?)
                    };
                )+
                from.finish(bits, [$($number),+].len())?;
                Ok(Self {
                    $($field,)+
                    $($($elsewhere: Default::default(),)+)?
                })
            }
        }

        impl<'a> $crate::encoding::Encoding<'a, Self> for $crate::numbered_fields!(@type $type $($life)?) {
            // A struct without any field to write is not written at all.
            fn absent() -> Option<Self> {
                $crate::encoding::Fields::read_fields(&mut $crate::encoding::Reader::part(&[])).ok()
            }

            fn is_absent(value: &Self) -> bool {
                $crate::encoding::Fields::present(value) == 0
            }

            fn write(value: &Self, out: &mut $crate::encoding::Writer) {
                out.nested(|out| $crate::encoding::Fields::write_fields(value, out));
            }

            fn read(
                from: &mut $crate::encoding::Reader<'a>,
            ) -> Result<Self, $crate::encoding::Malformed> {
                $crate::encoding::Fields::read_fields(&mut from.nested()?)
            }
        }
    };
    (@type $type:ident) => { $type };
    (@type $type:ident $life:lifetime) => { $type<'a> };
    (@absent $field:ident $codec:ty) => {
        <$codec as $crate::encoding::Encoding<'a, _>>::absent()
            .ok_or($crate::encoding::Malformed::Missing(stringify!($field)))?
    };
    (@absent $field:ident $codec:ty = $same:ident) => {
        Clone::clone(&$same)
    };
}

/// Gives an enum without fields its stored numbers. Number 0 is what a missing field means.
macro_rules! numbered_variants {
    ($type:ident, $name:literal: $($number:literal $variant:ident),+) => {
        impl $type {
            pub(crate) const fn stored_number(self) -> u8 {
                match self { $(Self::$variant => $number,)+ }
            }

            pub(crate) fn from_stored(number: u8) -> Result<Self, $crate::encoding::Malformed> {
                match number {
                    $($number => Ok(Self::$variant),)+
                    other => Err($crate::encoding::Malformed::Unknown(u64::from(other), $name)),
                }
            }
        }

        impl $crate::encoding::Encoding<'_, Self> for $type {
            fn absent() -> Option<Self> {
                Self::from_stored(0).ok()
            }

            fn is_absent(value: &Self) -> bool {
                value.stored_number() == 0
            }

            fn write(value: &Self, out: &mut $crate::encoding::Writer) {
                out.byte(value.stored_number());
            }

            fn read(
                from: &mut $crate::encoding::Reader<'_>,
            ) -> Result<Self, $crate::encoding::Malformed> {
                Self::from_stored(from.byte()?)
            }
        }
    };
}
pub(crate) use numbered_variants;
pub(crate) use values::encodings;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::time::Timestamp;

    #[derive(Debug, PartialEq)]
    struct Old {
        at: Timestamp,
        inner: OldInner,
        after: Option<Timestamp>,
    }

    #[derive(Debug, PartialEq)]
    struct OldInner {
        id: Id,
        at: Timestamp,
    }

    #[derive(Debug, PartialEq)]
    struct New {
        at: Timestamp,
        inner: NewInner,
        after: Option<Timestamp>,
        name: String,
    }

    #[derive(Debug, PartialEq)]
    struct NewInner {
        id: Id,
        at: Timestamp,
        is_late: bool,
        until: Option<Timestamp>,
    }

    numbered_fields!(Old { 1 at: Timestamp, 2 inner: OldInner, 3 after: Option<Timestamp>, });
    numbered_fields!(OldInner { 1 id: Id, 2 at: Timestamp, });
    numbered_fields!(New { 1 at: Timestamp, 2 inner: NewInner, 3 after: Option<Timestamp>, 4 name: Text, });
    numbered_fields!(NewInner { 1 id: Id, 2 at: Timestamp, 3 is_late: bool, 4 until: Option<Timestamp>, });

    fn old() -> Old {
        Old {
            at: Timestamp(1_000),
            inner: OldInner {
                id: Id::new("x").unwrap(),
                at: Timestamp(999),
            },
            after: Some(Timestamp(1_002)),
        }
    }

    fn new() -> New {
        let Old { at, inner, after } = old();
        New {
            at,
            inner: NewInner {
                id: inner.id,
                at: inner.at,
                is_late: true,
                until: Some(Timestamp(77_000)),
            },
            after,
            name: "n".repeat(200),
        }
    }

    #[test]
    fn old_bytes_read_with_the_defaults_of_new_fields() {
        let read: New = decode(&encode(&old())).unwrap();
        let mut expected = new();
        expected.inner.is_late = false;
        expected.inner.until = None;
        expected.name = String::new();
        assert_eq!(read, expected);
    }

    #[test]
    fn fields_of_a_newer_build_are_skipped_at_every_depth() {
        let bytes = encode(&new());
        assert_eq!(decode::<New>(&bytes), Ok(new()));
        assert_eq!(decode::<Old>(&bytes), Ok(old()));
    }

    #[test]
    fn another_version_is_refused_by_name() {
        let mut bytes = encode(&old());
        bytes[0] = 9;
        assert_eq!(
            decode::<Old>(&bytes).unwrap_err().to_string(),
            "its format is 9, and this build reads format 1 only; use the build that wrote it"
        );
    }

    #[test]
    fn what_is_missing_or_left_over_is_refused() {
        assert_eq!(decode::<OldInner>(&[1]), Err(Malformed::Missing("id")));
        assert_eq!(decode::<OldInner>(&[]), Err(Malformed::Short));
        let mut bytes = encode(&old());
        bytes.push(0);
        assert_eq!(decode::<Old>(&bytes), Err(Malformed::Rest(1)));
    }
}
