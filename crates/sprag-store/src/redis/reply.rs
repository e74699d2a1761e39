//! Reading Redis' replies, and naming what went wrong.

use redis::{RedisError, Value};

use crate::in_force::StandingOrders;

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

/// The standing orders, as the scripts return them: the pause and the panic.
pub(super) fn read_orders(value: &Value) -> Option<StandingOrders> {
    let [pause, panic] = list(value)? else {
        return None;
    };
    StandingOrders::from_bytes(text(pause)?, text(panic)?).ok()
}

/// What the error codes of Redis mean for Sprag, and what to do.
const MEANINGS: [(&str, &str); 5] = [
    (
        "OOM",
        "it is out of memory and refuses to write; raise its `maxmemory`, or free some memory",
    ),
    (
        "WRONGTYPE",
        "a key of this namespace holds a value that Sprag did not write; give Sprag a namespace of \
         its own (--namespace)",
    ),
    (
        "FORMAT",
        "its namespace was written in another format; use the `sprag` that wrote it, or another namespace \
         (--namespace)",
    ),
    (
        "READONLY",
        "it is a read-only replica; give the address of the primary",
    ),
    (
        "NOPERM",
        "its user may not use all the commands and keys that Sprag needs",
    ),
];

/// The reason for people. The system reports a timeout as "Resource temporarily unavailable", which
/// misleads.
pub(super) fn why(error: &RedisError) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    // Redis before version 7 reports the code of a script's error inside of the text.
    let text = error.to_string();
    let is_meant = |code: &str| error.code() == Some(code) || text.contains(&format!(" {code} "));
    let meaning = MEANINGS.iter().find(|(code, _)| is_meant(code));
    meaning.map_or(text.clone(), |(_, meaning)| (*meaning).to_owned())
}

/// The error for a reply that does not have the expected form.
pub(super) fn unexpected_reply() -> RedisError {
    RedisError::from((redis::ErrorKind::UnexpectedReturnType, "unexpected reply"))
}
