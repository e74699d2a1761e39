//! Reading Redis' replies, and naming what went wrong.

use redis::{RedisError, Value};

/// The bytes of a string; none if it is something else.
pub(super) fn text(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        _ => None,
    }
}

/// A number, which Redis sends as an integer or as a string.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        other => std::str::from_utf8(text(other)?).ok()?.parse().ok(),
    }
}

/// The items of a list; none if it is something else.
pub(super) fn list(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

/// The reason for people. The system reports a timeout as "Resource temporarily unavailable", which
/// misleads.
pub(super) fn why(error: &RedisError) -> String {
    if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        error.to_string()
    }
}

/// The error for a reply that does not have the expected form.
pub(super) fn unexpected_reply() -> RedisError {
    RedisError::from((redis::ErrorKind::UnexpectedReturnType, "unexpected reply"))
}
