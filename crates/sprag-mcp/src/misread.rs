//! Messages that the guard and a server may read differently.
//!
//! JSON does not define which of two equal keys counts, and some parsers (those of Go and .NET by default) find a key
//! without regard for case. Some drop characters that nobody sees, or end a text at a NUL. A guard that judges one call while the server runs another is useless, so such a message is
//! refused with the reason.

use crate::duplicate_keys;
use sprag_http::strict_path::folded;

use crate::envelope::{Envelope, odd_call_key};
use crate::refusal::{PARSE_ERROR, error};
use crate::stream_scan::StreamScan;

/// The method of a call.
pub(crate) const CALL: &str = "tools/call";

/// Why a server may read another message than the guard.
pub(crate) fn message(message: &Envelope<'_>) -> Option<String> {
    if let Some(key) = &message.odd_key {
        return Some(format!(
            "this message was not passed on: some servers read the key {key:?} as another; write it in plain lower case"
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
        "this call was not passed on: some servers read the key {key:?} as another"
    ))
}

/// The answer to a message that no strict parser accepts, if some server could read it as a call; `is_strict` refuses
/// whatever is not empty.
pub(crate) fn unreadable(is_strict: bool, bytes: &[u8]) -> Option<String> {
    let mut scan = StreamScan::default();
    scan.read(bytes);
    let is_batch = bytes.trim_ascii_start().first() == Some(&b'[');
    let names_call = || bytes.windows(10).any(|part| part == b"tools/call");
    let may_be_call = scan.is_call() || (is_batch && names_call());
    let is_refused = is_strict && !bytes.trim_ascii().is_empty();
    if !may_be_call && !is_refused {
        return None;
    }
    let why = "this call was not passed on: it is not one JSON message that everybody reads alike";
    let id = scan.id();
    let id = id.as_ref().map_or("null", |id| id.get());
    Some(error(id, PARSE_ERROR, why))
}
