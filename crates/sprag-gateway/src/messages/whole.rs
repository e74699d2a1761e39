//! An answer of the Messages API in one piece.

use serde::Deserialize;
use serde_json::{Value, json};
use sprag_core::Payload;

use crate::request::{Tokens, ToolCall};
use crate::stream::WholeAnswer;

/// What an answer cost, as the API counts it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    input_tokens: Option<u64>,
    pub(super) output_tokens: u64,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl Usage {
    /// A later count takes the place of an earlier one.
    pub(super) fn update(&mut self, later: &Self) {
        self.output_tokens = later.output_tokens;
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        let (write, read) = (
            later.cache_creation_input_tokens,
            later.cache_read_input_tokens,
        );
        self.cache_creation_input_tokens = write.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = read.or(self.cache_read_input_tokens);
    }

    pub(super) fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input_tokens.unwrap_or_default(),
            output: self.output_tokens,
            cache_read: self.cache_read_input_tokens.unwrap_or_default(),
            cache_write: self.cache_creation_input_tokens.unwrap_or_default(),
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    id: String,
    content: Vec<Value>,
    #[serde(default)]
    usage: Usage,
}

pub(crate) fn read(body: &[u8]) -> Option<WholeAnswer> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let mut whole = WholeAnswer {
        id: answer.id,
        tokens: answer.usage.tokens(),
        ..WholeAnswer::default()
    };
    for block in &answer.content {
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "tool_use" => {
                let args = Payload::from(block.get("input").unwrap_or(&Value::Null));
                let call = ToolCall::new(text("id"), text("name"), args);
                whole.calls.push(call);
            }
            "text" => whole.said.push_str(text("text")),
            _ => {}
        }
    }
    Some(whole)
}

/// The answer with texts in the places of its calls.
pub(crate) fn settle(body: &[u8], texts: &[Option<String>]) -> Option<Vec<u8>> {
    let mut answer: Value = serde_json::from_slice(body).ok()?;
    let mut texts = texts.iter();
    let mut calls_left = 0;
    for block in answer.get_mut("content")?.as_array_mut()? {
        if block.get("type").and_then(Value::as_str) != Some("tool_use") {
            continue;
        }
        match texts.next() {
            Some(Some(text)) => *block = json!({"type": "text", "text": text}),
            _ => calls_left += 1,
        }
    }
    if calls_left == 0 {
        *answer.get_mut("stop_reason")? = json!("end_turn");
    }
    Some(answer.to_string().into_bytes())
}
