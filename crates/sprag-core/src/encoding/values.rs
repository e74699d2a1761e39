//! The values that fields hold.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Encoding, Malformed, Reader, Writer};
use crate::digest::Digest;
use crate::id::Id;
use crate::rule::RuleId;
use crate::time::Timestamp;

/// A number whose every bit is as likely as not, such as the start of a digest: always as many bytes as it has.
#[derive(Debug)]
pub struct Fixed;

/// A number that mostly is `N`.
#[derive(Debug)]
pub struct Or<const N: u32>;

/// Text of any length: a `String`, a `Box<str>`, or a `&str` that borrows from the bytes.
#[derive(Debug)]
pub struct Text;

/// A `bool` inside an `Option`, where false is not the same as missing.
#[derive(Debug)]
pub struct YesNo;

/// The rule behind something that also matters without: a rule of a newer build reads as none.
#[derive(Debug)]
pub struct KnownRule;

/// Something of any shape, as JSON. For what is rare: it is large and slow.
#[derive(Debug)]
pub struct Json;

/// A value that is borrowed when it is written and owned when it was read: a `Cow`.
#[derive(Debug)]
pub struct Lent<C>(PhantomData<C>);

/// Says how a type is written. With `default`, a field that holds the default is not written.
macro_rules! encodings {
    ($(
        $codec:ty as $type:ty $(, $default:ident)?:
            |$value:pat_param, $out:pat_param| $write:expr, |$from:pat_param| $read:expr;
    )+) => {$(
        impl<'a> $crate::encoding::Encoding<'a, $type> for $codec {
            $($crate::encoding::encodings!(@$default $type);)?

            fn write($value: &$type, $out: &mut $crate::encoding::Writer) {
                $write
            }

            fn read(
                $from: &mut $crate::encoding::Reader<'a>,
            ) -> Result<$type, $crate::encoding::Malformed> {
                $read
            }
        }
    )+};
    (@default $type:ty) => {
        fn absent() -> Option<$type> {
            Some(<$type>::default())
        }

        fn is_absent(value: &$type) -> bool {
            *value == <$type>::default()
        }
    };
}
pub(crate) use encodings;

encodings! {
    u8 as u8, default: |value, out| out.number(u64::from(*value)), |from| from.small();
    u16 as u16, default: |value, out| out.number(u64::from(*value)), |from| from.small();
    u32 as u32, default: |value, out| out.number(u64::from(*value)), |from| from.small();
    u64 as u64, default: |value, out| out.number(*value), |from| from.number();
    Fixed as u32, default:
        |value, out| out.fixed(value.to_le_bytes()), |from| from.fixed().map(u32::from_le_bytes);
    Fixed as u64, default:
        |value, out| out.fixed(value.to_le_bytes()), |from| from.fixed().map(u64::from_le_bytes);
    // That a flag is present is all it says.
    bool as bool, default: |_, _| (), |_| Ok(true);
    YesNo as bool: |value, out| out.byte(u8::from(*value)), |from| Ok(from.byte()? != 0);
    Timestamp as Timestamp, default: |value, out| out.time(*value), |from| from.time();
    Digest as Digest:
        |value, out| out.fixed(*value.as_bytes()), |from| from.fixed().map(Digest::from_bytes);
    Id as Id:
        |value, out| out.bytes(value.as_str().as_bytes()),
        |from| Id::new(from.text()?).map_err(|_| Malformed::Text);
    Text as &'a str, default: |value, out| out.bytes(value.as_bytes()), |from| from.text();
    Text as Box<str>, default:
        |value, out| out.bytes(value.as_bytes()), |from| from.text().map(Into::into);
    Text as String, default:
        |value, out| out.bytes(value.as_bytes()), |from| from.text().map(Into::into);
    &'a [u8] as &'a [u8], default: |value, out| out.bytes(value), |from| from.bytes();
    // By its name: the number of a rule is its place in an order that changes.
    RuleId as RuleId:
        |value, out| out.bytes(value.as_str().as_bytes()),
        |from| from.text()?.parse().map_err(|_| Malformed::Rule);
    KnownRule as Option<RuleId>, default:
        |value, out| out.bytes(value.map_or("", RuleId::as_str).as_bytes()),
        |from| Ok(from.text()?.parse().ok());
}

impl<const N: u32> Encoding<'_, u32> for Or<N> {
    fn absent() -> Option<u32> {
        Some(N)
    }
    fn is_absent(value: &u32) -> bool {
        *value == N
    }
    fn write(value: &u32, out: &mut Writer) {
        out.number(u64::from(*value));
    }
    fn read(from: &mut Reader<'_>) -> Result<u32, Malformed> {
        from.small()
    }
}

impl<T: Serialize + DeserializeOwned> Encoding<'_, T> for Json {
    fn write(value: &T, out: &mut Writer) {
        // Writing to memory fails only for maps whose keys are not text; nothing that is stored has one.
        out.bytes(&serde_json::to_vec(value).unwrap_or_default());
    }
    fn read(from: &mut Reader<'_>) -> Result<T, Malformed> {
        serde_json::from_slice(from.bytes()?).map_err(|error| Malformed::Json(error.to_string()))
    }
}

impl<'a, T, C: Encoding<'a, T>> Encoding<'a, Option<T>> for Option<C> {
    fn absent() -> Option<Option<T>> {
        Some(None)
    }
    fn is_absent(value: &Option<T>) -> bool {
        value.is_none()
    }
    fn write(value: &Option<T>, out: &mut Writer) {
        if let Some(value) = value {
            C::write(value, out);
        }
    }
    fn read(from: &mut Reader<'a>) -> Result<Option<T>, Malformed> {
        C::read(from).map(Some)
    }
}

impl<'a, T, C: Encoding<'a, T>> Encoding<'a, Box<T>> for Box<C> {
    fn absent() -> Option<Box<T>> {
        C::absent().map(Box::new)
    }
    fn is_absent(value: &Box<T>) -> bool {
        C::is_absent(value)
    }
    fn write(value: &Box<T>, out: &mut Writer) {
        C::write(value, out);
    }
    fn read(from: &mut Reader<'a>) -> Result<Box<T>, Malformed> {
        C::read(from).map(Box::new)
    }
}

impl<'a, T: Clone, C: Encoding<'a, T>> Encoding<'a, Cow<'a, T>> for Lent<C> {
    fn write(value: &Cow<'a, T>, out: &mut Writer) {
        C::write(value, out);
    }
    fn read(from: &mut Reader<'a>) -> Result<Cow<'a, T>, Malformed> {
        C::read(from).map(Cow::Owned)
    }
}

impl<'a, S, T, A: Encoding<'a, S>, B: Encoding<'a, T>> Encoding<'a, (S, T)> for (A, B) {
    fn absent() -> Option<(S, T)> {
        Some((A::absent()?, B::absent()?))
    }
    fn is_absent(value: &(S, T)) -> bool {
        A::is_absent(&value.0) && B::is_absent(&value.1)
    }
    fn write(value: &(S, T), out: &mut Writer) {
        A::write(&value.0, out);
        B::write(&value.1, out);
    }
    fn read(from: &mut Reader<'a>) -> Result<(S, T), Malformed> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

macro_rules! lists {
    ($($list:ident),+) => {$(
        impl<'a, T, C: Encoding<'a, T>> Encoding<'a, $list<T>> for $list<C> {
            fn absent() -> Option<$list<T>> {
                Some($list::new())
            }
            fn is_absent(value: &$list<T>) -> bool {
                value.is_empty()
            }
            fn write(value: &$list<T>, out: &mut Writer) {
                out.count(value.len());
                for item in value {
                    C::write(item, out);
                }
            }
            fn read(from: &mut Reader<'a>) -> Result<$list<T>, Malformed> {
                let count = from.count()?;
                let mut list = $list::with_capacity(count);
                for _ in 0..count {
                    list.extend([C::read(from)?]);
                }
                Ok(list)
            }
        }
    )+};
}
lists!(Vec, VecDeque);
