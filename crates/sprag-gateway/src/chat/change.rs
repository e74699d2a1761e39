//! A request of the Chat Completions API with the guard's warnings in it, and no other byte changed.

use serde_json::{Value, json};
use sprag_mcp::splice::{self, Splice, range_of};

use super::request::{Body, Message};
use crate::request::RequestChanges;

/// The body with every change; none if there is nothing to change.
pub(crate) fn change(body: &[u8], changes: &RequestChanges) -> Option<Vec<u8>> {
    if changes.warnings.is_empty() {
        return None;
    }
    let read: Body<'_> = serde_json::from_slice(body).ok()?;
    let mut splices = Vec::new();
    for message in &read.messages {
        let id = message.tool_call_id.as_deref();
        let warning = changes
            .warnings
            .iter()
            .find(|(use_id, _)| Some(use_id.as_str()) == id);
        splices.extend(warning.and_then(|(_, text)| beside(body, message, text)));
    }
    (!splices.is_empty()).then(|| splice::apply(body, splices))
}

/// The change that adds `text` to a result.
fn beside(body: &[u8], message: &Message<'_>, text: &str) -> Option<Splice> {
    let content = message.content?;
    let end = range_of(body, content)?.end - 1;
    match content.get().bytes().next()? {
        b'"' => {
            let text = Value::from(format!("\n\n{text}")).to_string();
            let inner = text.strip_prefix('"')?.strip_suffix('"')?;
            Some(Splice::insert(end, inner.to_owned()))
        }
        b'[' => {
            let inner = content.get().strip_prefix('[')?.strip_suffix(']')?;
            let comma = if inner.trim_ascii().is_empty() {
                ""
            } else {
                ","
            };
            let part = json!({"type": "text", "text": text});
            Some(Splice::insert(end, format!("{comma}{part}")))
        }
        _ => None,
    }
}
