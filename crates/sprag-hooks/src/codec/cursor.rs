//! Cursor, by its documentation: it can't be installed where our tests run.
//!
//! `preToolUse` and its two sisters see every tool, shell and MCP too, so the older events for those are not
//! used: they would tell each call twice.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::{MessageKind, Payload};

use super::claude::agent_of;
use super::snake_payload;
use crate::client::Client;
use crate::parsed_hook::{Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse};
use crate::reply::{Question, Reply};
use crate::tool_name;

#[derive(Debug, Deserialize)]
struct CursorPayload<'p> {
    hook_event_name: Option<String>,
    conversation_id: Option<String>,
    generation_id: Option<String>,
    tool_name: Option<String>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    tool_input: Option<&'p RawValue>,
    #[serde(borrow)]
    tool_output: Option<&'p RawValue>,
    #[serde(borrow)]
    error_message: Option<&'p RawValue>,
    #[serde(borrow)]
    prompt: Option<&'p RawValue>,
    subagent_id: Option<String>,
    subagent_type: Option<String>,
}

pub(super) fn phase(event: &str) -> HookPhase {
    match event {
        "beforeSubmitPrompt" => HookPhase::Prompt,
        "preToolUse" => HookPhase::Before,
        "postToolUse" | "postToolUseFailure" => HookPhase::After,
        "subagentStart" => HookPhase::Spawn,
        "subagentStop" => HookPhase::Return,
        "sessionStart" => HookPhase::Start,
        _ => HookPhase::Ignored,
    }
}

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<ParsedHook, ReadError> {
    let fields: CursorPayload<'_> = serde_json::from_slice(payload)?;
    let event = fields.hook_event_name.as_deref().or(registered);
    let event = event.ok_or(ReadError::Missing("hook_event_name"))?;
    let phase = phase(event);
    let mut hook = ParsedHook::new(phase, event, Dialect::Cursor);
    hook.events = events(phase, &fields)?;
    Ok(hook)
}

fn events(phase: HookPhase, fields: &CursorPayload<'_>) -> Result<Vec<sprag::Event>, ReadError> {
    if matches!(
        phase,
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored
    ) {
        return Ok(Vec::new());
    }
    let root = fields.conversation_id.clone();
    let root = root.ok_or(ReadError::Missing("conversation_id"))?;
    let flow = match &fields.generation_id {
        Some(generation) => format!("{root}:{generation}"),
        None => root.clone(),
    };
    let actor = Actor {
        agent: Client::Cursor.as_str().to_owned(),
        sub: None,
        root,
        flow,
    };
    Ok(match phase {
        HookPhase::Prompt => vec![actor.prompt(snake_payload::payload(fields.prompt))?],
        HookPhase::Before => vec![actor.call(&used(fields)?)?],
        HookPhase::After => {
            let outcome = ToolOutcome {
                result: fields
                    .error_message
                    .or(fields.tool_output)
                    .map(Payload::from),
                is_error: fields.error_message.is_some(),
            };
            vec![actor.step(&used(fields)?, outcome)?]
        }
        // Without an id there is nobody to name.
        HookPhase::Spawn | HookPhase::Return => match &fields.subagent_id {
            None => Vec::new(),
            Some(child) => {
                let kind = match phase {
                    HookPhase::Return => MessageKind::Return,
                    _ => MessageKind::Spawn,
                };
                let agent = agent_of(fields.subagent_type.as_deref(), Client::Cursor);
                vec![actor.sub_agent_message(kind, child, &agent)?]
            }
        },
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored => Vec::new(),
    })
}

fn used(fields: &CursorPayload<'_>) -> Result<ToolUse, ReadError> {
    let name = fields.tool_name.as_deref();
    let name = name.ok_or(ReadError::Missing("tool_name"))?;
    // A tool of an MCP server comes as `MCP:tool`, without the server's name.
    let (server, tool) = match name.strip_prefix("MCP:") {
        Some(tool) => (None, tool.trim().to_owned()),
        None => tool_name::double_underscore(name),
    };
    Ok(ToolUse {
        server,
        tool,
        args: snake_payload::payload(fields.tool_input),
        id: fields.tool_use_id.clone(),
        is_global: true,
    })
}

pub(super) fn write(phase: HookPhase, reply: &Reply) -> Option<Value> {
    match (reply, phase) {
        (Reply::Silent, _) => None,
        (Reply::Unchecked(text), _) => Some(json!({"user_message": text})),
        (Reply::Ask(question), HookPhase::Before) => Some(json!({
            "permission": "ask", "user_message": question.person, "agent_message": question.refusal,
        })),
        (Reply::Refuse(text) | Reply::Stop(text), HookPhase::Before | HookPhase::Spawn) => {
            Some(json!({"permission": "deny", "user_message": text, "agent_message": text}))
        }
        (Reply::Refuse(text) | Reply::Stop(text), HookPhase::Prompt) => {
            Some(json!({"continue": false, "user_message": text}))
        }
        (Reply::Note(text), HookPhase::Before) => {
            Some(json!({"permission": "allow", "agent_message": text}))
        }
        (
            Reply::Note(text)
            | Reply::Ask(Question { refusal: text, .. })
            | Reply::Refuse(text)
            | Reply::Stop(text),
            _,
        ) => Some(json!({"additional_context": text})),
    }
}
