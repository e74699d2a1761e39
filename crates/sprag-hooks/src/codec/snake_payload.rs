//! The payload that Claude Code made popular: flat, `snake_case`, with `hook_event_name`. Codex, Gemini CLI
//! and, for Claude's hooks, Copilot send the same with more or fewer fields.

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Payload;

use crate::client::Client;
use crate::parsed_hook::{Actor, HookPhase, ReadError};
use crate::spend::{HookSpender, SpendSource};

/// The fields that any of them sends and we read.
#[derive(Debug, Deserialize)]
pub(super) struct SnakePayload<'p> {
    pub(super) hook_event_name: Option<String>,
    pub(super) session_id: Option<String>,
    #[serde(borrow)]
    pub(super) transcript_path: Option<&'p RawValue>,
    #[serde(borrow)]
    pub(super) timestamp: Option<&'p RawValue>,
    pub(super) prompt_id: Option<String>,
    pub(super) turn_id: Option<String>,
    pub(super) permission_mode: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) agent_type: Option<String>,
    pub(super) agent_transcript_path: Option<String>,
    pub(super) model: Option<String>,
    pub(super) parent_agent_id: Option<String>,
    pub(super) tool_name: Option<String>,
    pub(super) tool_use_id: Option<String>,
    #[serde(borrow)]
    pub(super) tool_input: Option<&'p RawValue>,
    #[serde(borrow)]
    pub(super) tool_response: Option<&'p RawValue>,
    #[serde(borrow)]
    pub(super) tool_result: Option<&'p RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'p RawValue>,
    #[serde(borrow)]
    pub(super) prompt: Option<&'p RawValue>,
    pub(super) mcp_context: Option<McpContext>,
    /// All calls of one answer of the model, in Claude Code's `PostToolBatch`.
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<BatchCall<'p>>>,
}

/// A call of a batch, with its result as the model reads it.
#[derive(Debug, Deserialize)]
pub(super) struct BatchCall<'p> {
    pub(super) tool_name: String,
    pub(super) tool_use_id: Option<String>,
    #[serde(borrow)]
    pub(super) tool_input: Option<&'p RawValue>,
    #[serde(borrow)]
    pub(super) tool_response: Option<&'p RawValue>,
}

/// Whose tool it is, as Gemini CLI reports it.
#[derive(Debug, Deserialize)]
pub(super) struct McpContext {
    pub(super) server_name: String,
    pub(super) tool_name: String,
}

impl SnakePayload<'_> {
    /// The event's name; what the payload says beats what the hook was registered for.
    pub(super) fn event<'n>(&'n self, registered: Option<&'n str>) -> Result<&'n str, ReadError> {
        let name = self.hook_event_name.as_deref().or(registered);
        name.ok_or(ReadError::Missing("hook_event_name"))
    }

    pub(super) fn session(&self) -> Result<&str, ReadError> {
        let session = self.session_id.as_deref();
        session.ok_or(ReadError::Missing("session_id"))
    }

    /// Where `actor` of `client` has written down what it spent: a sub-agent in `of_sub`, or where it says.
    pub(super) fn spender(
        &self,
        client: Client,
        actor: Actor,
        of_sub: impl FnOnce(&str, &str) -> Option<String>,
    ) -> Option<HookSpender> {
        let main = self.transcript_path.and_then(text)?;
        let own = self.agent_transcript_path.clone();
        let of_sub = actor
            .sub
            .as_deref()
            .and_then(|sub| own.or_else(|| of_sub(&main, sub)));
        let event = self.hook_event_name.as_deref().unwrap_or_default();
        let (transcript, of_session) = match of_sub {
            Some(own) => (own, Some(main)),
            None => (main, None),
        };
        Some(HookSpender {
            source: SpendSource {
                client,
                session: actor.root.clone(),
                transcript: Some(transcript),
                of_session,
                starts: phase(event) == HookPhase::Start,
                ends: matches!(event, "Stop" | "SubagentStop"),
            },
            actor,
            model: self.model.clone(),
        })
    }

    pub(super) fn tool(&self) -> Result<&str, ReadError> {
        let tool = self.tool_name.as_deref();
        tool.ok_or(ReadError::Missing("tool_name"))
    }
}

/// Where an event of Claude's naming stands.
pub(super) fn phase(event: &str) -> HookPhase {
    match event {
        "UserPromptSubmit" => HookPhase::Prompt,
        "PreToolUse" => HookPhase::Before,
        "PostToolUse" | "PostToolUseFailure" => HookPhase::After,
        "SubagentStart" => HookPhase::Spawn,
        "SubagentStop" => HookPhase::Return,
        "PostToolBatch" => HookPhase::Batch,
        "SessionStart" => HookPhase::Start,
        _ => HookPhase::Ignored,
    }
}

/// A payload as it came.
pub(super) fn payload(raw: Option<&RawValue>) -> Option<Payload> {
    raw.map(Payload::from)
}

/// The text of a JSON string; nothing where it is something else.
pub(super) fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// The texts of a list of content blocks, `[{"type":"text","text":"…"}]`.
pub(super) fn block_texts(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Block {
        text: String,
    }
    let blocks: Vec<Block> = serde_json::from_str(raw.get()).ok()?;
    let texts: Vec<String> = blocks.into_iter().map(|block| block.text).collect();
    Some(texts.join("\n"))
}
