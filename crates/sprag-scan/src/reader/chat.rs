//! What programs keep that talk to a model themselves: a list of messages with roles, `tool_calls` and the answers to them.
//!
//! Both common shapes are read: that of the chat completions API (`tool_calls`, role `tool`) and that of the messages API
//! (`tool_use` and `tool_result` blocks). A file is one conversation, as an array or as one message a line, or many, as one
//! `{"messages": […]}` a line. Such logs mostly have no times, so their pace is made up.

use sprag_hooks::parse_time;
use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Timestamp;

use super::TranscriptReader;
use super::claude::{ClaudeBlock, take};
use super::text::{answer, string, unpacked};
use crate::transcript_item::{
    ItemKind, ResultBody, Sink, TokenCounts, TranscriptCall, TranscriptItem,
};

#[derive(Deserialize)]
struct ChatMessage<'a> {
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ChatToolCall<'a>>>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "created_at", alias = "created")]
    timestamp: Option<&'a RawValue>,
    usage: Option<ChatUsage>,
}

#[derive(Deserialize)]
struct ChatToolCall<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: ChatFunction<'a>,
}

#[derive(Deserialize)]
struct ChatFunction<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ChatUsage {
    #[serde(default, alias = "prompt_tokens")]
    input_tokens: u64,
    #[serde(default, alias = "completion_tokens")]
    output_tokens: u64,
}

/// Reads the pieces of one file.
pub(crate) struct Chat {
    name: String,
    /// How many conversations came, where a file holds many.
    conversations: u64,
}

impl Chat {
    /// A file called `name`.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            conversations: 0,
        }
    }
}

impl TranscriptReader for Chat {
    fn read(&mut self, piece: &[u8], sink: Sink<'_>) -> Result<(), serde_json::Error> {
        let piece: ChatMessage<'_> = serde_json::from_slice(piece)?;
        let Some(messages) = &piece.messages else {
            message(&self.name, &piece, sink);
            return Ok(());
        };
        self.conversations += 1;
        let id = piece.id.and_then(string);
        let session = match id {
            Some(id) => id.into_owned(),
            None => format!("{}-{}", self.name, self.conversations),
        };
        for raw in messages {
            let one: ChatMessage<'_> = serde_json::from_str(raw.get())?;
            message(&session, &one, sink);
        }
        Ok(())
    }
}

fn message(session: &str, message: &ChatMessage<'_>, sink: Sink<'_>) {
    let at = message.timestamp.and_then(time);
    let mut tell = |what: ItemKind<'_>| sink(TranscriptItem { session, at, what });
    let role = message.role.as_deref().unwrap_or_default();
    if let Some(usage) = &message.usage {
        tell(ItemKind::Tokens(TokenCounts {
            input: usage.input_tokens,
            cached: 0,
            output: usage.output_tokens,
        }));
    }
    match role {
        "tool" => {
            if let Some(id) = &message.tool_call_id {
                let answer = message.content.map_or(ResultBody::Nothing, answer);
                tell(ItemKind::Outcome {
                    id,
                    answer,
                    is_error: false,
                });
            }
        }
        "user" | "assistant" => {
            if let Some(content) = message.content {
                spoken(content, role == "assistant", &mut tell);
            }
        }
        _ => {}
    }
    for (place, call) in message.tool_calls.iter().flatten().enumerate() {
        let made_up;
        let id = match &call.id {
            Some(id) => &**id,
            None => {
                made_up = format!("call-{place}");
                &made_up
            }
        };
        tell(ItemKind::Call(TranscriptCall {
            id,
            server: None,
            tool: call.function.name.clone(),
            args: call.function.arguments.map(unpacked),
        }));
    }
}

fn spoken(content: &RawValue, is_agent: bool, tell: &mut dyn FnMut(ItemKind<'_>)) {
    match string(content) {
        Some(text) if text.is_empty() => {}
        Some(_) if is_agent => tell(ItemKind::Said),
        Some(_) => tell(ItemKind::Prompt),
        None => {
            let blocks: Vec<ClaudeBlock<'_>> =
                serde_json::from_str(content.get()).unwrap_or_default();
            for block in &blocks {
                take(block, is_agent, false, tell);
            }
        }
    }
}

/// RFC 3339, or seconds or milliseconds since 1970.
fn time(raw: &RawValue) -> Option<Timestamp> {
    if let Some(text) = string(raw) {
        return parse_time(&text);
    }
    let whole = raw.get().split('.').next().unwrap_or_default();
    let number: u64 = whole.parse().ok()?;
    Some(Timestamp(if number < 100_000_000_000 {
        number.checked_mul(1_000)?
    } else {
        number
    }))
}
