//! An answer of the gateway's own in the Chat Completions API.

use serde_json::{Value, json};

use crate::request::ModelRequest;
use crate::sse::{event, put};

/// One text and a normal end, streamed if the client asked for that.
pub(crate) fn spoken(request: &ModelRequest, text: &str) -> Vec<u8> {
    let usage = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    let frame = |object: &str, choices: Value| {
        json!({"id": "chatcmpl-sprag", "object": object, "created": 0, "model": request.model,
            "choices": choices})
    };
    if !request.stream {
        let message = json!({"role": "assistant", "content": text, "refusal": null});
        let choice =
            json!({"index": 0, "message": message, "finish_reason": "stop", "logprobs": null});
        let mut whole = frame("chat.completion", json!([choice]));
        put(&mut whole, "usage", usage);
        return whole.to_string().into_bytes();
    }
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        event(None, &frame("chat.completion.chunk", json!([choice])))
    };
    let mut out = chunk(json!({"role": "assistant", "content": text}), Value::Null);
    out.extend(chunk(json!({}), json!("stop")));
    if request.include_usage {
        let mut last = frame("chat.completion.chunk", json!([]));
        put(&mut last, "usage", usage);
        out.extend(event(None, &last));
    }
    out.extend_from_slice(b"data: [DONE]\n\n");
    out
}
