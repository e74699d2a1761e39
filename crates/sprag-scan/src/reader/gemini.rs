//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`; in older versions one JSON document, `session-*.json`.
//!
//! A message is written again when something is added to it, its tool calls for instance, and all messages are written again
//! when the history is changed. So a call is told once, by its id, and tokens once for each message.

use sprag_hooks::parse_time;
use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_hooks::output::without_client_lines;

use super::TranscriptReader;
use super::text::string;
use crate::transcript_item::{
    ItemKind, ResultBody, Sink, TokenCounts, TranscriptCall, TranscriptItem,
};

/// How many ids are remembered; what comes again comes soon.
const MAX_IDS: usize = 16 * 1024;
/// The tool by which a sub-agent hands over its result. It does nothing.
const HAND_OVER: &str = "complete_task";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiHeader<'a> {
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    directories: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow, rename = "$set")]
    set: Option<GeminiSet<'a>>,
}

#[derive(Deserialize)]
struct GeminiSet<'a> {
    #[serde(borrow)]
    messages: Option<Vec<GeminiMessage<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiMessage<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    tokens: Option<GeminiUsage>,
    #[serde(borrow)]
    tool_calls: Option<Vec<GeminiToolCall<'a>>>,
}

#[derive(Deserialize)]
struct GeminiUsage {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    thoughts: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiToolCall<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    display_name: Option<Cow<'a, str>>,
}

/// Reads the pieces of one file.
#[derive(Default)]
pub(crate) struct Gemini {
    session: String,
    is_child: bool,
    seen: HashSet<String>,
}

impl TranscriptReader for Gemini {
    fn read(&mut self, piece: &[u8], sink: Sink<'_>) -> Result<(), serde_json::Error> {
        // By far the most common line, and it says nothing.
        if piece.starts_with(b"{\"$set\":{\"lastUpdated\"") {
            return Ok(());
        }
        let is_head = piece.starts_with(b"{\"sessionId\"") || piece.starts_with(b"{\"$set\"");
        if !is_head {
            let message: GeminiMessage<'_> = serde_json::from_slice(piece)?;
            self.take(&message, sink);
            return Ok(());
        }
        let head: GeminiHeader<'_> = serde_json::from_slice(piece)?;
        if let Some(id) = &head.session_id {
            self.open(id, head.kind.as_deref());
            if let Some(project) = head.directories.iter().flatten().next() {
                let what = ItemKind::Project(project);
                sink(TranscriptItem {
                    session: self.name(),
                    at: None,
                    what,
                });
            }
        }
        let set = head.set.as_ref().and_then(|set| set.messages.as_ref());
        for message in set.into_iter().flatten() {
            self.take(message, sink);
        }
        Ok(())
    }

    fn header(&mut self, header: &[u8]) {
        if let Ok(head) = serde_json::from_slice::<GeminiHeader<'_>>(header)
            && let Some(id) = &head.session_id
        {
            self.open(id, head.kind.as_deref());
        }
    }
}

impl Gemini {
    fn open(&mut self, id: &str, kind: Option<&str>) {
        if self.session.is_empty() {
            id.clone_into(&mut self.session);
            self.is_child = kind == Some("subagent");
        }
    }

    fn name(&self) -> &str {
        if self.session.is_empty() {
            "session"
        } else {
            &self.session
        }
    }

    /// Whether this id is seen for the first time.
    fn is_new(&mut self, id: &str) -> bool {
        if self.seen.len() >= MAX_IDS {
            self.seen.clear();
        }
        self.seen.insert(id.to_owned())
    }

    fn take(&mut self, message: &GeminiMessage<'_>, sink: Sink<'_>) {
        let (Some(id), Some(kind)) = (&message.id, message.kind.as_deref()) else {
            return;
        };
        let at = message.timestamp.as_deref().and_then(parse_time);
        let first_time = self.is_new(id);
        let new: Vec<bool> = message
            .tool_calls
            .iter()
            .flatten()
            .map(|call| call.name != HAND_OVER && self.is_new(&call.id))
            .collect();
        let session = self.name();
        let mut tell = |at: Option<sprag_core::Timestamp>, what: ItemKind<'_>| {
            sink(TranscriptItem { session, at, what })
        };
        match kind {
            "user" if first_time && !self.is_child && message.content.is_some_and(is_prompt) => {
                tell(at, ItemKind::Prompt);
            }
            "gemini" => {
                if let (true, Some(used)) = (first_time, &message.tokens) {
                    tell(at, ItemKind::Tokens(tokens(used)));
                }
                let has_text = message.content.is_some_and(|raw| raw.get().len() > 2);
                if first_time && has_text {
                    tell(at, ItemKind::Said);
                }
                let calls = message.tool_calls.iter().flatten().zip(new);
                for (call, _) in calls.filter(|(_, new)| *new) {
                    called(call, &mut |late, what| tell(late.or(at), what));
                }
            }
            _ => {}
        }
    }
}

fn tokens(used: &GeminiUsage) -> TokenCounts {
    TokenCounts {
        // What came from the cache is part of the input here.
        input: used.input.saturating_sub(used.cached),
        cached: used.cached,
        output: used.output.saturating_add(used.thoughts),
    }
}

/// A person's words; results of tools come as a user's message too, and the client sets the scene in tags.
fn is_prompt(content: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Part<'a> {
        #[serde(borrow)]
        text: Option<Cow<'a, str>>,
    }
    let is_own = |text: &str| text.is_empty() || text.starts_with('<');
    if let Some(text) = string(content) {
        return !is_own(&text);
    }
    let parts: Vec<Part<'_>> = serde_json::from_str(content.get()).unwrap_or_default();
    parts
        .iter()
        .filter_map(|part| part.text.as_deref())
        .any(|text| !is_own(text))
}

fn called(
    call: &GeminiToolCall<'_>,
    tell: &mut dyn FnMut(Option<sprag_core::Timestamp>, ItemKind<'_>),
) {
    let (server, tool) = split(&call.name, call.display_name.as_deref());
    tell(
        None,
        ItemKind::Call(TranscriptCall {
            id: &call.id,
            server: server.map(Cow::Borrowed),
            tool: tool.into(),
            args: call.args.map(Cow::Borrowed),
        }),
    );
    let Some(result) = call.result else {
        return;
    };
    let failed = call.status.as_deref() == Some("error");
    let (answer, bad_exit) = outcome(result);
    tell(
        call.timestamp.as_deref().and_then(parse_time),
        ItemKind::Outcome {
            id: &call.id,
            answer,
            is_error: failed || bad_exit,
        },
    );
}

/// `mcp_catalog_delete_asset`, which is shown as `delete_asset (catalog MCP Server)`.
fn split<'n>(name: &'n str, shown: Option<&'n str>) -> (Option<&'n str>, &'n str) {
    let known = shown
        .and_then(|shown| shown.strip_suffix(" MCP Server)"))
        .and_then(|shown| shown.rsplit_once(" ("));
    match known {
        Some((tool, server)) => (Some(server), tool),
        None => match name
            .strip_prefix("mcp_")
            .and_then(|rest| rest.split_once('_'))
        {
            Some((server, tool)) => (Some(server), tool),
            None => (None, name),
        },
    }
}

fn outcome(raw: &RawValue) -> (ResultBody<'_>, bool) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Part<'a> {
        #[serde(borrow)]
        function_response: Option<FunctionResponse<'a>>,
    }
    #[derive(Deserialize)]
    struct FunctionResponse<'a> {
        #[serde(borrow)]
        response: Response<'a>,
    }
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        output: Option<Cow<'a, str>>,
        #[serde(borrow)]
        error: Option<Cow<'a, str>>,
    }
    let parts: Vec<Part<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
    let response = parts.into_iter().find_map(|part| part.function_response);
    match response.map(|found| found.response) {
        Some(Response {
            error: Some(error), ..
        }) => (ResultBody::Text(error), true),
        Some(Response {
            output: Some(output),
            ..
        }) => {
            let printed = without_client_lines(&output);
            (ResultBody::Text(printed.text.into()), printed.failed)
        }
        _ => (ResultBody::Raw(raw), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_a_server_is_told_by_how_it_is_shown() {
        let shown = Some("delete_asset (my_catalog MCP Server)");
        assert_eq!(
            split("mcp_my_catalog_delete_asset", shown),
            (Some("my_catalog"), "delete_asset")
        );
        assert_eq!(
            split("mcp_catalog_delete_asset", None),
            (Some("catalog"), "delete_asset")
        );
        assert_eq!(
            split("run_shell_command", Some("Shell")),
            (None, "run_shell_command")
        );
    }
}
