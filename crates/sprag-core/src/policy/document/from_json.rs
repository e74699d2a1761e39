//! JSON into the tree.
//!
//! The parser's raw values are slices of the text, so the distance between the two beginnings is
//! the offset of a value. Going down level by level reads a part again for each level it is in;
//! [`MAX_DEPTH`] keeps that a small factor and the recursion short.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{LineTable, MAX_DEPTH, Node, NodeValue, NumberText, Position, TableEntry};
use crate::policy::error::{ErrorList, PolicyProblem};

/// Reads a text, or reports where it is not JSON.
pub(in crate::policy) fn parse(text: &str, errors: &mut ErrorList) -> Option<Node> {
    let lines = LineTable::new(text);
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => DocumentReader { lines, errors }.node(raw, MAX_DEPTH),
        Err(error) => {
            errors.push("", Some(place_of(&error)), syntax(&error));
            None
        }
    }
}

fn place_of(error: &serde_json::Error) -> Position {
    Position {
        line: u32::try_from(error.line()).unwrap_or(u32::MAX),
        column: u32::try_from(error.column()).unwrap_or(u32::MAX),
    }
}

/// The parser's message without the position, which is shown in front.
fn syntax(error: &serde_json::Error) -> PolicyProblem {
    let text = error.to_string();
    let words = text.rsplit_once(" at line ").map(|(words, _)| words);
    PolicyProblem::Syntax(words.unwrap_or(&text).to_owned())
}

struct DocumentReader<'t, 'e> {
    lines: LineTable<'t>,
    errors: &'e mut ErrorList,
}

impl<'t> DocumentReader<'t, '_> {
    fn place(&self, raw: &RawValue) -> Option<Position> {
        let start = self.lines.text.as_ptr().addr();
        let offset = raw.get().as_ptr().addr().checked_sub(start)?;
        Some(self.lines.place(offset))
    }

    fn node(&mut self, raw: &'t RawValue, depth: usize) -> Option<Node> {
        let place = self.place(raw);
        let Some(depth) = depth.checked_sub(1) else {
            self.errors.push("", place, PolicyProblem::TooDeep);
            return None;
        };
        let value = match raw.get().bytes().next() {
            Some(b'{') => {
                let ObjectMembers(members) = self.read(raw)?;
                NodeValue::Table(self.entries(members, depth)?)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = self.read(raw)?;
                let nodes = items.into_iter().map(|item| self.node(item, depth));
                NodeValue::List(nodes.collect::<Option<_>>()?)
            }
            Some(b'"') => NodeValue::Text(self.read(raw)?),
            Some(b'n') => NodeValue::Null,
            Some(b't' | b'f') => NodeValue::Bool(self.read(raw)?),
            _ => NodeValue::Number(number(raw.get())),
        };
        Some(Node { value, place })
    }

    fn entries(
        &mut self,
        members: Vec<(&'t RawValue, &'t RawValue)>,
        depth: usize,
    ) -> Option<Vec<TableEntry>> {
        let mut entries = Vec::new();
        for (name, value) in members {
            entries.push(TableEntry {
                place: self.place(name),
                name: self.read(name)?,
                node: self.node(value, depth)?,
            });
        }
        Some(entries)
    }

    /// One level; an error inside is reported at the beginning of this value.
    fn read<T: Deserialize<'t>>(&mut self, raw: &'t RawValue) -> Option<T> {
        match serde_json::from_str(raw.get()) {
            Ok(value) => Some(value),
            Err(error) => {
                let place = self.place(raw);
                self.errors.push("", place, syntax(&error));
                None
            }
        }
    }
}

fn number(text: &str) -> NumberText {
    NumberText {
        text: text.to_owned(),
        whole: text.parse().ok(),
    }
}

/// The members of an object in their order, repeated names too.
struct ObjectMembers<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'t> Deserialize<'t> for ObjectMembers<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'t> Visitor<'t> for InOrder {
            type Value = ObjectMembers<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(
                self,
                mut map: A,
            ) -> Result<ObjectMembers<'t>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(ObjectMembers(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A value that was parsed elsewhere: it has no places. None if it nests too deep.
pub(in crate::policy) fn convert(value: &serde_json::Value, depth: usize) -> Option<Node> {
    use serde_json::Value as Json;
    let depth = depth.checked_sub(1)?;
    let value = match value {
        Json::Null => NodeValue::Null,
        Json::Bool(flag) => NodeValue::Bool(*flag),
        Json::Number(found) => NodeValue::Number(number(&found.to_string())),
        Json::String(text) => NodeValue::Text(text.clone()),
        Json::Array(items) => {
            let nodes = items.iter().map(|item| convert(item, depth));
            NodeValue::List(nodes.collect::<Option<_>>()?)
        }
        Json::Object(members) => {
            let entries = members.iter().map(|(name, value)| {
                Some(TableEntry {
                    name: name.clone(),
                    place: None,
                    node: convert(value, depth)?,
                })
            });
            NodeValue::Table(entries.collect::<Option<_>>()?)
        }
    };
    Some(Node { value, place: None })
}
