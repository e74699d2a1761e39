//! Arguments, results and contents: JSON that is carried, not looked into.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::digester::reduced_json;

/// Any JSON value, kept as its text. Its `Debug` form shows only its length, so that what an agent
/// handles does not end up in somebody's diagnostics.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct Payload(Box<RawValue>);

impl Payload {
    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// The nearest JSON that every reader understands the same way; the text of it, if there is none.
    pub(crate) fn reduced(&self) -> Self {
        let reduced = reduced_json(self.as_json());
        let raw = reduced.and_then(|text| RawValue::from_string(text).ok());
        raw.map_or_else(|| Self::from(self.as_json()), Self)
    }

    /// What can always be written: a text, or a value, whose keys are all texts.
    fn written(value: &(impl Serialize + ?Sized)) -> Self {
        Self(to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.as_json().len())
    }
}

impl From<Box<RawValue>> for Payload {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<&RawValue> for Payload {
    fn from(raw: &RawValue) -> Self {
        Self(raw.to_owned())
    }
}

impl From<&Value> for Payload {
    fn from(value: &Value) -> Self {
        Self::written(value)
    }
}

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Self::written(&value)
    }
}

impl From<&str> for Payload {
    /// A JSON string with this text.
    fn from(text: &str) -> Self {
        Self::written(text)
    }
}

impl From<String> for Payload {
    /// A JSON string with this text.
    fn from(text: String) -> Self {
        Self::written(&text)
    }
}
