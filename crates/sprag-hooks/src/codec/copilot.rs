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
use sprag_core::Payload;

use super::claude::agent_of;
use super::snake_payload::{self, SnakePayload};
use crate::client::Client;
use crate::output::{ToolOutput, without_shell_tag};
use crate::parsed_hook::{Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse};
use crate::reply::{Question, Reply};
use crate::spend::{HookSpender, SpendSource};
use crate::tool_name;

const HOW_TO_END: &str = "Copilot has no hook that ends a session, so every call is refused now. \
                          Stop and tell the user, who can end it with Ctrl-C.";

/// The fields of a camelCase payload; for Claude's hooks some of them come in `snake_case`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CamelPayload<'p> {
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

pub(super) fn phase(event: &str) -> HookPhase {
    match event {
        "userPromptSubmitted" => HookPhase::Prompt,
        "preToolUse" => HookPhase::Before,
        "postToolUse" | "postToolUseFailure" => HookPhase::After,
        "subagentStart" => HookPhase::Spawn,
        "subagentStop" => HookPhase::Return,
        "sessionStart" => HookPhase::Start,
        other => snake_payload::phase(other),
    }
}

pub(super) fn read(payload: &[u8], registered: Option<&str>) -> Result<ParsedHook, ReadError> {
    if !is_camel(payload) {
        let fields: SnakePayload<'_> = serde_json::from_slice(payload)?;
        return read_nested(&fields, registered);
    }
    let fields: CamelPayload<'_> = serde_json::from_slice(payload)?;
    let event = match registered {
        Some(event) => event,
        None => guessed(&fields),
    };
    let phase = phase(event);
    // A hook that was registered in Claude's way is answered in Claude's way.
    let nested = snake_payload::phase(event) != HookPhase::Ignored;
    let dialect = match nested {
        true => Dialect::CopilotNested,
        false => Dialect::Copilot,
    };
    let mut hook = ParsedHook::new(phase, event, dialect);
    hook.spender = spender((phase, event), &fields);
    hook.events = events(phase, &fields, fields.tool_args)?;
    Ok(hook)
}

/// The event of a payload that does not name it.
fn guessed(fields: &CamelPayload<'_>) -> &'static str {
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
    fields: &SnakePayload<'_>,
    registered: Option<&str>,
) -> Result<ParsedHook, ReadError> {
    let event = fields.event(registered)?;
    let phase = phase(event);
    let camel = CamelPayload {
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
    let mut hook = ParsedHook::new(phase, event, Dialect::CopilotNested);
    hook.spender = spender((phase, event), &camel);
    hook.events = events(phase, &camel, fields.tool_input)?;
    Ok(hook)
}

/// One transcript holds the session and its sub-agents; the payload does not name it.
fn spender((phase, event): (HookPhase, &str), fields: &CamelPayload<'_>) -> Option<HookSpender> {
    let ends = matches!(event, "agentStop" | "Stop");
    let root = Actor {
        sub: None,
        agent: Client::Copilot.as_str().to_owned(),
        ..actor(fields).ok()?
    };
    Some(HookSpender {
        source: SpendSource {
            client: Client::Copilot,
            session: root.root.clone(),
            transcript: None,
            of_session: None,
            starts: phase == HookPhase::Start,
            ends,
        },
        actor: root,
        model: None,
    })
}

fn actor(fields: &CamelPayload<'_>) -> Result<Actor, ReadError> {
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
    Ok(Actor {
        flow: root.clone(),
        agent: agent_of(kind.filter(|_| sub.is_some()), Client::Copilot),
        root,
        sub,
    })
}

fn events(
    phase: HookPhase,
    fields: &CamelPayload<'_>,
    args: Option<&RawValue>,
) -> Result<Vec<sprag::Event>, ReadError> {
    if matches!(
        phase,
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored
    ) {
        return Ok(Vec::new());
    }
    let actor = actor(fields)?;
    let used = || {
        let tool = fields.tool_name.as_deref();
        let (server, tool) = tool_name::dash(tool.ok_or(ReadError::Missing("toolName"))?);
        Ok::<_, ReadError>(ToolUse {
            server,
            tool,
            args: snake_payload::payload(args),
            id: None,
            is_global: false,
        })
    };
    Ok(match phase {
        // A sub-agent's prompt was written by its parent.
        HookPhase::Prompt if actor.sub.is_some() => Vec::new(),
        HookPhase::Prompt => vec![actor.prompt(snake_payload::payload(fields.prompt))?],
        HookPhase::Before => vec![actor.call(&used()?)?],
        HookPhase::After => vec![actor.step(&used()?, outcome(fields))?],
        HookPhase::Spawn | HookPhase::Return => {
            let child = actor.sub.as_deref().ok_or(ReadError::Missing("agentId"))?;
            vec![actor.of_parent(Client::Copilot, phase, child)?]
        }
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored => Vec::new(),
    })
}

fn outcome(fields: &CamelPayload<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct ResultFields {
        #[serde(alias = "resultType", alias = "result_type")]
        kind: Option<String>,
        #[serde(alias = "textResultForLlm", alias = "text_result_for_llm")]
        text: Option<String>,
    }
    if let Some(error) = fields.error {
        return ToolOutcome {
            result: Some(error.into()),
            is_error: true,
        };
    }
    let read = fields
        .tool_result
        .and_then(|raw| serde_json::from_str::<ResultFields>(raw.get()).ok());
    let Some(ResultFields { kind, text }) = read else {
        return ToolOutcome {
            result: fields.tool_result.map(Payload::from),
            is_error: false,
        };
    };
    let ToolOutput { text, failed } = without_shell_tag(&text.unwrap_or_default());
    ToolOutcome {
        result: Some(text.into()),
        is_error: failed || kind.is_some_and(|kind| kind != "success"),
    }
}

pub(super) fn write(phase: HookPhase, reply: &Reply) -> Option<Value> {
    let decided = |decision: &str, reason: &str| json!({"permissionDecision": decision, "permissionDecisionReason": reason});
    let decision = |reason: &str| decided("deny", reason);
    match (reply, phase) {
        (Reply::Silent, _) => None,
        // Only the model reads what a hook says before a call or a prompt is let through.
        (Reply::Unchecked(text), HookPhase::Start) => {
            Some(json!({"additionalContext": format!("{text}\nTell the user.")}))
        }
        (Reply::Unchecked(_), _) => None,
        (Reply::Ask(question), HookPhase::Before) => Some(decided("ask", &question.for_both())),
        (Reply::Refuse(reason), HookPhase::Before) => Some(decision(reason)),
        (Reply::Stop(reason), HookPhase::Before) => {
            Some(decision(&format!("{reason}\n{HOW_TO_END}")))
        }
        (Reply::Stop(text), _) => {
            Some(json!({"additionalContext": format!("{text}\n{HOW_TO_END}")}))
        }
        (
            Reply::Note(text) | Reply::Ask(Question { refusal: text, .. }) | Reply::Refuse(text),
            _,
        ) => Some(json!({"additionalContext": text})),
    }
}

pub(super) fn write_nested(phase: HookPhase, event: &str, reply: &Reply) -> Option<Value> {
    let flat = write(phase, reply)?;
    if phase != HookPhase::Before || flat.get("permissionDecision").is_none() {
        return Some(flat);
    }
    let mut nested = flat;
    if let Some(words) = nested.as_object_mut() {
        words.insert("hookEventName".to_owned(), Value::from(event));
    }
    Some(json!({"hookSpecificOutput": nested}))
}
