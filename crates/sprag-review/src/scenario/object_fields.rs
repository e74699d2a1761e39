//! The fields of a JSON object as they stand in the file.
//!
//! A map type would let the last of two equal names win and so hide a slip of the pen; values stay
//! raw text, because an event must reach its parser byte for byte (a number beyond 2^53 would not
//! survive the way through a tree).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object's fields, each name once.
#[derive(Debug)]
pub(super) struct ObjectFields(BTreeMap<String, Box<RawValue>>);

impl ObjectFields {
    /// The raw value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(|value| &**value)
    }

    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl<'de> Deserialize<'de> for ObjectFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectFieldsVisitor;
        impl<'de> Visitor<'de> for ObjectFieldsVisitor {
            type Value = ObjectFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectFields, A::Error> {
                let mut fields = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    if fields.contains_key(&name) {
                        return Err(Error::custom(format_args!(
                            "the field `{name}` is there twice"
                        )));
                    }
                    fields.insert(name, map.next_value()?);
                }
                Ok(ObjectFields(fields))
            }
        }
        deserializer.deserialize_map(ObjectFieldsVisitor)
    }
}
