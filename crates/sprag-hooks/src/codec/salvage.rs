//! What is left of a payload that no codec can read: the session that it names.
//!
//! A payload may be cut off, have a number for a name, or be too long. If it still names its session,
//! the call is judged as a call of that session, so that a session that was stopped stays stopped.

use serde_json::{Map, Value};
use sprag_core::{Payload, reduced_json};

use super::{dialect, phase};
use crate::client::Client;
use crate::parsed_hook::{Actor, HookPhase, ParsedHook, ToolUse};

/// The names under which clients put the session.
const SESSION: [&str; 4] = ["session_id", "sessionId", "conversation_id", "root"];
/// The names under which clients put the sub-agent.
const SUB_AGENT: [&str; 3] = ["agent_id", "agentId", "child"];
/// The names under which clients put the tool.
const TOOL: [&str; 3] = ["tool_name", "toolName", "tool"];
/// The tool of a payload that names none.
const UNREADABLE: &str = "unreadable";
/// How much of a payload is looked at.
const MAX_LOOKED_AT: usize = 256 * 1024;

/// A hook with a call in it, if the payload names a session and stands before a call.
pub(crate) fn salvage(client: Client, payload: &[u8], event: Option<&str>) -> ParsedHook {
    let text = String::from_utf8_lossy(payload.get(..MAX_LOOKED_AT).unwrap_or(payload));
    let fields = reduced_json(&text).and_then(|text| serde_json::from_str(&text).ok());
    let fields: Map<String, Value> = fields.unwrap_or_default();
    let find = |names: &[&str]| {
        let mut names = names.iter();
        names.find_map(|name| scalar(fields.get(*name)).or_else(|| quoted(&text, name)))
    };
    let named = event.map(str::to_owned);
    let event_name = named.or_else(|| find(&["hook_event_name", "event"]));
    let event_name = event_name.unwrap_or_default();
    let mut hook = ParsedHook::new(phase(client, &event_name), &event_name, dialect(client));
    if hook.phase != HookPhase::Before {
        return hook;
    }
    let Some(root) = find(&SESSION) else {
        return hook;
    };
    let actor = Actor {
        flow: root.clone(),
        root,
        sub: find(&SUB_AGENT),
        agent: client.as_str().to_owned(),
    };
    let used = ToolUse {
        server: None,
        tool: find(&TOOL).unwrap_or_else(|| UNREADABLE.to_owned()),
        args: Some(Payload::from(text.as_ref())),
        id: None,
        is_global: false,
    };
    hook.events.extend(actor.call(&used).ok());
    hook
}

/// A field as a name, whatever it is.
fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The string after `"name":` in a text that is not JSON.
fn quoted(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("\"{name}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let value = rest.strip_prefix('"')?;
    let end = value.find('"')?;
    value.get(..end).map(str::to_owned)
}
