//! Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, one file for each thread; a sub-agent's names its parent.
//!
//! What the model did stands there twice, as `response_item` and as `event_msg` for the screen; the former is read. A
//! result is wrapped in lines of the client's own, which name the exit code: no other field does.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_hooks::{parse_time, tool_name};

use super::TranscriptReader;
use super::text::{answer, string, unpacked};
use crate::transcript_item::{
    ItemKind, ResultBody, Sink, TokenCounts, TranscriptCall, TranscriptItem,
};

#[derive(Deserialize)]
struct CodexLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Option<CodexPayload<'a>>,
}

#[derive(Deserialize)]
struct CodexPayload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parent_thread_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    usage: Option<CodexUsage>,
    info: Option<CodexInfo>,
}

#[derive(Deserialize)]
struct CodexInfo {
    last_token_usage: Option<CodexUsage>,
}

#[derive(Deserialize)]
struct CodexUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// Reads the lines of one file.
#[derive(Default)]
pub(crate) struct Codex {
    session: String,
    is_child: bool,
    /// Newer versions record tokens where they are spent, and again for the screen.
    has_records: bool,
}

impl TranscriptReader for Codex {
    fn read(&mut self, piece: &[u8], sink: Sink<'_>) -> Result<(), serde_json::Error> {
        if !matters(piece) {
            return Ok(());
        }
        let line: CodexLine<'_> = serde_json::from_slice(piece)?;
        let Some(payload) = &line.payload else {
            return Ok(());
        };
        let at = line.timestamp.as_deref().and_then(parse_time);
        if line.kind == "session_meta" {
            self.open(payload);
            if let Some(cwd) = &payload.cwd {
                let what = ItemKind::Project(cwd);
                sink(TranscriptItem {
                    session: self.name(),
                    at,
                    what,
                });
            }
            return Ok(());
        }
        self.has_records |= line.kind == "token_usage_record";
        let (is_child, has_records) = (self.is_child, self.has_records);
        let session = self.name();
        let mut tell = |what: ItemKind<'_>| sink(TranscriptItem { session, at, what });
        match (&*line.kind, payload.kind.as_deref().unwrap_or_default()) {
            ("response_item", "message") => spoken(payload, is_child, &mut tell),
            ("response_item", "function_call" | "custom_tool_call" | "local_shell_call") => {
                call(payload, &mut tell);
            }
            ("response_item", "function_call_output" | "custom_tool_call_output") => {
                if let Some(id) = &payload.call_id {
                    let (answer, is_error) =
                        payload.output.map_or((ResultBody::Nothing, false), outcome);
                    tell(ItemKind::Outcome {
                        id,
                        answer,
                        is_error,
                    });
                }
            }
            ("token_usage_record", _) => tokens(payload.usage.as_ref(), &mut tell),
            ("event_msg", "token_count") if !has_records => {
                let usage = payload
                    .info
                    .as_ref()
                    .and_then(|info| info.last_token_usage.as_ref());
                tokens(usage, &mut tell);
            }
            ("event_msg", "turn_aborted") => tell(ItemKind::Interrupted),
            _ => {}
        }
        Ok(())
    }
}

/// Whether a line is one of those that are read: the rest is for the screen or for the model.
fn matters(piece: &[u8]) -> bool {
    let start = piece.get(..200).unwrap_or(piece);
    let has = |what: &[u8]| memmem::find(start, what).is_some();
    if has(b"\"type\":\"event_msg\"") {
        return has(b"\"token_count\"") || has(b"\"turn_aborted\"");
    }
    has(b"\"type\":\"response_item\"")
        || has(b"\"type\":\"session_meta\"")
        || has(b"\"type\":\"token_usage_record\"")
}

impl Codex {
    fn open(&mut self, payload: &CodexPayload<'_>) {
        // A file that was forked holds the first lines of its origin too; the first is its own.
        let Some(id) = payload.id.as_deref().filter(|_| self.session.is_empty()) else {
            return;
        };
        self.is_child = payload.parent_thread_id.is_some();
        self.session = match &payload.parent_thread_id {
            Some(parent) => format!("{parent}/{id}"),
            None => id.to_owned(),
        };
    }

    fn name(&self) -> &str {
        if self.session.is_empty() {
            "session"
        } else {
            &self.session
        }
    }
}

fn tokens(usage: Option<&CodexUsage>, tell: &mut dyn FnMut(ItemKind<'_>)) {
    if let Some(usage) = usage {
        // What came from the cache is part of the input here.
        tell(ItemKind::Tokens(TokenCounts {
            input: usage.input_tokens.saturating_sub(usage.cached_input_tokens),
            cached: usage.cached_input_tokens,
            output: usage.output_tokens,
        }));
    }
}

fn spoken(payload: &CodexPayload<'_>, is_child: bool, tell: &mut dyn FnMut(ItemKind<'_>)) {
    match payload.role.as_deref() {
        Some("assistant") => tell(ItemKind::Said),
        Some("user") if !is_child => {
            let text = match payload.content.map(answer) {
                Some(ResultBody::Text(text)) => text,
                _ => return,
            };
            // What the client tells the model stands in tags, or is the project's own advice.
            if !text.starts_with('<') && !text.starts_with("# AGENTS.md") {
                tell(ItemKind::Prompt);
            }
        }
        _ => {}
    }
}

fn call(payload: &CodexPayload<'_>, tell: &mut dyn FnMut(ItemKind<'_>)) {
    let Some(id) = &payload.call_id else {
        return;
    };
    let name = payload.name.as_deref().unwrap_or("local_shell");
    let space = payload
        .namespace
        .as_deref()
        .and_then(|space| space.strip_prefix("mcp__"));
    let (server, tool) = match space {
        Some(server) => (Some(server.to_owned()), name.to_owned()),
        None => tool_name::double_underscore(name),
    };
    let args = payload
        .arguments
        .or(payload.input)
        .or(payload.action)
        .map(unpacked);
    tell(ItemKind::Call(TranscriptCall {
        id,
        server: server.map(Cow::Owned),
        tool: tool.into(),
        args,
    }));
}

/// What a tool printed, and whether its exit code says that it failed.
fn outcome(raw: &RawValue) -> (ResultBody<'_>, bool) {
    #[derive(Deserialize)]
    struct Older<'a> {
        #[serde(borrow)]
        output: Cow<'a, str>,
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        exit_code: Option<i64>,
    }
    let text = match string(raw) {
        Some(text) => text,
        None => match answer(raw) {
            ResultBody::Text(text) => text,
            other => return (other, false),
        },
    };
    if text.starts_with('{')
        && let Ok(older) = serde_json::from_str::<Older<'_>>(&text)
    {
        let failed = older.metadata.exit_code.is_some_and(|code| code != 0);
        return (ResultBody::Text(older.output.into_owned().into()), failed);
    }
    let (printed, failed) = unwrapped(&text);
    let printed = printed.to_owned();
    (ResultBody::Text(printed.into()), failed)
}

/// `Chunk ID: …`, `Wall time: …`, `Process exited with code 1` and so on, up to `Output:`.
fn unwrapped(text: &str) -> (&str, bool) {
    const OUTPUT: &str = "Output:";
    let starts = [
        "Chunk ID:",
        "Wall time:",
        "Exit code:",
        "Process exited",
        "Process running",
    ];
    if !starts.iter().any(|start| text.starts_with(start)) {
        return (text, false);
    }
    let mut failed = false;
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        if line == OUTPUT {
            return (after, failed);
        }
        let code = line
            .strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "));
        failed |= code.is_some_and(|code| code.trim() != "0");
        rest = after;
    }
    // Nothing but the client's own lines, and perhaps an output without its last end of line.
    (if rest == OUTPUT { "" } else { text }, failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_own_lines_come_off_an_output() {
        let text = "Chunk ID: 37361b\nWall time: 0.0000 seconds\nProcess exited with code 1\nOriginal token count: 17\nOutput:\nFAILED\n";
        assert_eq!(unwrapped(text), ("FAILED\n", true));
        assert_eq!(
            unwrapped("Exit code: 0\nWall time: 1 seconds\nOutput:\n"),
            ("", false)
        );
        assert_eq!(unwrapped("Wall time: 0.0048 seconds\nOutput:"), ("", false));
        assert_eq!(
            unwrapped("Output:\nis no client's"),
            ("Output:\nis no client's", false)
        );
        assert_eq!(
            unwrapped("Wall time: is a nice word"),
            ("Wall time: is a nice word", false)
        );
    }

    #[test]
    fn older_outputs_are_json_in_a_text() {
        let raw = RawValue::from_string(
            r#""{\"output\":\"no\\n\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}""#
                .to_owned(),
        );
        let raw = raw.unwrap();
        let (answer, failed) = outcome(&raw);
        assert!(matches!(answer, ResultBody::Text(text) if text == "no\n") && failed);
    }
}
