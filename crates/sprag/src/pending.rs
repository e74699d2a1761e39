//! Stand-ins for the parts of `sprag-core` that are being written.

use serde_json::Value;
use sprag_core::Timestamp;

/// Stand-in for an event on the wire.
#[derive(Debug, Clone)]
pub struct Event(Value);

impl Event {
    /// Reads an event.
    pub fn parse(bytes: &[u8]) -> Result<Self, EventError> {
        let value: Value = serde_json::from_slice(bytes).map_err(|e| EventError(e.to_string()))?;
        match value.get("type").and_then(Value::as_str) {
            Some("call" | "step" | "message" | "usage") => Ok(Self(value)),
            Some(other) => Err(EventError(format!("unknown event type `{other}`"))),
            None => Err(EventError("an event needs a `type`".to_owned())),
        }
    }

    /// When it happened.
    #[must_use]
    pub fn at(&self) -> Option<Timestamp> {
        self.0.get("at").and_then(Value::as_u64).map(Timestamp)
    }
}

/// Stand-in for why an event is none.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct EventError(String);

/// Stand-in for a policy.
#[derive(Debug, Clone, Default)]
pub struct Policy(Value);

impl Policy {
    /// Reads a policy.
    pub fn from_value(value: &Value) -> Result<Self, PolicyErrors> {
        if value.is_object() {
            Ok(Self(value.clone()))
        } else {
            Err(PolicyErrors("a policy is an object".to_owned()))
        }
    }
}

/// Stand-in for what is wrong with a policy.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct PolicyErrors(String);
