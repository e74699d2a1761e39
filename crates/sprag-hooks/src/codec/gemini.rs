//! Gemini CLI.
//!
//! It has no tool-use id and no agent id: a call and its step are paired by what was called, and sub-agents
//! act in the name of the session. Its shell tool puts a process id into every result.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::Payload;

use super::snake_payload::{self, SnakePayload};
use crate::client::Client;
use crate::output::{ToolOutput, without_client_lines};
use crate::parsed_hook::{Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse};
use crate::reply::{Question, Reply};

/// The tool by which a sub-agent hands over its result. It does nothing, and all sub-agents act in the name
/// of the session: a dozen that end alike would look like one in a loop.
const HAND_OVER: &str = "complete_task";

pub(super) fn phase(event: &str) -> HookPhase {
    match event {
        "BeforeAgent" => HookPhase::Prompt,
        "BeforeTool" => HookPhase::Before,
        "AfterTool" => HookPhase::After,
        "SessionStart" => HookPhase::Start,
        _ => HookPhase::Ignored,
    }
}

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<ParsedHook, ReadError> {
    let fields: SnakePayload<'_> = serde_json::from_slice(payload)?;
    let event = fields.event(registered)?;
    let phase = match fields.tool_name.as_deref() {
        Some(HAND_OVER) => HookPhase::Ignored,
        _ => phase(event),
    };
    let mut hook = ParsedHook::new(phase, event, Dialect::Gemini);
    hook.events = match phase {
        HookPhase::Prompt => vec![actor(&fields)?.prompt(snake_payload::payload(fields.prompt))?],
        HookPhase::Before => vec![actor(&fields)?.call(&used(&fields)?)?],
        HookPhase::After => vec![actor(&fields)?.step(&used(&fields)?, outcome(&fields))?],
        _ => Vec::new(),
    };
    hook.spender = actor(&fields)
        .ok()
        .and_then(|actor| fields.spender(Client::Gemini, actor, |_, _| None));
    hook.replaced_result = fields.tool_response.and_then(error_message);
    Ok(hook)
}

fn actor(fields: &SnakePayload<'_>) -> Result<Actor, ReadError> {
    let root = fields.session()?.to_owned();
    Ok(Actor {
        sub: None,
        agent: Client::Gemini.as_str().to_owned(),
        flow: root.clone(),
        root,
    })
}

fn used(fields: &SnakePayload<'_>) -> Result<ToolUse, ReadError> {
    let (server, tool) = match &fields.mcp_context {
        Some(mcp) => (Some(mcp.server_name.clone()), mcp.tool_name.clone()),
        None => (None, fields.tool()?.to_owned()),
    };
    Ok(ToolUse {
        server,
        tool,
        args: snake_payload::payload(fields.tool_input),
        id: None,
        is_global: false,
    })
}

fn outcome(fields: &SnakePayload<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Response<'p> {
        #[serde(borrow)]
        llm_content: Option<&'p RawValue>,
        #[serde(borrow)]
        error: Option<&'p RawValue>,
    }
    let nothing = ToolOutcome {
        result: None,
        is_error: false,
    };
    let Some(raw) = fields.tool_response else {
        return nothing;
    };
    let Ok(response) = serde_json::from_str::<Response<'_>>(raw.get()) else {
        return ToolOutcome {
            result: Some(raw.into()),
            ..nothing
        };
    };
    let text = response.llm_content.and_then(|content| {
        snake_payload::text(content).or_else(|| snake_payload::block_texts(content))
    });
    let failed = response.error.is_some();
    match text {
        Some(text) => {
            let ToolOutput { text, failed: exit } = without_client_lines(&text);
            ToolOutcome {
                result: Some(text.into()),
                is_error: failed || exit,
            }
        }
        None => ToolOutcome {
            result: response.llm_content.map(Payload::from),
            is_error: failed,
        },
    }
}

/// What the model reads instead of the result of a tool that failed.
fn error_message(response: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct ToolError {
        message: String,
    }
    #[derive(Deserialize)]
    struct Failed {
        error: ToolError,
    }
    let failed: Failed = serde_json::from_str(response.get()).ok()?;
    Some(failed.error.message)
}

pub(super) fn write(hook: &ParsedHook, reply: &Reply) -> Option<Value> {
    let (phase, event) = (hook.phase, hook.event_name.as_str());
    match (reply, phase) {
        (Reply::Silent, _) => None,
        (Reply::Unchecked(text), _) => Some(json!({"systemMessage": text})),
        (
            Reply::Ask(Question {
                refusal: reason, ..
            })
            | Reply::Refuse(reason),
            HookPhase::Before | HookPhase::Prompt,
        ) => Some(json!({"decision": "deny", "reason": reason})),
        (Reply::Stop(reason), HookPhase::Before | HookPhase::Prompt) => Some(json!({
            "decision": "deny", "reason": reason, "continue": false, "stopReason": reason,
        })),
        (Reply::Stop(reason), _) => Some(json!({"continue": false, "stopReason": reason})),
        // Before a tool nothing can be said to the model; the person at least is told.
        (Reply::Note(text), HookPhase::Before) => Some(json!({"systemMessage": text})),
        // Context is dropped after a tool that failed; a reason takes the place of its error.
        (Reply::Note(text), HookPhase::After) if hook.replaced_result.is_some() => {
            let error = hook.replaced_result.as_deref().unwrap_or_default();
            Some(json!({"decision": "block", "reason": format!("{error}\n\n{text}")}))
        }
        (
            Reply::Note(text) | Reply::Ask(Question { refusal: text, .. }) | Reply::Refuse(text),
            _,
        ) => Some(json!({
            "hookSpecificOutput": {"hookEventName": event, "additionalContext": text},
        })),
    }
}
