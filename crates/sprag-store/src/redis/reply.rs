//! Taking answers of Redis apart.

use redis::{RedisError, Value};

/// The bytes of a text.
pub(super) fn text(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        _ => None,
    }
}

/// A number, as one or as a text.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        other => std::str::from_utf8(text(other)?).ok()?.parse().ok(),
    }
}

/// The parts of a list.
pub(super) fn list(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

/// What is wrong, for people: a timeout is told by the system as if it were short of something.
pub(super) fn why(error: &RedisError) -> String {
    if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        error.to_string()
    }
}

/// An answer that makes no sense.
pub(super) fn unexpected_reply() -> RedisError {
    RedisError::from((redis::ErrorKind::UnexpectedReturnType, "an odd answer"))
}
