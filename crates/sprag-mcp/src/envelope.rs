//! The envelope of a message: the few members that show whether it concerns the guard.
//!
//! A proxy that parses messages into types and writes them out again loses what it does not know:
//! fields of a later revision, key order, long numbers. So a message stays the bytes it came as, and only
//! these members are located in it. Everything else is skipped, not parsed.

use std::borrow::Cow;

use serde::de::MapAccess;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use sprag_http::strict_path::folded;

/// The members of a JSON-RPC message that show what it is. An `id` or `result` of null counts as present.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'m> {
    pub(crate) id: Option<&'m RawValue>,
    pub(crate) method: Option<&'m RawValue>,
    pub(crate) params: Option<&'m RawValue>,
    pub(crate) result: Option<&'m RawValue>,
    pub(crate) error: Option<&'m RawValue>,
    /// A key that only a parser without regard for case takes for one of these, as `Method`.
    pub(crate) odd_key: Option<String>,
}

impl<'de: 'm, 'm> Deserialize<'de> for Envelope<'m> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Envelope<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON-RPC message")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut message = Envelope::default();
                while let Some(Key(key)) = map.next_key()? {
                    let raw: &RawValue = map.next_value()?;
                    let (slot, keeps_null) = match &*key {
                        "id" => (&mut message.id, true),
                        "method" => (&mut message.method, false),
                        "params" => (&mut message.params, false),
                        "result" => (&mut message.result, true),
                        "error" => (&mut message.error, false),
                        other => {
                            if is_odd(other, &ENVELOPE_KEYS) {
                                message.odd_key = Some(other.to_owned());
                            }
                            continue;
                        }
                    };
                    if slot.is_some() {
                        return Err(serde::de::Error::custom("a key is there twice"));
                    }
                    *slot = Some(raw).filter(|raw| keeps_null || raw.get() != "null");
                }
                Ok(message)
            }
        }
        from.deserialize_map(Visitor)
    }
}

const ENVELOPE_KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// What a server reads of the parameters of a call.
const CALL_KEYS: [&str; 6] = [
    "name",
    "arguments",
    "_meta",
    "inputresponses",
    "requeststate",
    "task",
];

/// A longer key is nobody's idea of a short one: most of it would have to be characters that nobody sees.
const MAX_ODD_KEY: usize = 4096;

/// Whether a parser without regard for case takes `key` for one of `known`, which it is not.
fn is_odd(key: &str, known: &[&str]) -> bool {
    if key.len() > MAX_ODD_KEY || known.contains(&key) {
        return false;
    }
    let folded = folded(key);
    known.iter().any(|known| *known == folded)
}

/// A key, borrowed unless it holds escapes.
#[derive(Deserialize)]
struct Key<'m>(#[serde(borrow)] Cow<'m, str>);

impl<'m> Envelope<'m> {
    /// Reads one message; a batch or an invalid text gives none.
    pub(crate) fn read(bytes: &'m [u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The method of a request or a notification.
    pub(crate) fn method(&self) -> Option<Cow<'m, str>> {
        text(self.method?)
    }
}

/// The messages of a batch; none if it is not one.
pub(crate) fn batch(bytes: &[u8]) -> Option<Vec<&RawValue>> {
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    serde_json::from_slice(bytes).ok()
}

/// The parameters of `tools/call`.
#[derive(Debug, Deserialize)]
pub(crate) struct CallParams<'m> {
    #[serde(borrow)]
    pub(crate) name: &'m RawValue,
    #[serde(default, borrow)]
    pub(crate) arguments: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "_meta")]
    pub(crate) meta: Option<&'m RawValue>,
    /// The input that the server asked for in an earlier round (2026-07-28).
    #[serde(default, borrow, rename = "inputResponses")]
    pub(crate) input_responses: Option<&'m RawValue>,
    /// The state that the server gave along for the next round (2026-07-28).
    #[serde(default, borrow, rename = "requestState")]
    pub(crate) request_state: Option<&'m RawValue>,
    /// Asks for a task instead of a result (2025-11-25).
    #[serde(default, borrow)]
    pub(crate) task: Option<&'m RawValue>,
}

/// A key of `params` that only a parser without regard for case takes for one of a call's, as `Name`.
pub(crate) fn odd_call_key(params: &RawValue) -> Option<String> {
    let Members(members) = parse(params)?;
    let is_camel = |key: &str| matches!(key, "inputResponses" | "requestState");
    let is_odd = |key: &String| !is_camel(key) && is_odd(key, &CALL_KEYS);
    members.into_iter().map(|(key, _)| key).find(is_odd)
}

/// The members of a result that show the outcome of a call.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ResultEnvelope<'m> {
    #[serde(default, borrow, rename = "resultType")]
    pub(crate) result_type: Option<&'m RawValue>,
    #[serde(default, borrow)]
    pub(crate) content: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "structuredContent")]
    pub(crate) structured: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "isError")]
    pub(crate) is_error: Option<&'m RawValue>,
    /// A task of 2025-11-25.
    #[serde(default, borrow)]
    pub(crate) task: Option<&'m RawValue>,
    /// A task of 2026-07-28.
    #[serde(default, borrow, rename = "taskId")]
    pub(crate) task_id: Option<&'m RawValue>,
    #[serde(default, borrow)]
    pub(crate) status: Option<&'m RawValue>,
    /// The result of a finished task of 2026-07-28.
    #[serde(default, borrow)]
    pub(crate) result: Option<&'m RawValue>,
    #[serde(default, borrow)]
    pub(crate) error: Option<&'m RawValue>,
}

impl<'m> ResultEnvelope<'m> {
    /// Reads a result; one that is not an object has no members.
    pub(crate) fn read(raw: &'m RawValue) -> Self {
        parse(raw).unwrap_or_default()
    }

    pub(crate) fn is_error(&self) -> bool {
        self.is_error.is_some_and(|raw| raw.get() == "true")
    }

    pub(crate) fn is_input_required(&self) -> bool {
        self.has_type("input_required")
    }

    pub(crate) fn has_type(&self, word: &str) -> bool {
        self.result_type.and_then(text).as_deref() == Some(word)
    }

    /// The id of the task that was created instead of a result.
    pub(crate) fn made_task(&self) -> Option<Cow<'m, str>> {
        if let Some(task) = self.task {
            return member(task, "taskId");
        }
        if self.has_type("task") {
            return text(self.task_id?);
        }
        None
    }
}

/// The string member `name` of an object.
pub(crate) fn member<'m>(object: &'m RawValue, name: &str) -> Option<Cow<'m, str>> {
    text(raw_member(object, name)?)
}

/// The member `name` of an object.
pub(crate) fn raw_member<'m>(object: &'m RawValue, name: &str) -> Option<&'m RawValue> {
    let members: Members<'m> = parse(object)?;
    let mut members = members.0.into_iter();
    members.find(|(key, _)| key == name).map(|(_, raw)| raw)
}

/// All members of an object, in order.
#[derive(Debug)]
pub(crate) struct Members<'m>(pub(crate) Vec<(String, &'m RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Visitor)
    }
}

/// Parses a part of a message.
pub(crate) fn parse<'m, T: Deserialize<'m>>(raw: &'m RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// A JSON string without its escapes; none for anything else.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}
