//! Codex CLI.
//!
//! It reads Claude's output format strictly: a key that it doesn't know, or one that it knows but doesn't
//! support (`continue`, `stopReason` before a tool), and the whole answer is void and the tool runs. So each
//! answer holds the least that does it. No hook can end a session here: every call is refused, and the person
//! is told how to end it.
//!
//! Failed MCP calls have no hook after them, and a shell's exit code is not told.

use serde::Deserialize;
use serde_json::{Value, json};
use sprag_core::{MessageKind, Payload};

use super::claude::{agent_of, used};
use super::snake::{self, Snake, moment};
use crate::client::Client;
use crate::printed::without_client_lines;
use crate::reading::{Dialect, Moment, Outcome, ReadError, Reading, Who};
use crate::reply::Reply;

const HOW_TO_END: &str = "Codex has no hook that ends a session, so every call is refused now. \
                          Stop and tell the user; the user ends it with Ctrl-C.";

/// The tool that starts a sub-agent.
const DELEGATE: &str = "spawn_agent";

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<Reading, ReadError> {
    let fields: Snake<'_> = serde_json::from_slice(payload)?;
    let event = fields.event(registered)?;
    let mut reading = Reading {
        moment: moment(event),
        event_name: event.to_owned(),
        dialect: Dialect::Codex,
        events: Vec::new(),
    };
    if reading.moment != Moment::Elsewhere {
        let who = who(&fields)?;
        reading.events = events(reading.moment, &fields, &who)?;
    }
    Ok(reading)
}

/// A sub-agent has turns of its own, so what it does is joined to the session as a whole.
fn who(fields: &Snake<'_>) -> Result<Who, ReadError> {
    let root = fields.session()?.to_owned();
    let flow = match (&fields.turn_id, &fields.agent_id) {
        (Some(turn), None) => format!("{root}:{turn}"),
        _ => root.clone(),
    };
    Ok(Who {
        agent: agent_of(fields.agent_type.as_deref(), Client::Codex),
        sub: fields.agent_id.clone(),
        root,
        flow,
    })
}

fn events(moment: Moment, fields: &Snake<'_>, who: &Who) -> Result<Vec<sprag::Event>, ReadError> {
    Ok(match moment {
        // A sub-agent's prompt was written by its parent.
        Moment::Prompt if who.sub.is_some() => Vec::new(),
        Moment::Prompt => vec![who.prompt(snake::payload(fields.prompt))?],
        Moment::Before => {
            let used = used(fields)?;
            let mut events = vec![who.call(&used)?];
            if used.tool == DELEGATE {
                events.extend(who.may_delegate()?);
            }
            events
        }
        Moment::After => {
            let used = used(fields)?;
            let mut events = vec![who.step(&used, outcome(fields))?];
            if used.tool == DELEGATE {
                events.extend(nested_child(fields, who)?);
            }
            events
        }
        Moment::Spawn | Moment::Return => {
            let child = who.sub.as_deref().ok_or(ReadError::Missing("agent_id"))?;
            let parent = Who {
                sub: None,
                agent: Client::Codex.as_str().to_owned(),
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

/// A sub-agent started another: now it is known whose child that is.
fn nested_child(fields: &Snake<'_>, who: &Who) -> Result<Option<sprag::Event>, ReadError> {
    #[derive(Deserialize)]
    struct Started {
        agent_id: String,
    }
    let started = fields
        .tool_response
        .filter(|_| who.sub.is_some())
        .and_then(snake::text)
        .and_then(|text| serde_json::from_str::<Started>(&text).ok());
    let Some(started) = started else {
        return Ok(None);
    };
    let event = who.family(
        MessageKind::Spawn,
        &started.agent_id,
        Client::Codex.as_str(),
    )?;
    Ok(Some(event))
}

fn outcome(fields: &Snake<'_>) -> Outcome {
    let Some(raw) = fields.tool_response else {
        return Outcome {
            result: None,
            is_error: false,
        };
    };
    let result = match snake::text(raw) {
        Some(text) => Payload::from(without_client_lines(&text).text),
        None => Payload::from(raw),
    };
    Outcome {
        result: Some(result),
        is_error: false,
    }
}

pub(super) fn write(moment: Moment, event: &str, reply: &Reply) -> Option<Value> {
    match (reply, moment) {
        (Reply::Silent, _) | (Reply::Note(_), Moment::Return) => None,
        (Reply::Unchecked(text), _) => Some(json!({"systemMessage": text})),
        (Reply::Refuse(reason), Moment::Before) => Some(refusal(event, reason)),
        (Reply::Stop(reason), Moment::Before) => {
            Some(refusal(event, &format!("{HOW_TO_END}\n{reason}")))
        }
        (Reply::Refuse(reason) | Reply::Stop(reason), Moment::Prompt) => {
            Some(json!({"decision": "block", "reason": reason}))
        }
        (Reply::Stop(text), _) => Some(note(event, &format!("{HOW_TO_END}\n{text}"))),
        (Reply::Note(text) | Reply::Refuse(text), _) => Some(note(event, text)),
    }
}

fn note(event: &str, text: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
}

fn refusal(event: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": event,
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }})
}
