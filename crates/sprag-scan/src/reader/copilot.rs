//! Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`.
//!
//! One file holds the session and its sub-agents, told apart by `agentId`. A shell's exit code stands in the last line of what
//! it printed.

use sprag_hooks::parse_time;
use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_hooks::output::without_shell_tag;

use super::TranscriptReader;
use super::text::string;
use crate::transcript_item::{
    ItemKind, ResultBody, Sink, TokenCounts, TranscriptCall, TranscriptItem,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<CopilotData<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotData<'a> {
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    context: Option<CopilotContext<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mcp_server_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mcp_tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    success: Option<bool>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    usage: Option<CopilotUsage>,
}

#[derive(Deserialize)]
struct CopilotContext<'a> {
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_read_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// The events that are read.
const READ: [&[u8]; 7] = [
    b"\"type\":\"session.start\"",
    b"\"type\":\"user.message\"",
    b"\"type\":\"assistant.message\"",
    b"\"type\":\"tool.execution_start\"",
    b"\"type\":\"tool.execution_complete\"",
    b"\"type\":\"session.usage_record\"",
    b"\"type\":\"abort\"",
];

/// Reads the lines of one file.
pub(crate) struct Copilot {
    session: String,
}

impl Copilot {
    /// `folder` is named after the session.
    pub(crate) fn new(folder: &str) -> Self {
        Self {
            session: folder.to_owned(),
        }
    }
}

impl TranscriptReader for Copilot {
    fn read(&mut self, piece: &[u8], sink: Sink<'_>) -> Result<(), serde_json::Error> {
        let start = piece.get(..60).unwrap_or(piece);
        if !READ.iter().any(|kind| memmem::find(start, kind).is_some()) {
            return Ok(());
        }
        let line: CopilotLine<'_> = serde_json::from_slice(piece)?;
        let Some(data) = &line.data else {
            return Ok(());
        };
        if let ("session.start", Some(id)) = (&*line.kind, &data.session_id) {
            self.session = id.clone().into_owned();
        }
        let joined;
        let session = match &line.agent_id {
            Some(agent) => {
                joined = format!("{}/{agent}", self.session);
                joined.as_str()
            }
            None => self.session.as_str(),
        };
        let at = line.timestamp.as_deref().and_then(parse_time);
        let mut tell = |what: ItemKind<'_>| sink(TranscriptItem { session, at, what });
        match &*line.kind {
            "session.start" => {
                let cwd = data
                    .context
                    .as_ref()
                    .and_then(|context| context.cwd.as_deref());
                if let Some(cwd) = cwd {
                    tell(ItemKind::Project(cwd));
                }
            }
            "user.message" if line.agent_id.is_none() => tell(ItemKind::Prompt),
            "assistant.message" if data.content.is_some_and(|raw| raw.get().len() > 2) => {
                tell(ItemKind::Said)
            }
            "tool.execution_start" => call(data, &mut tell),
            "tool.execution_complete" => outcome(data, &mut tell),
            "session.usage_record" => tokens(data, &mut tell),
            "abort" => tell(ItemKind::Interrupted),
            _ => {}
        }
        Ok(())
    }
}

fn call(data: &CopilotData<'_>, tell: &mut dyn FnMut(ItemKind<'_>)) {
    let (Some(id), Some(name)) = (&data.tool_call_id, &data.tool_name) else {
        return;
    };
    let tool = data.mcp_tool_name.as_deref().unwrap_or(name);
    tell(ItemKind::Call(TranscriptCall {
        id,
        server: data.mcp_server_name.as_deref().map(Cow::Borrowed),
        tool: tool.into(),
        args: data.arguments.map(Cow::Borrowed),
    }));
}

fn outcome(data: &CopilotData<'_>, tell: &mut dyn FnMut(ItemKind<'_>)) {
    #[derive(Deserialize)]
    struct Content<'a> {
        #[serde(borrow)]
        content: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    struct Problem<'a> {
        #[serde(borrow)]
        message: Cow<'a, str>,
    }
    let Some(id) = &data.tool_call_id else {
        return;
    };
    let failed = data.success == Some(false);
    let content = data
        .result
        .and_then(|raw| serde_json::from_str::<Content<'_>>(raw.get()).ok());
    let problem = data.error.and_then(|raw| {
        let message = serde_json::from_str::<Problem<'_>>(raw.get()).map(|problem| problem.message);
        message.ok().or_else(|| string(raw))
    });
    let (answer, bad_exit) = match (content, problem) {
        (Some(content), _) => {
            let printed = without_shell_tag(&content.content);
            (ResultBody::Text(printed.text.into()), printed.failed)
        }
        (None, Some(problem)) => (ResultBody::Text(problem), true),
        (None, None) => (
            data.result.map_or(ResultBody::Nothing, ResultBody::Raw),
            false,
        ),
    };
    tell(ItemKind::Outcome {
        id,
        answer,
        is_error: failed || bad_exit,
    });
}

fn tokens(data: &CopilotData<'_>, tell: &mut dyn FnMut(ItemKind<'_>)) {
    if let Some(usage) = &data.usage {
        tell(ItemKind::Tokens(TokenCounts {
            // What came from the cache is part of the input here.
            input: usage.input_tokens.saturating_sub(usage.cache_read_tokens),
            cached: usage.cache_read_tokens,
            output: usage.output_tokens,
        }));
    }
}
