//! A streamed answer of the Messages API: blocks with an index, each opened, filled and closed.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};
use sprag_core::Payload;

use super::whole::Usage;
use crate::content::arguments;
use crate::request::{Tokens, ToolCall};
use crate::sse::event;
use crate::stream::{AnswerStream, Sign};

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: u64,
    #[serde(default)]
    message: Option<Start>,
    #[serde(default)]
    content_block: Option<Opened>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Start {
    #[serde(default)]
    id: String,
    #[serde(default)]
    usage: Usage,
}

#[derive(Deserialize)]
struct Opened {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    input: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    partial_json: Option<String>,
}

/// A call that is not whole yet.
struct OpenCall {
    index: u64,
    id: String,
    name: String,
    input: Value,
    json: String,
}

/// Where a reader is in an answer.
#[derive(Default)]
pub(crate) struct MessageStream {
    id: String,
    usage: Usage,
    open: BTreeSet<u64>,
    next: u64,
    call: Option<OpenCall>,
    settled: Option<u64>,
    calls_left: usize,
}

impl AnswerStream for MessageStream {
    fn read(&mut self, data: &[u8]) -> Sign {
        let Ok(event) = serde_json::from_slice::<StreamEvent>(data) else {
            return Sign::Pass;
        };
        match event.kind.as_str() {
            "message_start" => {
                if let Some(start) = event.message {
                    self.id = start.id;
                    self.usage = start.usage;
                }
                Sign::Pass
            }
            "content_block_start" => self.opened(event.index, event.content_block),
            "content_block_delta" => self.filled(event.index, event.delta.unwrap_or_default()),
            "content_block_stop" => self.closed(event.index),
            "message_delta" => {
                if let Some(usage) = event.usage {
                    self.usage.update(&usage);
                }
                Sign::End
            }
            "ping" => Sign::Beat,
            _ => Sign::Pass,
        }
    }

    fn is_begun(&self) -> bool {
        !self.id.is_empty()
    }

    fn settle(&mut self, held: &[u8], texts: &[Option<String>]) -> Vec<u8> {
        let index = self.settled.take().unwrap_or_default();
        match texts {
            [Some(text)] => text_block(index, text),
            _ => {
                self.calls_left += 1;
                held.to_vec()
            }
        }
    }

    fn closing(&mut self, data: &[u8]) -> Option<Vec<u8>> {
        let mut value: Value = serde_json::from_slice(data).ok()?;
        let reason = value.pointer_mut("/delta/stop_reason")?;
        if self.calls_left > 0 || reason != "tool_use" {
            return None;
        }
        *reason = json!("end_turn");
        Some(event(Some("message_delta"), &value))
    }

    fn ending(&mut self, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for index in std::mem::take(&mut self.open) {
            let stop = json!({"type": "content_block_stop", "index": index});
            out.extend(event(Some("content_block_stop"), &stop));
        }
        let index = self.call.take().map_or(self.next, |call| call.index);
        out.extend(text_block(self.settled.take().unwrap_or(index), text));
        out.extend(end(self.usage.output_tokens));
        out
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn tokens(&self) -> Tokens {
        self.usage.tokens()
    }
}

impl MessageStream {
    fn opened(&mut self, index: u64, block: Option<Opened>) -> Sign {
        self.next = self.next.max(index.saturating_add(1));
        match block {
            Some(block) if block.kind == "tool_use" => {
                self.call = Some(OpenCall {
                    index,
                    id: block.id,
                    name: block.name,
                    input: block.input,
                    json: String::new(),
                });
                Sign::Hold
            }
            _ => {
                self.open.insert(index);
                Sign::Pass
            }
        }
    }

    fn filled(&mut self, index: u64, delta: Delta) -> Sign {
        if let Some(call) = self.call.as_mut().filter(|call| call.index == index) {
            call.json
                .push_str(delta.partial_json.as_deref().unwrap_or_default());
            return Sign::Hold;
        }
        match (delta.text, delta.thinking) {
            (Some(text), _) => Sign::Said {
                text,
                thought: false,
            },
            (None, Some(text)) => Sign::Said {
                text,
                thought: true,
            },
            (None, None) => Sign::Pass,
        }
    }

    fn closed(&mut self, index: u64) -> Sign {
        self.open.remove(&index);
        match self.call.take_if(|call| call.index == index) {
            None => Sign::Pass,
            Some(call) => {
                self.settled = Some(index);
                let args = match call.json.as_str() {
                    "" => Payload::from(call.input),
                    // What is not JSON the client could not run either; the guard sees what there is.
                    json => arguments(json),
                };
                Sign::Calls(vec![ToolCall::new(&call.id, &call.name, args)])
            }
        }
    }
}

/// A whole block of text.
pub(super) fn text_block(index: u64, text: &str) -> Vec<u8> {
    let start = json!({
        "type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""},
    });
    let delta = json!({
        "type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text},
    });
    let stop = json!({"type": "content_block_stop", "index": index});
    let mut out = event(Some("content_block_start"), &start);
    out.extend(event(Some("content_block_delta"), &delta));
    out.extend(event(Some("content_block_stop"), &stop));
    out
}

/// The normal end of an answer.
pub(super) fn end(output_tokens: u64) -> Vec<u8> {
    let delta = json!({
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": null},
        "usage": {"output_tokens": output_tokens},
    });
    let mut out = event(Some("message_delta"), &delta);
    out.extend(event(
        Some("message_stop"),
        &json!({"type": "message_stop"}),
    ));
    out
}
