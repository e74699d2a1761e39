//! The lines of each client's transcript that say what an answer of the model used.
//!
//! | client | line | key |
//! |---|---|---|
//! | Claude Code | `assistant`, one for each block of an answer, each with the tokens of the whole | the message's id |
//! | Codex | `token_usage_record`; in older versions `token_count`, which is repeated | the response's id; the sum so far |
//! | Gemini CLI | `gemini`, written again when a tool call is added to it | the message's id |
//! | Copilot CLI | `session.usage_record` | the request's id |
//!
//! Claude counts tokens from and for the cache apart from input; the others count them as input too.
//! Most lines are something else and are told apart before they are parsed.

use serde::Deserialize;
use sprag_core::Tokens;

use super::{SpentLine, TranscriptLine};
use crate::client::Client;
use crate::time::parse_time;

/// Copilot CLI asks its model. A text that holds this would be written with backslashes.
const COPILOT_ASKS: &str = "\"type\":\"assistant.turn_start\"";

/// What a line of a transcript of `client` says about spending, if anything.
#[must_use]
pub fn spent_in(client: Client, line: &str) -> Option<TranscriptLine> {
    let found = match client {
        Client::Claude => claude(line),
        Client::Codex => codex(line),
        Client::Gemini => gemini(line).map(TranscriptLine::Spent),
        Client::Copilot if line.contains(COPILOT_ASKS) => Some(TranscriptLine::Asked),
        Client::Copilot => copilot(line).map(TranscriptLine::Spent),
        Client::Cursor | Client::Opencode => None,
    }?;
    match &found {
        TranscriptLine::Spent(spent) if spent.tokens == Tokens::default() => None,
        _ => Some(found),
    }
}

fn parse<'l, T: Deserialize<'l>>(line: &'l str) -> Option<T> {
    serde_json::from_str(line).ok()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeLine {
    #[serde(rename = "type")]
    kind: String,
    timestamp: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    agent_id: Option<String>,
    message: ClaudeMessage,
}

#[derive(Deserialize)]
struct ClaudeMessage {
    id: String,
    model: Option<String>,
    usage: ClaudeUsage,
}

#[derive(Deserialize)]
struct ClaudeUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
}

/// The start of any line of Claude's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeKind {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    is_meta: bool,
}

fn claude(line: &str) -> Option<TranscriptLine> {
    if line.contains("\"type\":\"user\"") {
        let line: ClaudeKind = parse(line)?;
        return (line.kind == "user" && !line.is_meta).then_some(TranscriptLine::Asked);
    }
    claude_answer(line).map(TranscriptLine::Spent)
}

fn claude_answer(line: &str) -> Option<SpentLine> {
    if !line.contains("\"type\":\"assistant\"") || !line.contains("\"usage\"") {
        return None;
    }
    let line: ClaudeLine = parse(line)?;
    if line.kind != "assistant" {
        return None;
    }
    let sub = line.agent_id.unwrap_or_else(|| "sidechain".to_owned());
    let usage = line.message.usage;
    Some(SpentLine {
        key: line.message.id,
        at: line.timestamp.as_deref().and_then(parse_time),
        sub: Some(sub).filter(|_| line.is_sidechain),
        model: line.message.model,
        tokens: Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
        },
        is_copy: false,
    })
}

/// Tokens of a client that counts what came from the cache and went into it as input too.
fn within_input(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Tokens {
    Tokens {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        output,
        cache_read,
        cache_write,
    }
}

#[derive(Deserialize)]
struct CodexLine {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    payload: CodexEntry,
}

#[derive(Deserialize)]
struct CodexEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    model: Option<String>,
    response_id: Option<String>,
    usage: Option<CodexUsage>,
    info: Option<CodexInfo>,
}

#[derive(Deserialize)]
struct CodexInfo {
    total_token_usage: CodexUsage,
    last_token_usage: CodexUsage,
}

#[derive(Deserialize)]
struct CodexUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cached_input_tokens: u64,
    #[serde(default)]
    cache_write_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl CodexUsage {
    fn tokens(&self) -> Tokens {
        let (read, write) = (self.cached_input_tokens, self.cache_write_input_tokens);
        within_input(self.input_tokens, self.output_tokens, read, write)
    }
}

fn codex(line: &str) -> Option<TranscriptLine> {
    const WANTED: [&str; 3] = ["token_usage_record", "token_count", "turn_context"];
    if !WANTED.iter().any(|kind| line.contains(kind)) {
        return None;
    }
    let line: CodexLine = parse(line)?;
    let (at, entry) = (line.timestamp.as_deref().and_then(parse_time), line.payload);
    let (key, tokens, is_copy) = match (&*line.kind, entry.kind.as_deref()) {
        ("turn_context", _) => return entry.model.map(TranscriptLine::Model),
        ("token_usage_record", _) => (entry.response_id?, entry.usage?.tokens(), false),
        ("event_msg", Some("token_count")) => {
            let info = entry.info?;
            let total = info.total_token_usage;
            let key = format!("total {} {}", total.input_tokens, total.output_tokens);
            (key, info.last_token_usage.tokens(), true)
        }
        _ => return None,
    };
    Some(TranscriptLine::Spent(SpentLine {
        key,
        at,
        tokens,
        is_copy,
        ..SpentLine::default()
    }))
}

#[derive(Deserialize)]
struct GeminiLine {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    timestamp: Option<String>,
    model: Option<String>,
    tokens: GeminiUsed,
}

#[derive(Deserialize)]
struct GeminiUsed {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    thoughts: u64,
    #[serde(default)]
    tool: u64,
}

fn gemini(line: &str) -> Option<SpentLine> {
    if !line.contains("\"type\":\"gemini\"") || !line.contains("\"tokens\"") {
        return None;
    }
    let line: GeminiLine = parse(line)?;
    let used = line.tokens;
    let input = used.input.saturating_add(used.tool);
    let output = used.output.saturating_add(used.thoughts);
    let spent = SpentLine {
        key: line.id,
        at: line.timestamp.as_deref().and_then(parse_time),
        model: line.model,
        tokens: within_input(input, output, used.cached, 0),
        ..SpentLine::default()
    };
    Some(spent).filter(|_| line.kind == "gemini")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotLine {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    timestamp: Option<String>,
    agent_id: Option<String>,
    data: CopilotData,
}

#[derive(Deserialize)]
struct CopilotData {
    usage: CopilotUsage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotUsage {
    model: Option<String>,
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_read_tokens: u64,
    #[serde(default)]
    cache_write_tokens: u64,
    api_call_id: Option<String>,
}

fn copilot(line: &str) -> Option<SpentLine> {
    const RECORD: &str = "session.usage_record";
    if !line.contains(RECORD) {
        return None;
    }
    let line: CopilotLine = parse(line)?;
    let usage = line.data.usage;
    let (read, write) = (usage.cache_read_tokens, usage.cache_write_tokens);
    let spent = SpentLine {
        key: usage.api_call_id.or(line.id)?,
        at: line.timestamp.as_deref().and_then(parse_time),
        sub: line.agent_id,
        model: usage.model,
        tokens: within_input(usage.input_tokens, usage.output_tokens, read, write),
        is_copy: false,
    };
    Some(spent).filter(|_| line.kind == RECORD)
}
