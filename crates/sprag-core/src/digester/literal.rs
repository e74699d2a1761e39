//! The second pass over a JSON text: slower, but it sees how every number was written.
//!
//! Each value is taken as raw text first and then read by its first character, so a container is
//! scanned once for each level above it. That is why this pass runs only for texts that hold a
//! number which the first pass could not keep exact.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{JsonValue, TextSeed, deeper, object, parse_text};
use super::number::JsonNumber;

/// Reads `text`, which holds one value and nothing else.
pub(crate) fn parse(text: &str) -> Result<JsonValue<'_>, serde_json::Error> {
    read(serde_json::from_str::<&RawValue>(text)?, 0)
}

fn read(raw: &RawValue, depth: usize) -> Result<JsonValue<'_>, serde_json::Error> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'n') => Ok(JsonValue::Null),
        Some(b't') => Ok(JsonValue::Bool(true)),
        Some(b'f') => Ok(JsonValue::Bool(false)),
        Some(b'"') => Ok(parse_text(text)?.map_or(JsonValue::Null, JsonValue::Text)),
        Some(b'[') => serde_json::Deserializer::from_str(text)
            .deserialize_seq(ContainerVisitor(deeper(depth)?)),
        Some(b'{') => serde_json::Deserializer::from_str(text)
            .deserialize_map(ContainerVisitor(deeper(depth)?)),
        _ => JsonNumber::from_literal(text)
            .map(JsonValue::Number)
            .ok_or_else(|| serde_json::Error::custom("number out of range")),
    }
}

/// The inside of a container, with its depth.
struct ContainerVisitor(usize);

impl<'de> Visitor<'de> for ContainerVisitor {
    type Value = JsonValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(RawValueSeed(self.0))? {
            array.push(item);
        }
        Ok(JsonValue::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut all: Vec<(Cow<'de, str>, _)> = Vec::new();
        while let Some(key) = entries.next_key_seed(TextSeed)? {
            all.push((key, entries.next_value_seed(RawValueSeed(self.0))?));
        }
        object(all)
    }
}

/// One value inside a container at this depth.
struct RawValueSeed(usize);

impl<'de> DeserializeSeed<'de> for RawValueSeed {
    type Value = JsonValue<'de>;
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        let raw: &'de RawValue = serde::Deserialize::deserialize(from)?;
        read(raw, self.0).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digester::canonical;

    fn canonical(value: Result<JsonValue<'_>, serde_json::Error>) -> String {
        let mut out = String::new();
        canonical::write(&value.unwrap(), &mut out);
        out
    }

    #[test]
    fn both_passes_read_the_same() {
        for text in [
            "null",
            " [1, -1, 1.5, 1e3, 0.1, -0, true, false, null, \"a\\n\\u00e9\"] ",
            r#"{"b":{"z":1,"y":[{}]},"a":[],"\u0061b":"x"}"#,
            "18446744073709551615",
            "-9223372036854775808",
            "9007199254740991.0",
            "123456789.123456789e-3",
        ] {
            assert_eq!(canonical(JsonValue::parse(text)), canonical(parse(text)));
        }
    }

    #[test]
    fn the_second_pass_refuses_what_the_first_refuses() {
        let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
        for text in [
            r#"{"a":1,"a":2}"#,
            "1e999",
            &deep,
            "[1,]",
            "1 2",
            "\"\\ud800\"",
        ] {
            assert!(parse(text).is_err(), "{text}");
            assert!(JsonValue::parse(text).is_err(), "{text}");
        }
    }
}
