//! Claude Code.
//!
//! Its sub-agents share the session's id and add `agent_id`. What it calls a prompt is not always a
//! person's: a background task that ends is announced as one. A refusal that should also end the
//! session needs both `permissionDecision` and `continue: false`; the latter alone lets the tool run
//! first.
//!
//! It checks arguments before `PreToolUse`: an edit whose text is not in the file fires neither that
//! nor `PostToolUse`. `PostToolBatch` reports such calls.
//!
//! Copilot CLI runs Claude's hooks too. Its payload gives it away: it has a time and no transcript.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::{MessageKind, Payload};

use super::snake_payload::{self, SnakePayload};
use super::{copilot, snake_payload::phase};
use crate::client::Client;
use crate::parsed_hook::{Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse};
use crate::reply::{Question, Reply};
use crate::tool_name;

/// How prompts begin that Claude Code writes itself.
pub(super) const OWN_PROMPTS: [&str; 5] = [
    "<task-notification>",
    "<teammate-message",
    "<local-command-",
    "<bash-",
    "<tick>",
];

/// How the result of a call begins that Claude Code refused by itself, and how it ends.
const OWN_ERROR: &str = "<tool_use_error>";
const OWN_ERROR_END: &str = "</tool_use_error>";
/// What stands before the text that was to be replaced, in the error of an edit.
const REPEATED: &str = "\nString: ";
/// The most calls of one batch that are reported.
const MAX_BATCH: usize = 64;

/// The permission modes in which it asks its user. In the others a hook's question may be answered without
/// anybody having seen it.
const ASKING_MODES: [&str; 3] = ["default", "acceptEdits", "plan"];

/// The tool that starts a sub-agent; `Task` is its older name.
const DELEGATES: [&str; 2] = ["Agent", "Task"];

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<ParsedHook, ReadError> {
    if copilot::is_camel(payload) {
        return copilot::read(payload, registered);
    }
    let fields: SnakePayload<'_> = serde_json::from_slice(payload)?;
    if fields.transcript_path.is_none() && fields.timestamp.is_some() {
        return copilot::read_nested(&fields, registered);
    }
    let event = fields.event(registered)?;
    let mut hook = ParsedHook::new(phase(event), event, Dialect::Claude);
    hook.can_ask = fields
        .permission_mode
        .as_deref()
        .is_some_and(|mode| ASKING_MODES.contains(&mode));
    hook.spender = actor(&fields)
        .ok()
        .and_then(|actor| fields.spender(Client::Claude, actor, sub_agent_transcript));
    if !matches!(hook.phase, HookPhase::Ignored | HookPhase::Start) {
        let actor = actor(&fields)?;
        hook.events = events(hook.phase, &fields, &actor)?;
    }
    Ok(hook)
}

/// Sub-agents have transcripts of their own, in a folder beside the session's.
fn sub_agent_transcript(session: &str, sub: &str) -> Option<String> {
    let folder = session.strip_suffix(".jsonl")?;
    let is_name = sub
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_name.then(|| format!("{folder}/subagents/agent-{sub}.jsonl"))
}

fn actor(fields: &SnakePayload<'_>) -> Result<Actor, ReadError> {
    let root = fields.session()?.to_owned();
    let flow = match &fields.prompt_id {
        Some(prompt) => format!("{root}:{prompt}"),
        None => root.clone(),
    };
    Ok(Actor {
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

fn events(
    phase: HookPhase,
    fields: &SnakePayload<'_>,
    actor: &Actor,
) -> Result<Vec<sprag::Event>, ReadError> {
    match phase {
        HookPhase::Prompt => {
            let text = fields
                .prompt
                .and_then(snake_payload::text)
                .unwrap_or_default();
            if actor.sub.is_some() || super::is_own_prompt(&text) {
                return Ok(Vec::new());
            }
            Ok(vec![actor.prompt(Some(text.into()))?])
        }
        HookPhase::Before => Ok(vec![actor.call(&used(fields)?)?]),
        HookPhase::After => {
            let used = used(fields)?;
            let mut events = Vec::new();
            if DELEGATES.contains(&used.tool.as_str()) {
                events.extend(background_child(fields, actor, &used)?);
            }
            events.push(actor.step(&used, outcome(fields))?);
            Ok(events)
        }
        HookPhase::Spawn | HookPhase::Return => sub_agent_events(phase, actor),
        HookPhase::Batch => refused_by_the_client(fields, actor),
        HookPhase::Start | HookPhase::Ignored => Ok(Vec::new()),
    }
}

/// The calls of a batch that Claude Code refused by itself, such as an edit whose text is not in the
/// file. No other hook fires for them. All other calls of the batch were reported before.
fn refused_by_the_client(
    fields: &SnakePayload<'_>,
    actor: &Actor,
) -> Result<Vec<sprag::Event>, ReadError> {
    let calls = fields.tool_calls.as_deref().unwrap_or_default();
    let mut events = Vec::new();
    for call in calls.iter().take(MAX_BATCH) {
        let response = call.tool_response.and_then(snake_payload::text);
        let error = response
            .as_deref()
            .and_then(|text| text.strip_prefix(OWN_ERROR));
        let Some(error) = error else {
            continue;
        };
        let (server, tool) = tool_name::double_underscore(&call.tool_name);
        let used = ToolUse {
            server,
            tool,
            args: snake_payload::payload(call.tool_input),
            id: call.tool_use_id.clone(),
            is_global: true,
        };
        let error = error.trim_end_matches(OWN_ERROR_END);
        // What it repeats of the arguments is no news.
        let error = error.split_once(REPEATED).map_or(error, |(error, _)| error);
        let outcome = ToolOutcome {
            result: Some(error.into()),
            is_error: true,
        };
        events.push(actor.step(&used, outcome)?);
    }
    Ok(events)
}

/// A sub-agent's start and end are told in its own name; whose child it is, is not said. The session's, then.
fn sub_agent_events(phase: HookPhase, actor: &Actor) -> Result<Vec<sprag::Event>, ReadError> {
    let child = actor.sub.as_deref().ok_or(ReadError::Missing("agent_id"))?;
    let parent = Actor {
        sub: None,
        ..actor.clone()
    };
    let kind = match phase {
        HookPhase::Return => MessageKind::Return,
        _ => MessageKind::Spawn,
    };
    // The root's own agent is the client; the type in the payload is the child's.
    let parent = Actor {
        agent: Client::Claude.as_str().to_owned(),
        ..parent
    };
    Ok(vec![parent.sub_agent_message(kind, child, &actor.agent)?])
}

/// A sub-agent was started in the background: now it is known whose child that is. It is told before the result of
/// the call, which would end a start that nobody is known to be behind. One that was waited for has ended by now.
fn background_child(
    fields: &SnakePayload<'_>,
    actor: &Actor,
    used: &ToolUse,
) -> Result<Option<sprag::Event>, ReadError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Started {
        agent_id: String,
        #[serde(default)]
        is_async: bool,
    }
    let response = fields.tool_response;
    let started = response.and_then(|raw| serde_json::from_str::<Started>(raw.get()).ok());
    let Some(started) = started.filter(|started| started.is_async) else {
        return Ok(None);
    };
    let agent = Client::Claude.as_str();
    Ok(Some(actor.started(used, &started.agent_id, agent)?))
}

pub(super) fn used(fields: &SnakePayload<'_>) -> Result<ToolUse, ReadError> {
    let (server, tool) = tool_name::double_underscore(fields.tool()?);
    Ok(ToolUse {
        server,
        tool,
        args: snake_payload::payload(fields.tool_input),
        id: fields.tool_use_id.clone(),
        is_global: true,
    })
}

fn outcome(fields: &SnakePayload<'_>) -> ToolOutcome {
    match (fields.error, fields.tool_response) {
        (Some(error), _) => ToolOutcome {
            result: Some(Payload::from(error)),
            is_error: true,
        },
        (None, response) => ToolOutcome {
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
    match snake_payload::block_texts(raw) {
        Some(text) => text.into(),
        None => raw.into(),
    }
}

pub(super) fn write(phase: HookPhase, event: &str, reply: &Reply) -> Option<Value> {
    let note = |text: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}});
    match (reply, phase) {
        (Reply::Silent, _) => None,
        (Reply::Unchecked(text), _) => Some(json!({"systemMessage": text})),
        (Reply::Ask(question), HookPhase::Before) => {
            Some(decision(event, "ask", &question.for_both()))
        }
        (Reply::Refuse(reason), HookPhase::Before) => Some(refusal(event, reason)),
        (Reply::Stop(reason), HookPhase::Before) => {
            let mut words = refusal(event, reason);
            if let Some(words) = words.as_object_mut() {
                words.insert("continue".to_owned(), Value::from(false));
                words.insert("stopReason".to_owned(), Value::from(reason.as_str()));
            }
            Some(words)
        }
        (Reply::Stop(reason), HookPhase::After | HookPhase::Batch) => {
            Some(json!({"continue": false, "stopReason": reason, "systemMessage": reason}))
        }
        (Reply::Refuse(reason) | Reply::Stop(reason), HookPhase::Prompt) => {
            Some(json!({"decision": "block", "reason": reason}))
        }
        (
            Reply::Note(text)
            | Reply::Ask(Question { refusal: text, .. })
            | Reply::Refuse(text)
            | Reply::Stop(text),
            _,
        ) => Some(note(text)),
    }
}

fn decision(event: &str, decision: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": event,
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }})
}

fn refusal(event: &str, reason: &str) -> Value {
    let mut output = decision(event, "deny", reason);
    if let Some(output) = output.as_object_mut() {
        output.insert("systemMessage".to_owned(), Value::from(reason));
    }
    output
}
