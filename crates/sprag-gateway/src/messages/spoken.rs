//! An answer of the gateway's own in the Messages API.

use serde_json::json;

use super::stream::{end, text_block};
use crate::request::ModelRequest;
use crate::sse::{event, put};

/// One text and a normal end, streamed if the client asked for that.
pub(crate) fn spoken(request: &ModelRequest, text: &str) -> Vec<u8> {
    let mut message = json!({
        "id": "msg_sprag", "type": "message", "role": "assistant", "model": request.model,
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    });
    if !request.stream {
        return message.to_string().into_bytes();
    }
    put(&mut message, "content", json!([]));
    put(&mut message, "stop_reason", json!(null));
    let start = json!({"type": "message_start", "message": message});
    let mut out = event(Some("message_start"), &start);
    out.extend(text_block(0, text));
    out.extend(end(0));
    out
}
