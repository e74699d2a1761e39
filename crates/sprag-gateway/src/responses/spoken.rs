//! An answer of the gateway's own in the Responses API.

use serde_json::{Value, json};

use super::item::message;
use super::stream::{no_usage, spoken_item};
use crate::request::ModelRequest;
use crate::sse::{event, put};

/// One text and a normal end, streamed if the client asked for that.
pub(crate) fn spoken(request: &ModelRequest, text: &str) -> Vec<u8> {
    let item = message("sprag", text);
    let response = |status: &str, output: Value, usage: Value| {
        json!({
            "id": "resp_sprag", "object": "response", "created_at": 0, "status": status,
            "model": request.model, "output": output, "usage": usage, "error": null,
            "incomplete_details": null, "instructions": null, "metadata": {},
            "parallel_tool_calls": true, "temperature": null, "tool_choice": "auto", "tools": [],
            "top_p": null,
        })
    };
    let whole = response("completed", json!([item]), no_usage());
    if !request.stream {
        return whole.to_string().into_bytes();
    }
    let mut events = vec![(
        "response.created",
        json!({"response": response("in_progress", json!([]), Value::Null)}),
    )];
    events.extend(
        spoken_item(&item, text)
            .into_iter()
            .map(|(kind, mut rest)| {
                put(&mut rest, "output_index", json!(0));
                (kind, rest)
            }),
    );
    events.push(("response.completed", json!({"response": whole})));
    let mut out = Vec::new();
    for (number, (kind, mut rest)) in events.into_iter().enumerate() {
        put(&mut rest, "type", json!(kind));
        put(&mut rest, "sequence_number", json!(number));
        out.extend(event(Some(kind), &rest));
    }
    out
}
