//! JSON as the digester reads it: nothing lost, nothing taken twice.
//!
//! `serde_json::Value` keeps the last of two equal keys and rounds long numbers; both would let two
//! different calls look the same, or one call look different to the tool and to the guard. So the
//! digester has its own tree. Strings without escapes are borrowed from the text.
//!
//! Numbers that `f64` can't tell from their neighbours are seen only after serde has rounded them.
//! The first pass notes that there was one; then, rarely, the text is read again by a second pass in
//! which the literals are visible (`literal.rs`).

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

use super::literal;
use super::number::{JsonNumber, needs_literal};

/// How deep arrays and objects may nest: less than serde_json's own limit, so that it is never hit.
pub(crate) const MAX_DEPTH: usize = 100;

/// In an object of so many entries, looking at each is quicker than a search.
const FEW_ENTRIES: usize = 16;

/// If another crate of the same build switches on serde_json's `arbitrary_precision`, numbers come
/// as objects with this one key. The second pass reads them as what they are.
const NUMBER_KEY: &str = "$serde_json::private::Number";

/// A JSON value. The keys of objects are sorted by their bytes, and no key occurs twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonValue<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(JsonNumber<'a>),
    /// A string, its escapes resolved.
    Text(Cow<'a, str>),
    /// An array.
    Array(Vec<JsonValue<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, JsonValue<'a>)>),
}

impl<'a> JsonValue<'a> {
    /// Reads `text`, which holds one value and nothing else.
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        let rounded = Cell::new(false);
        let mut reader = serde_json::Deserializer::from_str(text);
        let seed = ValueSeed {
            depth: 0,
            rounded: &rounded,
        };
        let value = seed.deserialize(&mut reader)?;
        reader.end()?;
        if rounded.get() {
            return literal::parse(text);
        }
        Ok(value)
    }

    /// The value under `key` of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else {
            return None;
        };
        // The digester asks calls for some thirty names. Most differ in length from all that are there.
        if entries.len() <= FEW_ENTRIES {
            let mut entries = entries.iter();
            return entries
                .find(|(name, _)| **name == *key)
                .map(|(_, value)| value);
        }
        let at = entries
            .binary_search_by(|(name, _)| (**name).cmp(key))
            .ok()?;
        entries.get(at).map(|(_, value)| value)
    }
}

/// Makes an object of its entries. Returns an error that names a key that occurs twice.
pub(super) fn object<'a, E: Error>(
    mut entries: Vec<(Cow<'a, str>, JsonValue<'a>)>,
) -> Result<JsonValue<'a>, E> {
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let mut keys = entries.iter().map(|(key, _)| key);
    let mut before = keys.next();
    for key in keys {
        if before == Some(key) {
            let key: String = key.chars().take(80).collect();
            return Err(E::custom(format_args!("duplicate key {key:?}")));
        }
        before = Some(key);
    }
    Ok(JsonValue::Object(entries))
}

pub(super) fn deeper<E: Error>(depth: usize) -> Result<usize, E> {
    if depth < MAX_DEPTH {
        Ok(depth + 1)
    } else {
        Err(E::custom(format_args!(
            "arrays and objects nested deeper than {MAX_DEPTH} levels"
        )))
    }
}

/// A string, borrowed if it has no escapes.
pub(super) struct TextSeed;

impl<'de> DeserializeSeed<'de> for TextSeed {
    type Value = Cow<'de, str>;
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for TextSeed {
    type Value = Cow<'de, str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[derive(Clone, Copy)]
struct ValueSeed<'r> {
    depth: usize,
    rounded: &'r Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = JsonValue<'de>;
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = JsonValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(JsonValue::Null)
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(JsonValue::Bool(value))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(JsonValue::Number(JsonNumber::Unsigned(value)))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(JsonValue::Number(JsonNumber::Signed(value)))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        if needs_literal(value) {
            self.rounded.set(true);
        }
        Ok(JsonValue::Number(JsonNumber::Float(value)))
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(JsonValue::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(JsonValue::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let inside = ValueSeed {
            depth: deeper(self.depth)?,
            ..self
        };
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            array.push(item);
        }
        Ok(JsonValue::Array(array))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let inside = ValueSeed {
            depth: deeper(self.depth)?,
            ..self
        };
        let mut object = Vec::with_capacity(8);
        while let Some(key) = entries.next_key_seed(TextSeed)? {
            object.push((key, entries.next_value_seed(inside)?));
        }
        if object.first().is_some_and(|(key, _)| key == NUMBER_KEY) {
            self.rounded.set(true);
        }
        self::object(object)
    }
}

/// Whether `text` is a JSON string, and which.
pub(crate) fn parse_text(text: &str) -> Result<Option<Cow<'_, str>>, serde_json::Error> {
    if !text.starts_with('"') {
        return Ok(None);
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let string = reader.deserialize_str(TextSeed)?;
    reader.end()?;
    Ok(Some(string))
}
