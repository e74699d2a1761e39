//! Claude Code.
//!
//! Its sub-agents share the session's id and add `agent_id`. What it calls a prompt is not always a person's:
//! a background task that ends is announced as one. A refusal that shall also end the session needs both
//! `permissionDecision` and `continue: false`; the latter alone lets the tool run first.
//!
//! Copilot CLI runs Claude's hooks too. It is told by its payload, which has a time and no transcript.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::{MessageKind, Payload};

use super::snake::{self, Snake};
use super::{copilot, snake::moment};
use crate::client::Client;
use crate::reading::{Dialect, Moment, Outcome, ReadError, Reading, Used, Who};
use crate::reply::Reply;
use crate::tool_name;

/// How prompts begin that Claude Code writes itself.
pub(super) const OWN_PROMPTS: [&str; 5] = [
    "<task-notification>",
    "<teammate-message",
    "<local-command-",
    "<bash-",
    "<tick>",
];

/// The tool that starts a sub-agent; `Task` is its older name.
const DELEGATES: [&str; 2] = ["Agent", "Task"];

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<Reading, ReadError> {
    if copilot::is_camel(payload) {
        return copilot::read(payload, registered);
    }
    let fields: Snake<'_> = serde_json::from_slice(payload)?;
    if fields.transcript_path.is_none() && fields.timestamp.is_some() {
        return copilot::read_nested(&fields, registered);
    }
    let event = fields.event(registered)?;
    let mut reading = Reading {
        moment: moment(event),
        event_name: event.to_owned(),
        dialect: Dialect::Claude,
        events: Vec::new(),
    };
    if reading.moment == Moment::Elsewhere {
        return Ok(reading);
    }
    let who = who(&fields)?;
    reading.events = events(reading.moment, &fields, &who)?;
    Ok(reading)
}

fn who(fields: &Snake<'_>) -> Result<Who, ReadError> {
    let root = fields.session()?.to_owned();
    let flow = match &fields.prompt_id {
        Some(prompt) => format!("{root}:{prompt}"),
        None => root.clone(),
    };
    Ok(Who {
        agent: agent_of(fields.agent_type.as_deref(), Client::Claude),
        sub: fields.agent_id.clone(),
        root,
        flow,
    })
}

/// The sub-agent's type, else the client.
pub(super) fn agent_of(kind: Option<&str>, client: Client) -> String {
    let kind = kind.filter(|kind| !kind.is_empty());
    kind.unwrap_or(client.as_str()).to_owned()
}

fn events(moment: Moment, fields: &Snake<'_>, who: &Who) -> Result<Vec<sprag::Event>, ReadError> {
    match moment {
        Moment::Prompt => {
            let text = fields.prompt.and_then(snake::text).unwrap_or_default();
            if who.sub.is_some() || super::is_own_prompt(&text) {
                return Ok(Vec::new());
            }
            Ok(vec![who.prompt(Some(text.into()))?])
        }
        Moment::Before => {
            let used = used(fields)?;
            let mut events = vec![who.call(&used)?];
            if DELEGATES.contains(&used.tool.as_str()) {
                events.extend(who.may_delegate()?);
            }
            Ok(events)
        }
        Moment::After => {
            let used = used(fields)?;
            let mut events = vec![who.step(&used, outcome(fields))?];
            if DELEGATES.contains(&used.tool.as_str()) {
                events.extend(nested_child(fields, who)?);
            }
            Ok(events)
        }
        Moment::Spawn | Moment::Return => family(moment, who),
        Moment::Elsewhere => Ok(Vec::new()),
    }
}

/// A sub-agent's start and end are told in its own name; whose child it is, is not said. The session's, then.
pub(super) fn family(moment: Moment, who: &Who) -> Result<Vec<sprag::Event>, ReadError> {
    let child = who.sub.as_deref().ok_or(ReadError::Missing("agent_id"))?;
    let parent = Who {
        sub: None,
        ..who.clone()
    };
    let kind = match moment {
        Moment::Return => MessageKind::Return,
        _ => MessageKind::Spawn,
    };
    // The root's own agent is the client; the type in the payload is the child's.
    let parent = Who {
        agent: Client::Claude.as_str().to_owned(),
        ..parent
    };
    Ok(vec![parent.family(kind, child, &who.agent)?])
}

/// A sub-agent started another: now it is known whose child that is.
fn nested_child(fields: &Snake<'_>, who: &Who) -> Result<Option<sprag::Event>, ReadError> {
    #[derive(Deserialize)]
    struct Started {
        #[serde(rename = "agentId")]
        agent_id: String,
    }
    let started = fields
        .tool_response
        .filter(|_| who.sub.is_some())
        .and_then(|raw| serde_json::from_str::<Started>(raw.get()).ok());
    let Some(started) = started else {
        return Ok(None);
    };
    let event = who.family(
        MessageKind::Spawn,
        &started.agent_id,
        Client::Claude.as_str(),
    )?;
    Ok(Some(event))
}

pub(super) fn used(fields: &Snake<'_>) -> Result<Used, ReadError> {
    let (server, tool) = tool_name::double_underscore(fields.tool()?);
    Ok(Used {
        server,
        tool,
        args: snake::payload(fields.tool_input),
        id: fields.tool_use_id.clone(),
        is_global: true,
    })
}

fn outcome(fields: &Snake<'_>) -> Outcome {
    match (fields.error, fields.tool_response) {
        (Some(error), _) => Outcome {
            result: Some(Payload::from(error)),
            is_error: true,
        },
        (None, response) => Outcome {
            result: response.map(seen_by_the_model),
            is_error: false,
        },
    }
}

/// A result roughly as the model reads it: what a shell printed, what a file holds, that a file was written.
/// Anything else as it is.
fn seen_by_the_model(raw: &RawValue) -> Payload {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shell {
        stdout: String,
        stderr: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Written {
        file_path: String,
        #[serde(rename = "structuredPatch")]
        _patch: serde::de::IgnoredAny,
    }
    #[derive(Deserialize)]
    struct File {
        content: String,
    }
    #[derive(Deserialize)]
    struct Read {
        file: File,
    }
    let json = raw.get();
    if let Ok(shell) = serde_json::from_str::<Shell>(json) {
        let both = !shell.stdout.is_empty() && !shell.stderr.is_empty();
        let between = if both { "\n" } else { "" };
        return format!("{}{between}{}", shell.stdout, shell.stderr).into();
    }
    if let Ok(written) = serde_json::from_str::<Written>(json) {
        return format!("updated {}", written.file_path).into();
    }
    if let Ok(read) = serde_json::from_str::<Read>(json) {
        return read.file.content.into();
    }
    match snake::block_texts(raw) {
        Some(text) => text.into(),
        None => raw.into(),
    }
}

pub(super) fn write(moment: Moment, event: &str, reply: &Reply) -> Option<Value> {
    let note = |text: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}});
    match (reply, moment) {
        (Reply::Silent, _) => None,
        (Reply::Unchecked(text), _) => Some(json!({"systemMessage": text})),
        (Reply::Refuse(reason), Moment::Before) => Some(refusal(event, reason)),
        (Reply::Stop(reason), Moment::Before) => {
            let mut words = refusal(event, reason);
            if let Some(words) = words.as_object_mut() {
                words.insert("continue".to_owned(), Value::from(false));
                words.insert("stopReason".to_owned(), Value::from(reason.as_str()));
            }
            Some(words)
        }
        (Reply::Stop(reason), Moment::After) => {
            Some(json!({"continue": false, "stopReason": reason}))
        }
        (Reply::Refuse(reason) | Reply::Stop(reason), Moment::Prompt) => {
            Some(json!({"decision": "block", "reason": reason}))
        }
        (Reply::Note(text) | Reply::Refuse(text) | Reply::Stop(text), _) => Some(note(text)),
    }
}

fn refusal(event: &str, reason: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
        "systemMessage": reason,
    })
}
