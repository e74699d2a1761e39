//! The items of the Responses API, as far as they are looked at.

use serde_json::{Value, json};
use sprag_core::Payload;

use crate::content::arguments;
use crate::request::ToolCall;

/// Calls that the client runs. Others (web search, hosted MCP) the provider runs itself.
const CALLS: [&str; 5] = [
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
];

pub(super) fn text<'v>(item: &'v Value, name: &str) -> &'v str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn is_call(item: &Value) -> bool {
    CALLS.contains(&text(item, "type"))
}

/// The call that an item is; none if it is something else.
pub(super) fn call(item: &Value) -> Option<ToolCall> {
    let kind = text(item, "type");
    if !CALLS.contains(&kind) {
        return None;
    }
    let use_id = match text(item, "call_id") {
        "" => text(item, "id"),
        id => id,
    };
    let name = match text(item, "name") {
        "" => kind.strip_suffix("_call").unwrap_or(kind),
        name => name,
    };
    let (server, tool) = match text(item, "namespace").strip_prefix("mcp__") {
        Some(server) => (Some(server.to_owned()), name.to_owned()),
        None => (None, name.to_owned()),
    };
    let args = match kind {
        "function_call" => arguments(text(item, "arguments")),
        "custom_tool_call" => Payload::from(json!({"input": text(item, "input")})),
        _ => {
            let action = item.get("action").or_else(|| item.get("operation"));
            Payload::from(action.unwrap_or(&Value::Null))
        }
    };
    Some(ToolCall {
        use_id: use_id.to_owned(),
        server,
        tool,
        args,
        is_custom: kind == "custom_tool_call",
    })
}

/// What a message says.
pub(super) fn said(item: &Value) -> String {
    match item.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "text")).collect(),
        _ => String::new(),
    }
}

/// A message of ours.
pub(super) fn message(id: &str, said: &str) -> Value {
    json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": said, "annotations": []}],
    })
}
