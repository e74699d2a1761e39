//! A streamed answer of `generateContent`: chunks, each of them a small answer of its own.

use serde_json::{Map, Value};

use super::part::{call, goes_on, grow, last, parts, said, settle, tokens};
use crate::request::{Tokens, ToolCall};
use crate::sse::{event, put};
use crate::stream::{AnswerStream, Sign};

/// Where a reader is in an answer.
#[derive(Default)]
pub(crate) struct GeminiStream {
    /// Where the answer stands in the conversation.
    turn: usize,
    /// What every chunk of this answer repeats.
    frame: Map<String, Value>,
    id: String,
    calls: usize,
    /// A call of which the arguments come in pieces, and what came of them.
    growing: Option<(Value, Map<String, Value>)>,
    /// The chunk whose calls are being settled.
    settling: Value,
    aside: String,
    tokens: Tokens,
}

impl GeminiStream {
    pub(crate) fn new(turn: usize) -> Self {
        Self {
            turn,
            ..Self::default()
        }
    }

    fn remember(&mut self, chunk: &Value) {
        if chunk.get("usageMetadata").is_some() {
            self.tokens = tokens(chunk);
        }
        for name in ["usageMetadata", "modelVersion", "responseId"] {
            if let Some(value) = chunk.get(name) {
                self.frame.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(id) = chunk.get("responseId").and_then(Value::as_str) {
            id.clone_into(&mut self.id);
        }
    }

    /// The calls of a chunk; none as long as one of them goes on.
    fn calls(&mut self, chunk: &Value) -> Option<Vec<ToolCall>> {
        let mut calls = Vec::new();
        for part in parts(chunk) {
            if part.get("functionCall").is_none() {
                continue;
            }
            let (mut whole, mut args) = self.growing.take().unwrap_or_default();
            grow(&mut args, part);
            if whole.is_null() {
                whole = part.clone();
            }
            if goes_on(part) {
                self.growing = Some((whole, args));
                continue;
            }
            if !args.is_empty()
                && let Some(function) = whole.get_mut("functionCall")
            {
                put(function, "args", Value::Object(args));
            }
            calls.extend(call(&whole, self.turn, self.calls));
            self.calls += 1;
        }
        self.growing.is_none().then_some(calls)
    }
}

impl AnswerStream for GeminiStream {
    fn read(&mut self, data: &[u8]) -> Sign {
        let Ok(chunk) = serde_json::from_slice::<Value>(data) else {
            return Sign::Pass;
        };
        self.remember(&chunk);
        let Some(calls) = self.calls(&chunk) else {
            return Sign::Hold;
        };
        let (words, thoughts) = (said(&chunk, false), said(&chunk, true));
        if !calls.is_empty() {
            self.settling = chunk;
            self.aside = words;
            return Sign::Calls(calls);
        }
        match (words.is_empty(), thoughts.is_empty()) {
            (false, _) => Sign::Said {
                text: words,
                thought: false,
            },
            (true, false) => Sign::Said {
                text: thoughts,
                thought: true,
            },
            (true, true) => Sign::Pass,
        }
    }

    fn aside(&mut self) -> String {
        std::mem::take(&mut self.aside)
    }

    fn is_begun(&self) -> bool {
        !self.frame.is_empty()
    }

    fn settle(&mut self, held: &[u8], texts: &[Option<String>]) -> Vec<u8> {
        let mut chunk = std::mem::take(&mut self.settling);
        if texts.iter().all(Option::is_none) {
            return held.to_vec();
        }
        settle(&mut chunk, &mut texts.iter());
        event(None, &chunk)
    }

    fn closing(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn ending(&mut self, text: &str) -> Vec<u8> {
        event(None, &last(text, &self.frame))
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn tokens(&self) -> Tokens {
        self.tokens
    }
}
