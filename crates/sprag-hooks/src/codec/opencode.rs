//! opencode, through the plugin that `sprag install opencode` writes.
//!
//! opencode has no hooks that start a process, but plugins in JavaScript. Ours asks `sprag hook` and does what it
//! says, so both sides of this format are our own. The plugin knows which session is a child of which, and the
//! names of the MCP servers.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::{MessageKind, Payload, Tokens};

use super::claude::agent_of;
use super::snake_payload;
use crate::client::Client;
use crate::parsed_hook::{Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse};
use crate::reply::{Question, Reply};
use crate::spend;

/// What opencode writes where a command printed nothing.
const SILENT: &str = "\"(no output)\"";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpencodePayload<'p> {
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
    model: Option<String>,
    tokens: Option<Used>,
}

/// What an answer of the model used; its thinking is apart from its output.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Used {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache: Cached,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Cached {
    #[serde(default)]
    read: u64,
    #[serde(default)]
    write: u64,
}

impl Used {
    fn tokens(self) -> Tokens {
        Tokens {
            input: self.input,
            output: self.output.saturating_add(self.reasoning),
            cache_read: self.cache.read,
            cache_write: self.cache.write,
        }
    }
}

pub(super) fn phase(event: &str) -> HookPhase {
    match event {
        "chat.message" => HookPhase::Prompt,
        "tool.execute.before" => HookPhase::Before,
        "tool.execute.after" | "usage" => HookPhase::After,
        "session.created" => HookPhase::Spawn,
        "session.idle" => HookPhase::Return,
        "session.start" => HookPhase::Start,
        _ => HookPhase::Ignored,
    }
}

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<ParsedHook, ReadError> {
    let fields: OpencodePayload<'_> = serde_json::from_slice(payload)?;
    let event = fields.event.as_deref().or(registered);
    let event = event.ok_or(ReadError::Missing("event"))?;
    let phase = phase(event);
    let mut hook = ParsedHook::new(phase, event, Dialect::Opencode);
    hook.events = match fields.tokens {
        Some(used) => {
            let actor = actor(&fields)?;
            vec![spend::usage(
                &actor,
                fields.model.as_deref(),
                used.tokens(),
            )?]
        }
        None => events(phase, &fields)?,
    };
    Ok(hook)
}

fn actor(fields: &OpencodePayload<'_>) -> Result<Actor, ReadError> {
    let root = fields.root.clone().ok_or(ReadError::Missing("root"))?;
    let flow = match &fields.message {
        Some(message) => format!("{root}:{message}"),
        None => root.clone(),
    };
    Ok(Actor {
        sub: fields.child.clone(),
        agent: agent_of(fields.agent.as_deref(), Client::Opencode),
        root,
        flow,
    })
}

fn events(phase: HookPhase, fields: &OpencodePayload<'_>) -> Result<Vec<sprag::Event>, ReadError> {
    if matches!(
        phase,
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored
    ) {
        return Ok(Vec::new());
    }
    let actor = actor(fields)?;
    let used = || {
        let tool = fields.tool.clone().ok_or(ReadError::Missing("tool"))?;
        Ok::<_, ReadError>(ToolUse {
            server: fields.server.clone(),
            tool,
            args: snake_payload::payload(fields.args),
            id: fields.call_id.clone(),
            // It is the model server's, and some of those count from zero in every answer.
            is_global: false,
        })
    };
    Ok(match phase {
        // A child's prompt was written by its parent.
        HookPhase::Prompt if actor.sub.is_some() => Vec::new(),
        HookPhase::Prompt => vec![actor.prompt(snake_payload::payload(fields.prompt))?],
        HookPhase::Before => vec![actor.call(&used()?)?],
        HookPhase::After => {
            let silent = fields.output.is_some_and(|output| output.get() == SILENT);
            let outcome = ToolOutcome {
                result: fields.output.filter(|_| !silent).map(Payload::from),
                is_error: fields.is_error,
            };
            vec![actor.step(&used()?, outcome)?]
        }
        HookPhase::Spawn | HookPhase::Return => {
            let child = actor.sub.clone().ok_or(ReadError::Missing("child"))?;
            let parent = Actor {
                sub: fields.parent.clone(),
                agent: Client::Opencode.as_str().to_owned(),
                ..actor.clone()
            };
            let kind = match phase {
                HookPhase::Return => MessageKind::Return,
                _ => MessageKind::Spawn,
            };
            vec![parent.sub_agent_message(kind, &child, &actor.agent)?]
        }
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored => Vec::new(),
    })
}

pub(super) fn write(_moment: HookPhase, reply: &Reply) -> Option<Value> {
    let (action, text) = match reply {
        Reply::Silent => return None,
        Reply::Note(text) => ("note", text),
        Reply::Ask(Question { refusal: text, .. }) | Reply::Refuse(text) => ("refuse", text),
        Reply::Stop(text) => ("stop", text),
        Reply::Unchecked(text) => ("unchecked", text),
    };
    Some(json!({"action": action, "text": text}))
}
