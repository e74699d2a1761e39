//! A streamed answer of the Responses API: items with an index, each added, filled and done.

use serde_json::{Value, json};

use super::item::{call, is_call, message, said, text};
use super::whole::tokens;
use crate::request::Tokens;
use crate::sse::{event, put};
use crate::stream::{AnswerStream, Sign};

/// An item that was added and is not done.
struct OpenItem {
    index: u64,
    item: Value,
    said: String,
}

/// Where a reader is in an answer.
#[derive(Default)]
pub(crate) struct ResponseStream {
    response: Value,
    sequence: u64,
    next: u64,
    open: Option<OpenItem>,
    /// The index of the call that is held.
    call: Option<u64>,
    /// The item of the call that is being settled.
    settling: Option<Value>,
    /// The items that the client has, with ours among them.
    done: Vec<Value>,
    tokens: Tokens,
}

impl AnswerStream for ResponseStream {
    fn read(&mut self, data: &[u8]) -> Sign {
        let Ok(mut value) = serde_json::from_slice::<Value>(data) else {
            return Sign::Pass;
        };
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        self.sequence = number("sequence_number").unwrap_or(self.sequence);
        let index = number("output_index");
        let kind = text(&value, "type").to_owned();
        match kind.as_str() {
            "response.created" => {
                self.response = taken(&mut value, "response");
                Sign::Pass
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.tokens = tokens(&taken(&mut value, "response"));
                Sign::End
            }
            "response.output_item.added" => {
                self.added(index.unwrap_or_default(), taken(&mut value, "item"))
            }
            "response.output_item.done" => {
                self.finished(index.unwrap_or_default(), taken(&mut value, "item"))
            }
            _ if index.is_some() && index == self.call => Sign::Hold,
            "response.output_text.delta" => self.said(&value, false),
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.said(&value, true)
            }
            _ => Sign::Pass,
        }
    }

    fn is_begun(&self) -> bool {
        !self.response.is_null()
    }

    fn settle(&mut self, held: &[u8], texts: &[Option<String>]) -> Vec<u8> {
        let index = self.call.take().unwrap_or_default();
        let item = self.settling.take().unwrap_or_default();
        match texts {
            [Some(said)] => self.say(index, text(&item, "id"), said),
            _ => {
                self.done.push(item);
                held.to_vec()
            }
        }
    }

    fn closing(&mut self, data: &[u8]) -> Option<Vec<u8>> {
        let mut value: Value = serde_json::from_slice(data).ok()?;
        let output = value.pointer_mut("/response/output")?;
        *output = Value::Array(self.done.clone());
        let kind = text(&value, "type").to_owned();
        Some(event(Some(&kind), &value))
    }

    fn ending(&mut self, reason: &str) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(open) = self.open.take() {
            let mut item = open.item;
            if text(&item, "type") == "message" {
                item = message(text(&item, "id").trim_start_matches("msg_"), &open.said);
            }
            out.extend(self.event(
                "response.output_item.done",
                open.index,
                json!({"item": item}),
            ));
            self.done.push(item);
        }
        let index = self.call.take().unwrap_or(self.next);
        let id = format!("sprag_{index}");
        out.extend(self.say(index, &id, reason));
        let mut response = std::mem::take(&mut self.response);
        put(&mut response, "status", json!("completed"));
        put(&mut response, "output", Value::Array(self.done.clone()));
        put(&mut response, "usage", no_usage());
        self.sequence += 1;
        let end = json!({
            "type": "response.completed", "sequence_number": self.sequence, "response": response,
        });
        out.extend(event(Some("response.completed"), &end));
        out
    }

    fn id(&self) -> &str {
        text(&self.response, "id")
    }

    fn tokens(&self) -> Tokens {
        self.tokens
    }
}

impl ResponseStream {
    fn added(&mut self, index: u64, item: Value) -> Sign {
        self.next = self.next.max(index.saturating_add(1));
        if is_call(&item) {
            self.call = Some(index);
            return Sign::Hold;
        }
        self.open = Some(OpenItem {
            index,
            item,
            said: String::new(),
        });
        Sign::Pass
    }

    fn finished(&mut self, index: u64, item: Value) -> Sign {
        self.next = self.next.max(index.saturating_add(1));
        let open = self.open.take_if(|open| open.index == index);
        let is_new = open.is_none_or(|open| open.said.is_empty());
        match call(&item) {
            Some(call) => {
                self.call = Some(index);
                self.settling = Some(item);
                Sign::Calls(vec![call])
            }
            None => {
                // A server may send a message in one piece, without its parts.
                let whole = if is_new && text(&item, "type") == "message" {
                    said(&item)
                } else {
                    String::new()
                };
                self.done.push(item);
                match whole.is_empty() {
                    true => Sign::Pass,
                    false => Sign::Said {
                        text: whole,
                        thought: false,
                    },
                }
            }
        }
    }

    fn said(&mut self, value: &Value, thought: bool) -> Sign {
        let text = text(value, "delta").to_owned();
        if let Some(open) = self.open.as_mut().filter(|_| !thought) {
            open.said.push_str(&text);
        }
        Sign::Said { text, thought }
    }

    /// A whole message of ours at `index`.
    fn say(&mut self, index: u64, id: &str, said: &str) -> Vec<u8> {
        let item = message(id, said);
        let events = spoken_item(&item, said);
        self.done.push(item);
        let events = events.into_iter();
        events
            .flat_map(|(kind, rest)| self.event(kind, index, rest))
            .collect()
    }

    fn event(&mut self, kind: &str, index: u64, mut rest: Value) -> Vec<u8> {
        self.sequence += 1;
        put(&mut rest, "type", json!(kind));
        put(&mut rest, "output_index", json!(index));
        put(&mut rest, "sequence_number", json!(self.sequence));
        event(Some(kind), &rest)
    }
}

fn taken(value: &mut Value, name: &str) -> Value {
    value.get_mut(name).map(Value::take).unwrap_or_default()
}

/// The events that make a message, in order.
pub(super) fn spoken_item(item: &Value, said: &str) -> Vec<(&'static str, Value)> {
    let id = text(item, "id");
    let mut empty = item.clone();
    put(&mut empty, "content", json!([]));
    put(&mut empty, "status", json!("in_progress"));
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    vec![
        ("response.output_item.added", json!({"item": empty})),
        (
            "response.content_part.added",
            json!({"item_id": id, "content_index": 0, "part": part("")}),
        ),
        (
            "response.output_text.delta",
            json!({"item_id": id, "content_index": 0, "delta": said, "logprobs": []}),
        ),
        (
            "response.output_text.done",
            json!({"item_id": id, "content_index": 0, "text": said, "logprobs": []}),
        ),
        (
            "response.content_part.done",
            json!({"item_id": id, "content_index": 0, "part": part(said)}),
        ),
        ("response.output_item.done", json!({"item": item})),
    ]
}

pub(super) fn no_usage() -> Value {
    json!({
        "input_tokens": 0, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 0, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 0,
    })
}
