//! Messages that the guard and a server may read differently.
//!
//! JSON does not define which of two equal keys counts, and some parsers (those of Go and .NET by default) find a key
//! without regard for case. A guard that judges one call while the server runs another is useless, so such a message is
//! refused with the reason.

use crate::duplicate_keys;
use crate::envelope::{Envelope, folded, odd_call_key};

/// The method of a call.
pub(crate) const CALL: &str = "tools/call";

/// Why a server may read another message than the guard.
pub(crate) fn message(message: &Envelope<'_>) -> Option<String> {
    if let Some(key) = &message.odd_key {
        return Some(format!(
            "this message was not passed on: some servers read the key {key:?} without its case; write it in lower case"
        ));
    }
    let method = message.method()?;
    if method == CALL || folded(method.trim()) != CALL {
        return None;
    }
    Some(format!(
        "this message was not passed on: some servers read the method {method:?} as {CALL:?}; write it so"
    ))
}

/// Why a server may read another call than the guard.
pub(crate) fn call(bytes: &[u8], message: &Envelope<'_>) -> Option<String> {
    if let Err(why) = duplicate_keys::check(bytes) {
        return Some(format!(
            "this call was not passed on: {why}, so that guard and server could read different calls"
        ));
    }
    let key = message.params.and_then(odd_call_key)?;
    Some(format!(
        "this call was not passed on: some servers read the key {key:?} without its case"
    ))
}
