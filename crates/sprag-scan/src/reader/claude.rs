//! Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, sub-agents in `<session>/subagents/*.jsonl`.
//!
//! One answer of the model is several lines, one for each block, and each repeats the tokens of the whole; they are
//! counted once, by the message's id. Two thirds of a file are copies of prompts, requests and results in other forms,
//! which are told by their `type` and skipped unparsed. A prompt is not always a person's.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_hooks::{is_own_prompt, parse_time, tool_name};

use super::TranscriptReader;
use super::text::{answer, string};
use crate::transcript_item::{
    ItemKind, ResultBody, Sink, TokenCounts, TranscriptCall, TranscriptItem,
};

/// What Claude Code writes where a command printed nothing.
const SILENT: &str = "\"(Bash completed with no output)\"";
/// What Claude Code writes where a person stopped it.
const INTERRUPTED: &str = "[Request interrupted by user";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<ClaudeMessage<'a>>,
}

#[derive(Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    usage: Option<ClaudeUsage>,
}

#[derive(Deserialize)]
struct ClaudeUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

#[derive(Deserialize)]
pub(super) struct ClaudeBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    is_error: Option<bool>,
}

/// Reads the lines of one file.
#[derive(Default)]
pub(crate) struct Claude {
    /// The message whose tokens were counted last.
    counted: String,
    has_project: bool,
}

impl TranscriptReader for Claude {
    fn read(&mut self, piece: &[u8], sink: Sink<'_>) -> Result<(), serde_json::Error> {
        let matters = |kind: &[u8]| memmem::find(piece, kind).is_some();
        if !matters(b"\"type\":\"assistant\"") && !matters(b"\"type\":\"user\"") {
            return Ok(());
        }
        let line: ClaudeLine<'_> = serde_json::from_slice(piece)?;
        let is_agent = line.kind == "assistant";
        if !is_agent && line.kind != "user" {
            return Ok(());
        }
        let root = line.session_id.as_deref().unwrap_or("session");
        let sub = match (&line.agent_id, line.is_sidechain) {
            (Some(agent), true) => Some(&**agent),
            (None, true) => Some("sidechain"),
            (_, false) => None,
        };
        let joined;
        let session = match sub {
            Some(sub) => {
                joined = format!("{root}/{sub}");
                joined.as_str()
            }
            None => root,
        };
        let at = line.timestamp.as_deref().and_then(parse_time);
        let mut tell = |what: ItemKind<'_>| sink(TranscriptItem { session, at, what });
        if let (false, Some(cwd)) = (self.has_project, &line.cwd) {
            self.has_project = sub.is_none();
            tell(ItemKind::Project(cwd));
        }
        let Some(message) = &line.message else {
            return Ok(());
        };
        if let (Some(usage), Some(id)) = (&message.usage, &message.id)
            && self.counted != **id
        {
            self.counted = id.clone().into_owned();
            tell(ItemKind::Tokens(tokens(usage)));
        }
        let Some(content) = message.content else {
            return Ok(());
        };
        let own = line.is_meta || line.is_compact_summary || sub.is_some();
        if let Some(text) = string(content) {
            said(is_agent, own, &text, &mut tell);
            return Ok(());
        }
        let blocks: Vec<ClaudeBlock<'_>> = serde_json::from_str(content.get())?;
        for block in &blocks {
            take(block, is_agent, own, &mut tell);
        }
        Ok(())
    }
}

fn tokens(usage: &ClaudeUsage) -> TokenCounts {
    TokenCounts {
        input: usage
            .input_tokens
            .saturating_add(usage.cache_creation_input_tokens),
        cached: usage.cache_read_input_tokens,
        output: usage.output_tokens,
    }
}

fn said(is_agent: bool, own: bool, text: &str, tell: &mut dyn FnMut(ItemKind<'_>)) {
    if is_agent {
        tell(ItemKind::Said);
    } else if text.starts_with(INTERRUPTED) {
        tell(ItemKind::Interrupted);
    } else if !own && !is_own_prompt(text) {
        tell(ItemKind::Prompt);
    }
}

pub(super) fn take(
    block: &ClaudeBlock<'_>,
    is_agent: bool,
    own: bool,
    tell: &mut dyn FnMut(ItemKind<'_>),
) {
    match (&*block.kind, is_agent) {
        ("tool_use" | "server_tool_use", true) => {
            let (Some(id), Some(name)) = (&block.id, &block.name) else {
                return;
            };
            let (server, tool) = tool_name::double_underscore(name);
            tell(ItemKind::Call(TranscriptCall {
                id,
                server: server.map(Cow::Owned),
                tool: tool.into(),
                args: block.input.map(Cow::Borrowed),
            }));
        }
        ("tool_result", false) => {
            let Some(id) = &block.tool_use_id else {
                return;
            };
            tell(ItemKind::Outcome {
                id,
                answer: block
                    .content
                    .filter(|raw| raw.get() != SILENT)
                    .map_or(ResultBody::Nothing, answer),
                is_error: block.is_error.unwrap_or(false),
            });
        }
        ("text", _) => {
            let text = block.text.as_deref().unwrap_or_default();
            said(is_agent, own, text, tell);
        }
        _ => {}
    }
}
