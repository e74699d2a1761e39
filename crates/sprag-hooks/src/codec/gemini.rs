//! Gemini CLI.
//!
//! It has no tool-use id and no agent id: a call and its step are paired by what was called, and sub-agents
//! act in the name of the session. Its shell tool puts a process id into every result.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::Payload;

use super::snake::{self, Snake};
use crate::client::Client;
use crate::printed::{Printed, without_client_lines};
use crate::reading::{Dialect, Moment, Outcome, ReadError, Reading, Used, Who};
use crate::reply::Reply;

/// The tool by which a sub-agent hands over its result. It does nothing, and all sub-agents act in the name
/// of the session: a dozen that end alike would look like one in a loop.
const HAND_OVER: &str = "complete_task";

pub(super) fn moment(event: &str) -> Moment {
    match event {
        "BeforeAgent" => Moment::Prompt,
        "BeforeTool" => Moment::Before,
        "AfterTool" => Moment::After,
        _ => Moment::Elsewhere,
    }
}

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<Reading, ReadError> {
    let fields: Snake<'_> = serde_json::from_slice(payload)?;
    let event = fields.event(registered)?;
    let moment = match fields.tool_name.as_deref() {
        Some(HAND_OVER) => Moment::Elsewhere,
        _ => moment(event),
    };
    let events = match moment {
        Moment::Prompt => vec![who(&fields)?.prompt(snake::payload(fields.prompt))?],
        Moment::Before => vec![who(&fields)?.call(&used(&fields)?)?],
        Moment::After => vec![who(&fields)?.step(&used(&fields)?, outcome(&fields))?],
        _ => Vec::new(),
    };
    Ok(Reading {
        moment,
        event_name: event.to_owned(),
        dialect: Dialect::Gemini,
        events,
    })
}

fn who(fields: &Snake<'_>) -> Result<Who, ReadError> {
    let root = fields.session()?.to_owned();
    Ok(Who {
        sub: None,
        agent: Client::Gemini.as_str().to_owned(),
        flow: root.clone(),
        root,
    })
}

fn used(fields: &Snake<'_>) -> Result<Used, ReadError> {
    let (server, tool) = match &fields.mcp_context {
        Some(mcp) => (Some(mcp.server_name.clone()), mcp.tool_name.clone()),
        None => (None, fields.tool()?.to_owned()),
    };
    Ok(Used {
        server,
        tool,
        args: snake::payload(fields.tool_input),
        id: None,
        is_global: false,
    })
}

fn outcome(fields: &Snake<'_>) -> Outcome {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Response<'p> {
        #[serde(borrow)]
        llm_content: Option<&'p RawValue>,
        #[serde(borrow)]
        error: Option<&'p RawValue>,
    }
    let nothing = Outcome {
        result: None,
        is_error: false,
    };
    let Some(raw) = fields.tool_response else {
        return nothing;
    };
    let Ok(response) = serde_json::from_str::<Response<'_>>(raw.get()) else {
        return Outcome {
            result: Some(raw.into()),
            ..nothing
        };
    };
    let text = response
        .llm_content
        .and_then(|content| snake::text(content).or_else(|| snake::block_texts(content)));
    let failed = response.error.is_some();
    match text {
        Some(text) => {
            let Printed { text, failed: exit } = without_client_lines(&text);
            Outcome {
                result: Some(text.into()),
                is_error: failed || exit,
            }
        }
        None => Outcome {
            result: response.llm_content.map(Payload::from),
            is_error: failed,
        },
    }
}

pub(super) fn write(moment: Moment, event: &str, reply: &Reply) -> Option<Value> {
    match (reply, moment) {
        (Reply::Silent, _) => None,
        (Reply::Unchecked(text), _) => Some(json!({"systemMessage": text})),
        (Reply::Refuse(reason), Moment::Before | Moment::Prompt) => {
            Some(json!({"decision": "deny", "reason": reason}))
        }
        (Reply::Stop(reason), Moment::Before | Moment::Prompt) => Some(json!({
            "decision": "deny", "reason": reason, "continue": false, "stopReason": reason,
        })),
        (Reply::Stop(reason), _) => Some(json!({"continue": false, "stopReason": reason})),
        // Before a tool nothing can be said to the model; the person at least is told.
        (Reply::Note(text), Moment::Before) => Some(json!({"systemMessage": text})),
        (Reply::Note(text) | Reply::Refuse(text), _) => Some(json!({
            "hookSpecificOutput": {"hookEventName": event, "additionalContext": text},
        })),
    }
}
