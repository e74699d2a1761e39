//! opencode, through the plugin that `sprag install opencode` writes.
//!
//! opencode has no hooks that start a process, but plugins in JavaScript. Ours asks `sprag hook` and does what it
//! says, so both sides of this format are our own. The plugin knows which session is a child of which, and the
//! names of the MCP servers.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::{MessageKind, Payload};

use super::claude::agent_of;
use super::snake;
use crate::client::Client;
use crate::reading::{Dialect, Moment, Outcome, ReadError, Reading, Used, Who};
use crate::reply::Reply;

/// What opencode writes where a command printed nothing.
const SILENT: &str = "\"(no output)\"";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'p> {
    event: Option<String>,
    /// The session at the top.
    root: Option<String>,
    /// The session itself, where it is a child.
    child: Option<String>,
    /// The session that started it, where that is a child too.
    parent: Option<String>,
    agent: Option<String>,
    server: Option<String>,
    tool: Option<String>,
    #[serde(rename = "callID")]
    call_id: Option<String>,
    #[serde(borrow)]
    args: Option<&'p RawValue>,
    #[serde(borrow)]
    output: Option<&'p RawValue>,
    #[serde(default)]
    is_error: bool,
    #[serde(borrow)]
    prompt: Option<&'p RawValue>,
    message: Option<String>,
}

pub(super) fn moment(event: &str) -> Moment {
    match event {
        "chat.message" => Moment::Prompt,
        "tool.execute.before" => Moment::Before,
        "tool.execute.after" => Moment::After,
        "session.created" => Moment::Spawn,
        "session.idle" => Moment::Return,
        _ => Moment::Elsewhere,
    }
}

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<Reading, ReadError> {
    let fields: Fields<'_> = serde_json::from_slice(payload)?;
    let event = fields.event.as_deref().or(registered);
    let event = event.ok_or(ReadError::Missing("event"))?;
    let moment = moment(event);
    Ok(Reading {
        moment,
        event_name: event.to_owned(),
        dialect: Dialect::Opencode,
        events: events(moment, &fields)?,
    })
}

fn events(moment: Moment, fields: &Fields<'_>) -> Result<Vec<sprag::Event>, ReadError> {
    if moment == Moment::Elsewhere {
        return Ok(Vec::new());
    }
    let root = fields.root.clone().ok_or(ReadError::Missing("root"))?;
    let flow = match &fields.message {
        Some(message) => format!("{root}:{message}"),
        None => root.clone(),
    };
    let who = Who {
        sub: fields.child.clone(),
        agent: agent_of(fields.agent.as_deref(), Client::Opencode),
        root,
        flow,
    };
    let used = || {
        let tool = fields.tool.clone().ok_or(ReadError::Missing("tool"))?;
        Ok::<_, ReadError>(Used {
            server: fields.server.clone(),
            tool,
            args: snake::payload(fields.args),
            id: fields.call_id.clone(),
            // It is the model server's, and some of those count from zero in every answer.
            is_global: false,
        })
    };
    Ok(match moment {
        // A child's prompt was written by its parent.
        Moment::Prompt if who.sub.is_some() => Vec::new(),
        Moment::Prompt => vec![who.prompt(snake::payload(fields.prompt))?],
        Moment::Before => vec![who.call(&used()?)?],
        Moment::After => {
            let silent = fields.output.is_some_and(|output| output.get() == SILENT);
            let outcome = Outcome {
                result: fields.output.filter(|_| !silent).map(Payload::from),
                is_error: fields.is_error,
            };
            vec![who.step(&used()?, outcome)?]
        }
        Moment::Spawn | Moment::Return => {
            let child = who.sub.clone().ok_or(ReadError::Missing("child"))?;
            let parent = Who {
                sub: fields.parent.clone(),
                agent: Client::Opencode.as_str().to_owned(),
                ..who.clone()
            };
            let kind = match moment {
                Moment::Return => MessageKind::Return,
                _ => MessageKind::Spawn,
            };
            vec![parent.family(kind, &child, &who.agent)?]
        }
        Moment::Elsewhere => Vec::new(),
    })
}

pub(super) fn write(_moment: Moment, reply: &Reply) -> Option<Value> {
    let (action, text) = match reply {
        Reply::Silent => return None,
        Reply::Note(text) => ("note", text),
        Reply::Refuse(text) => ("refuse", text),
        Reply::Stop(text) => ("stop", text),
        Reply::Unchecked(text) => ("unchecked", text),
    };
    Some(json!({"action": action, "text": text}))
}
