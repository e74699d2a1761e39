//! Codex CLI.
//!
//! It reads Claude's output format strictly: with a key that it doesn't know, or one that it knows but
//! doesn't support (`continue`, `stopReason` before a tool), the whole answer is void and the tool runs.
//! So each answer holds as little as possible. No hook can end a session here: every call is refused,
//! and the person reads how to end it.
//!
//! Failed MCP calls and failed patches have no hook after them. Their results are in the transcript
//! when the next call is asked about, so they are reported then. Whether a command failed is only
//! there, too.

use serde::Deserialize;
use serde_json::{Value, json};
use sprag_core::Payload;

use super::claude::{agent_of, used};
use super::codex_transcript::{UnreportedResult, has_failed, unreported_results};
use super::snake_payload::{self, SnakePayload, phase};
use crate::answer::HookOptions;
use crate::client::Client;
use crate::output::without_client_lines;
use crate::parsed_hook::{Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse};
use crate::reply::{Question, Reply};
use crate::tool_name;

const HOW_TO_END: &str = "Codex has no hook that ends a session, so every call is refused now. \
                          Stop and tell the user, who can end it with Ctrl-C.";

/// How the error of a patch that does not apply begins.
const PATCH_FAILED: &str = "apply_patch verification failed: ";

/// The tool that starts a sub-agent.
const DELEGATE: &str = "spawn_agent";

pub(super) fn read(payload: &[u8], options: &HookOptions<'_>) -> Result<ParsedHook, ReadError> {
    let fields: SnakePayload<'_> = serde_json::from_slice(payload)?;
    let event = fields.event(options.event)?;
    let mut hook = ParsedHook::new(phase(event), event, Dialect::Codex);
    // Inside a sub-agent, the payload names that one's own transcript.
    hook.spender = actor(&fields)
        .ok()
        .and_then(|actor| fields.spender(Client::Codex, actor, |_, _| None));
    if !matches!(hook.phase, HookPhase::Ignored | HookPhase::Start) {
        let actor = actor(&fields)?;
        if hook.phase == HookPhase::Before {
            hook.events = unreported_steps(&fields, &actor, options)?;
        }
        let failed = hook.phase == HookPhase::After && has_failed_silently(&fields, options);
        hook.events
            .extend(events(hook.phase, &fields, &actor, failed)?);
    }
    Ok(hook)
}

/// A sub-agent has turns of its own, so what it does is joined to the session as a whole.
fn actor(fields: &SnakePayload<'_>) -> Result<Actor, ReadError> {
    let root = fields.session()?.to_owned();
    let flow = match (&fields.turn_id, &fields.agent_id) {
        (Some(turn), None) => format!("{root}:{turn}"),
        _ => root.clone(),
    };
    Ok(Actor {
        agent: agent_of(fields.agent_type.as_deref(), Client::Codex),
        sub: fields.agent_id.clone(),
        root,
        flow,
    })
}

fn events(
    phase: HookPhase,
    fields: &SnakePayload<'_>,
    actor: &Actor,
    failed: bool,
) -> Result<Vec<sprag::Event>, ReadError> {
    Ok(match phase {
        // A sub-agent's prompt was written by its parent.
        HookPhase::Prompt if actor.sub.is_some() => Vec::new(),
        HookPhase::Prompt => vec![actor.prompt(snake_payload::payload(fields.prompt))?],
        HookPhase::Before => vec![actor.call(&used(fields)?)?],
        HookPhase::After => {
            let used = used(fields)?;
            let mut events = Vec::new();
            if used.tool == DELEGATE {
                events.extend(started_child(fields, actor, &used)?);
            }
            events.push(actor.step(&used, outcome(fields, failed))?);
            events
        }
        HookPhase::Spawn | HookPhase::Return => {
            let child = actor.sub.as_deref().ok_or(ReadError::Missing("agent_id"))?;
            vec![actor.of_parent(Client::Codex, phase, child)?]
        }
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored => Vec::new(),
    })
}

/// The end of the transcript, if it can be read here.
fn transcript(fields: &SnakePayload<'_>, options: &HookOptions<'_>) -> String {
    let path = fields.transcript_path.and_then(snake_payload::text);
    let read = options.read_transcript;
    let transcript = path.zip(read).and_then(|(path, read)| read(&path));
    transcript.unwrap_or_default()
}

/// Whether the call that this hook reports failed, as only the transcript says.
fn has_failed_silently(fields: &SnakePayload<'_>, options: &HookOptions<'_>) -> bool {
    let id = fields.tool_use_id.as_deref();
    id.is_some_and(|id| has_failed(&transcript(fields, options), id))
}

/// What came of the calls before this one that no hook reported. The transcript has it.
fn unreported_steps(
    fields: &SnakePayload<'_>,
    actor: &Actor,
    options: &HookOptions<'_>,
) -> Result<Vec<sprag::Event>, ReadError> {
    let results = unreported_results(&transcript(fields, options));
    let step = |result: UnreportedResult| {
        let (server, tool) = tool_name::double_underscore(&result.tool);
        let used = ToolUse {
            server,
            tool,
            args: result.args.map(Payload::from),
            id: Some(result.call_id),
            is_global: true,
        };
        let output = without_client_lines(&result.output).text;
        // After its first line, the error of a patch repeats the lines that were not found.
        let error = match output.split_once('\n') {
            Some((first, _)) if first.starts_with(PATCH_FAILED) => first.to_owned(),
            _ => output,
        };
        let outcome = ToolOutcome {
            result: Some(error.into()),
            is_error: true,
        };
        Ok(actor.step(&used, outcome)?)
    };
    results.into_iter().map(step).collect()
}

/// A sub-agent was started, and runs on: now it is known whose child that is. It is told before the result of the
/// call, which would end a start that nobody is known to be behind.
fn started_child(
    fields: &SnakePayload<'_>,
    actor: &Actor,
    used: &ToolUse,
) -> Result<Option<sprag::Event>, ReadError> {
    #[derive(Deserialize)]
    struct Started {
        agent_id: String,
    }
    let started = fields
        .tool_response
        .and_then(snake_payload::text)
        .and_then(|text| serde_json::from_str::<Started>(&text).ok());
    let Some(started) = started else {
        return Ok(None);
    };
    let agent = Client::Codex.as_str();
    Ok(Some(actor.started(used, &started.agent_id, agent)?))
}

fn outcome(fields: &SnakePayload<'_>, is_error: bool) -> ToolOutcome {
    let Some(raw) = fields.tool_response else {
        return ToolOutcome {
            result: None,
            is_error,
        };
    };
    let result = match snake_payload::text(raw) {
        Some(text) => Payload::from(without_client_lines(&text).text),
        None => Payload::from(raw),
    };
    ToolOutcome {
        result: Some(result),
        is_error,
    }
}

pub(super) fn write(phase: HookPhase, event: &str, reply: &Reply) -> Option<Value> {
    let reply = &in_codex_words(reply);
    match (reply, phase) {
        (Reply::Silent, _) | (Reply::Note(_), HookPhase::Return) => None,
        (Reply::Unchecked(text), _) => Some(json!({"systemMessage": text})),
        (
            Reply::Ask(Question {
                refusal: reason, ..
            })
            | Reply::Refuse(reason),
            HookPhase::Before,
        ) => Some(refusal(event, reason)),
        (Reply::Stop(reason), HookPhase::Before) => {
            Some(refusal(event, &format!("{reason}\n{HOW_TO_END}")))
        }
        (Reply::Refuse(reason) | Reply::Stop(reason), HookPhase::Prompt) => {
            Some(json!({"decision": "block", "reason": reason}))
        }
        (Reply::Stop(text), _) => Some(note(event, &format!("{text}\n{HOW_TO_END}"))),
        (
            Reply::Note(text) | Reply::Ask(Question { refusal: text, .. }) | Reply::Refuse(text),
            _,
        ) => Some(note(event, text)),
    }
}

/// Hooks call the shell `Bash`, a name that Codex never gives to its model.
fn in_codex_words(reply: &Reply) -> Reply {
    let said = |text: &String| text.replace("`Bash`", "the shell tool");
    match reply {
        Reply::Silent => Reply::Silent,
        Reply::Note(text) => Reply::Note(said(text)),
        // It asks nobody: only a refusal reaches it.
        Reply::Ask(question) => Reply::Refuse(said(&question.refusal)),
        Reply::Refuse(text) => Reply::Refuse(said(text)),
        Reply::Stop(text) => Reply::Stop(said(text)),
        Reply::Unchecked(text) => Reply::Unchecked(said(text)),
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
