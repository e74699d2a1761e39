//! Copilot CLI.
//!
//! Its own hooks get camelCase and answer flat; Claude's hooks, which it also runs, get `snake_case` and answer
//! nested, but context only counts at the top. There is no tool-use id, and no hook that ends a session. A hook that
//! crashes is a refusal, so whatever happens the answer must be well-formed.
//!
//! A sub-agent has a session id of its own and names its parent; below a sub-agent the root is not told, so a
//! sub-agent's sub-agent counts as one of its parent alone.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::{MessageKind, Payload};

use super::claude::agent_of;
use super::snake::{self, Snake};
use crate::client::Client;
use crate::printed::{Printed, without_shell_tag};
use crate::reading::{Dialect, Moment, Outcome, ReadError, Reading, Used, Who};
use crate::reply::Reply;
use crate::tool_name;

const HOW_TO_END: &str = "Copilot has no hook that ends a session, so every call is refused now. \
                          Stop and tell the user; the user ends it with Ctrl-C.";

/// The fields of a camelCase payload; for Claude's hooks some of them come in `snake_case`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Camel<'p> {
    session_id: Option<String>,
    tool_name: Option<String>,
    #[serde(borrow)]
    tool_args: Option<&'p RawValue>,
    #[serde(borrow)]
    tool_result: Option<&'p RawValue>,
    #[serde(borrow)]
    error: Option<&'p RawValue>,
    #[serde(borrow)]
    prompt: Option<&'p RawValue>,
    #[serde(alias = "agent_id")]
    agent_id: Option<String>,
    #[serde(alias = "agent_type")]
    agent_type: Option<String>,
    agent_name: Option<String>,
    #[serde(alias = "parent_agent_id")]
    parent_agent_id: Option<String>,
}

/// Whether a payload is in camelCase: the names of its session tell.
pub(super) fn is_camel(payload: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Session {
        #[serde(rename = "sessionId")]
        _id: String,
    }
    serde_json::from_slice::<Session>(payload).is_ok()
}

pub(super) fn moment(event: &str) -> Moment {
    match event {
        "userPromptSubmitted" => Moment::Prompt,
        "preToolUse" => Moment::Before,
        "postToolUse" | "postToolUseFailure" => Moment::After,
        "subagentStart" => Moment::Spawn,
        "subagentStop" => Moment::Return,
        other => snake::moment(other),
    }
}

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<Reading, ReadError> {
    if !is_camel(payload) {
        let fields: Snake<'_> = serde_json::from_slice(payload)?;
        return read_nested(&fields, registered);
    }
    let fields: Camel<'_> = serde_json::from_slice(payload)?;
    let event = match registered {
        Some(event) => event,
        None => guessed(&fields),
    };
    let moment = moment(event);
    // A hook that was registered in Claude's way is answered in Claude's way.
    let nested = snake::moment(event) != Moment::Elsewhere;
    Ok(Reading {
        moment,
        event_name: event.to_owned(),
        dialect: if nested {
            Dialect::CopilotNested
        } else {
            Dialect::Copilot
        },
        events: events(moment, &fields, fields.tool_args)?,
    })
}

/// The event of a payload that does not name it.
fn guessed(fields: &Camel<'_>) -> &'static str {
    if fields.tool_name.is_some() {
        match (fields.tool_result, fields.error) {
            (None, None) => "preToolUse",
            _ => "postToolUse",
        }
    } else if fields.prompt.is_some() {
        "userPromptSubmitted"
    } else {
        ""
    }
}

/// The payload that Copilot gives to Claude's hooks.
pub(super) fn read_nested(
    fields: &Snake<'_>,
    registered: Option<&str>,
) -> Result<Reading, ReadError> {
    let event = fields.event(registered)?;
    let moment = snake::moment(event);
    let camel = Camel {
        session_id: fields.session_id.clone(),
        tool_name: fields.tool_name.clone(),
        tool_args: fields.tool_input,
        tool_result: fields.tool_result,
        error: fields.error,
        prompt: fields.prompt,
        agent_id: fields.agent_id.clone(),
        agent_type: fields.agent_type.clone(),
        agent_name: None,
        parent_agent_id: fields.parent_agent_id.clone(),
    };
    Ok(Reading {
        moment,
        event_name: event.to_owned(),
        dialect: Dialect::CopilotNested,
        events: events(moment, &camel, fields.tool_input)?,
    })
}

fn who(fields: &Camel<'_>) -> Result<Who, ReadError> {
    let session = fields.session_id.clone();
    let session = session.ok_or(ReadError::Missing("sessionId"))?;
    // Inside a sub-agent the session is the sub-agent; at its start and end it is the parent.
    let (root, sub) = match (&fields.agent_id, &fields.parent_agent_id) {
        (Some(agent), Some(parent)) => (parent.clone(), Some(agent.clone())),
        (Some(agent), None) if *agent != session => (session, Some(agent.clone())),
        _ => (session, None),
    };
    let kind = fields
        .agent_type
        .as_deref()
        .or(fields.agent_name.as_deref());
    Ok(Who {
        flow: root.clone(),
        agent: agent_of(kind.filter(|_| sub.is_some()), Client::Copilot),
        root,
        sub,
    })
}

fn events(
    moment: Moment,
    fields: &Camel<'_>,
    args: Option<&RawValue>,
) -> Result<Vec<sprag::Event>, ReadError> {
    if moment == Moment::Elsewhere {
        return Ok(Vec::new());
    }
    let who = who(fields)?;
    let used = || {
        let tool = fields.tool_name.as_deref();
        let (server, tool) = tool_name::dash(tool.ok_or(ReadError::Missing("toolName"))?);
        Ok::<_, ReadError>(Used {
            server,
            tool,
            args: snake::payload(args),
            id: None,
            is_global: false,
        })
    };
    Ok(match moment {
        // A sub-agent's prompt was written by its parent.
        Moment::Prompt if who.sub.is_some() => Vec::new(),
        Moment::Prompt => vec![who.prompt(snake::payload(fields.prompt))?],
        Moment::Before => vec![who.call(&used()?)?],
        Moment::After => vec![who.step(&used()?, outcome(fields))?],
        Moment::Spawn | Moment::Return => {
            let child = who.sub.as_deref().ok_or(ReadError::Missing("agentId"))?;
            let parent = Who {
                sub: None,
                agent: Client::Copilot.as_str().to_owned(),
                ..who.clone()
            };
            let kind = match moment {
                Moment::Return => MessageKind::Return,
                _ => MessageKind::Spawn,
            };
            vec![parent.family(kind, child, &who.agent)?]
        }
        Moment::Elsewhere => Vec::new(),
    })
}

fn outcome(fields: &Camel<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct ToolResult {
        #[serde(alias = "resultType", alias = "result_type")]
        kind: Option<String>,
        #[serde(alias = "textResultForLlm", alias = "text_result_for_llm")]
        text: Option<String>,
    }
    if let Some(error) = fields.error {
        return Outcome {
            result: Some(error.into()),
            is_error: true,
        };
    }
    let read = fields
        .tool_result
        .and_then(|raw| serde_json::from_str::<ToolResult>(raw.get()).ok());
    let Some(ToolResult { kind, text }) = read else {
        return Outcome {
            result: fields.tool_result.map(Payload::from),
            is_error: false,
        };
    };
    let Printed { text, failed } = without_shell_tag(&text.unwrap_or_default());
    Outcome {
        result: Some(text.into()),
        is_error: failed || kind.is_some_and(|kind| kind != "success"),
    }
}

pub(super) fn write(moment: Moment, reply: &Reply) -> Option<Value> {
    let decision =
        |reason: &str| json!({"permissionDecision": "deny", "permissionDecisionReason": reason});
    match (reply, moment) {
        // It has no place for a word to the person alone.
        (Reply::Silent | Reply::Unchecked(_), _) => None,
        (Reply::Refuse(reason), Moment::Before) => Some(decision(reason)),
        (Reply::Stop(reason), Moment::Before) => Some(decision(&format!("{HOW_TO_END}\n{reason}"))),
        (Reply::Stop(text), _) => {
            Some(json!({"additionalContext": format!("{HOW_TO_END}\n{text}")}))
        }
        (Reply::Note(text) | Reply::Refuse(text), _) => Some(json!({"additionalContext": text})),
    }
}

pub(super) fn write_nested(moment: Moment, event: &str, reply: &Reply) -> Option<Value> {
    let flat = write(moment, reply)?;
    if moment != Moment::Before || flat.get("permissionDecision").is_none() {
        return Some(flat);
    }
    let mut nested = flat;
    if let Some(words) = nested.as_object_mut() {
        words.insert("hookEventName".to_owned(), Value::from(event));
    }
    Some(json!({"hookSpecificOutput": nested}))
}
