//! A request of the Chat Completions API with the guard's warnings in it, and no other byte changed.

use sprag_mcp::splice;

use super::request::Body;
use crate::content::with_text;
use crate::request::RequestChanges;

/// The body with every change; none if there is nothing to change.
pub(crate) fn change(body: &[u8], changes: &RequestChanges) -> Option<Vec<u8>> {
    if changes.warnings.is_empty() {
        return None;
    }
    let read: Body<'_> = serde_json::from_slice(body).ok()?;
    let mut splices = Vec::new();
    for message in &read.messages {
        let warning = changes.warning(message.tool_call_id.as_deref());
        let content = warning.zip(message.content);
        splices.extend(content.and_then(|(text, content)| with_text(body, content, text, "text")));
    }
    (!splices.is_empty()).then(|| splice::apply(body, splices))
}
