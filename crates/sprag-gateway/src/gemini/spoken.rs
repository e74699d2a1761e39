//! An answer of the gateway's own in the words of `generateContent`.

use serde_json::{Map, Value, json};

use super::part::last;
use crate::request::ModelRequest;
use crate::sse::event;

/// One text and a normal end, in the mode that the client asked for.
pub(crate) fn spoken(request: &ModelRequest, text: &str) -> Vec<u8> {
    let usage = json!({"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0});
    let frame: Map<String, Value> = [
        ("usageMetadata", usage),
        ("modelVersion", json!(request.model)),
        ("responseId", json!("sprag")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect();
    let whole = last(text, &frame);
    match (request.stream, request.as_list) {
        (true, true) => json!([whole]).to_string().into_bytes(),
        (true, false) => event(None, &whole),
        (false, _) => whole.to_string().into_bytes(),
    }
}
