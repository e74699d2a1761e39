//! A streamed answer of the Chat Completions API: chunks, in which calls grow side by side.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::whole::{called, tokens};
use crate::content::text_at;
use crate::request::Tokens;
use crate::sse::event;
use crate::stream::{AnswerStream, Sign};

/// A call that is not whole yet.
#[derive(Default)]
struct OpenCall {
    id: String,
    name: String,
    arguments: String,
}

/// Where a reader is in an answer.
#[derive(Default)]
pub(crate) struct ChatStream {
    /// What every chunk of this answer repeats.
    frame: Map<String, Value>,
    id: String,
    calls: BTreeMap<u64, OpenCall>,
    /// The chunk that ended the answer.
    last: Value,
    tokens: Tokens,
}

impl AnswerStream for ChatStream {
    fn read(&mut self, data: &[u8]) -> Sign {
        let Ok(chunk) = serde_json::from_slice::<Value>(data) else {
            return Sign::Pass;
        };
        self.remember(&chunk);
        let Some(choice) = chunk.pointer("/choices/0") else {
            return Sign::Pass;
        };
        let delta = choice.get("delta").unwrap_or(&Value::Null);
        let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        let parts = delta.get("tool_calls").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            self.grow(part);
        }
        let is_last = choice
            .get("finish_reason")
            .is_some_and(|reason| !reason.is_null());
        if is_last && !self.calls.is_empty() {
            let calls = self.calls.values();
            let calls = calls
                .map(|call| called(&call.id, &call.name, &call.arguments))
                .collect();
            self.last = chunk;
            return Sign::Calls(calls);
        }
        if !self.calls.is_empty() {
            return Sign::Hold;
        }
        let (said, thought) = (text("content"), text("reasoning_content"));
        match (said.is_empty(), thought.is_empty()) {
            (false, _) => Sign::Said {
                text: said.to_owned(),
                thought: false,
            },
            (true, false) => Sign::Said {
                text: thought.to_owned(),
                thought: true,
            },
            (true, true) => Sign::Pass,
        }
    }

    fn is_begun(&self) -> bool {
        !self.frame.is_empty()
    }

    fn settle(&mut self, held: &[u8], texts: &[Option<String>]) -> Vec<u8> {
        let calls = std::mem::take(&mut self.calls);
        if texts.iter().all(Option::is_none) {
            return held.to_vec();
        }
        let said: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        let mut out = self.chunk(json!({"role": "assistant", "content": said.join("\n\n")}));
        let left = calls.values().zip(texts).filter(|(_, text)| text.is_none());
        let left: Vec<Value> = left
            .enumerate()
            .map(|(index, (call, _))| {
                json!({"index": index, "id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments}})
            })
            .collect();
        let reason = if left.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        if !left.is_empty() {
            out.extend(self.chunk(json!({"tool_calls": left})));
        }
        let mut last = std::mem::take(&mut self.last);
        if let Some(choice) = last
            .pointer_mut("/choices/0")
            .and_then(Value::as_object_mut)
        {
            choice.insert("delta".to_owned(), json!({}));
            choice.insert("finish_reason".to_owned(), json!(reason));
        }
        out.extend(event(None, &last));
        out
    }

    fn closing(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn ending(&mut self, text: &str) -> Vec<u8> {
        let mut out = self.chunk(json!({"content": text}));
        out.extend(self.framed(json!({}), json!("stop")));
        out.extend_from_slice(b"data: [DONE]\n\n");
        out
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn tokens(&self) -> Tokens {
        self.tokens
    }
}

impl ChatStream {
    fn remember(&mut self, chunk: &Value) {
        if chunk.get("usage").is_some_and(Value::is_object) {
            self.tokens = tokens(chunk);
        }
        if self.frame.is_empty()
            && let Some(fields) = chunk.as_object()
        {
            let kept = ["id", "object", "created", "model", "system_fingerprint"];
            let kept = kept.iter().filter_map(|name| fields.get_key_value(*name));
            self.frame = kept
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            let id = chunk.get("id").and_then(Value::as_str);
            self.id = id.unwrap_or_default().to_owned();
        }
    }

    fn grow(&mut self, part: &Value) {
        let index = part.get("index").and_then(Value::as_u64);
        let index = index.unwrap_or_else(|| u64::try_from(self.calls.len()).unwrap_or_default());
        let call = self.calls.entry(index).or_default();
        let text = |path: &str| text_at(part, path);
        call.id.push_str(text("/id"));
        call.name.push_str(text("/function/name"));
        call.arguments.push_str(text("/function/arguments"));
    }

    fn chunk(&self, delta: Value) -> Vec<u8> {
        self.framed(delta, Value::Null)
    }

    fn framed(&self, delta: Value, reason: Value) -> Vec<u8> {
        let mut chunk = self.frame.clone();
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        chunk.insert("choices".to_owned(), json!([choice]));
        event(None, &Value::Object(chunk))
    }
}
