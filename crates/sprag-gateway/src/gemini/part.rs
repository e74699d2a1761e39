//! The parts of an answer: texts, thoughts and calls.

use serde_json::{Map, Value, json};
use sprag_core::Payload;

use crate::content::{number_at, text_at};
use crate::request::{Tokens, ToolCall};

/// Stands in the place of a signature that went with a call which was taken out. The API documents it
/// for calls that the model did not make as they are sent.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The parts of the first candidate of an answer or a chunk.
pub(super) fn parts(chunk: &Value) -> &[Value] {
    let parts = chunk.pointer("/candidates/0/content/parts");
    parts.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The id of a call or a result that names none: its place in the conversation.
pub(super) fn place(turn: usize, index: usize) -> String {
    format!("g{turn}-{index}")
}

/// The call in a part, the `index`th of the answer that stands at `turn`.
pub(super) fn call(part: &Value, turn: usize, index: usize) -> Option<ToolCall> {
    let call = part.get("functionCall")?;
    let id = match text_at(call, "/id") {
        "" => place(turn, index),
        id => id.to_owned(),
    };
    let args = call.get("args").cloned().unwrap_or_else(|| json!({}));
    Some(ToolCall::new(
        &id,
        text_at(call, "/name"),
        Payload::from(args),
    ))
}

/// Whether a call goes on in the next chunk.
pub(super) fn goes_on(part: &Value) -> bool {
    part.pointer("/functionCall/willContinue") == Some(&Value::Bool(true))
}

/// Adds the arguments that a part of a call brings to those that came before.
pub(super) fn grow(args: &mut Map<String, Value>, part: &Value) {
    let pieces = part.pointer("/functionCall/partialArgs");
    for piece in pieces.and_then(Value::as_array).into_iter().flatten() {
        let name = text_at(piece, "/jsonPath")
            .trim_start_matches("$.")
            .to_owned();
        let text = piece.get("stringValue").and_then(Value::as_str);
        let value = match (text, args.get(&name).and_then(Value::as_str)) {
            (Some(more), Some(begun)) => json!(format!("{begun}{more}")),
            (Some(text), None) => json!(text),
            (None, _) => {
                let other = ["numberValue", "boolValue"]
                    .iter()
                    .find_map(|kind| piece.get(*kind));
                other.cloned().unwrap_or_default()
            }
        };
        args.insert(name, value);
    }
}

/// The words of a chunk, or its thoughts.
pub(super) fn said(chunk: &Value, thought: bool) -> String {
    let is_thought = |part: &Value| part.get("thought") == Some(&Value::Bool(true));
    let parts = parts(chunk)
        .iter()
        .filter(|part| is_thought(part) == thought);
    parts.map(|part| text_at(part, "/text")).collect()
}

/// Puts texts in the places of calls. A signature stays where it was; the first call that is left must
/// have one.
pub(super) fn settle<'t>(chunk: &mut Value, texts: &mut impl Iterator<Item = &'t Option<String>>) {
    let parts = chunk.pointer_mut("/candidates/0/content/parts");
    let Some(parts) = parts.and_then(Value::as_array_mut) else {
        return;
    };
    let mut lost = false;
    for part in parts {
        if part.get("functionCall").is_none() {
            continue;
        }
        let signature = part.get("thoughtSignature").cloned();
        match texts.next() {
            Some(Some(text)) => {
                lost |= signature.is_some();
                *part = json!({"text": text});
            }
            _ if lost && signature.is_none() => {
                crate::sse::put(part, "thoughtSignature", json!(NO_SIGNATURE));
                lost = false;
            }
            _ => lost = false,
        }
    }
}

/// What an answer cost. The API counts cached tokens among the prompt's, and thoughts apart.
pub(super) fn tokens(chunk: &Value) -> Tokens {
    let number = |name: &str| number_at(chunk, &format!("/usageMetadata/{name}"));
    let cached = number("cachedContentTokenCount");
    let prompt = number("promptTokenCount").saturating_add(number("toolUsePromptTokenCount"));
    Tokens {
        input: prompt.saturating_sub(cached),
        output: number("candidatesTokenCount").saturating_add(number("thoughtsTokenCount")),
        cache_read: cached,
        cache_write: 0,
    }
}

/// A chunk, or a whole answer, that says `text` and ends the turn.
pub(super) fn last(text: &str, frame: &Map<String, Value>) -> Value {
    let content = json!({"role": "model", "parts": [{"text": text}]});
    let mut chunk = frame.clone();
    let candidate = json!({"content": content, "finishReason": "STOP", "index": 0});
    chunk.insert("candidates".to_owned(), json!([candidate]));
    Value::Object(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(parts: &Value) -> Value {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})
    }

    #[test]
    fn the_first_call_that_is_left_has_a_signature() {
        let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
        let mut signed = call("a");
        crate::sse::put(&mut signed, "thoughtSignature", json!("s"));
        let mut chunk = answer(&json!([{"text": "I look."}, signed, call("b"), call("c")]));
        settle(
            &mut chunk,
            &mut [Some("[sprag] no".to_owned()), None, None].iter(),
        );
        let mut second = call("b");
        crate::sse::put(&mut second, "thoughtSignature", json!(NO_SIGNATURE));
        let expected = json!([{"text": "I look."}, {"text": "[sprag] no"}, second, call("c")]);
        assert_eq!(chunk, answer(&expected));
    }

    #[test]
    fn a_call_that_comes_in_pieces_has_all_its_arguments() {
        let mut args = Map::new();
        for piece in [
            json!([{"jsonPath": "$.path", "stringValue": "a/"}]),
            json!([{"jsonPath": "$.path", "stringValue": "b"}, {"jsonPath": "$.n", "numberValue": 2}]),
        ] {
            grow(
                &mut args,
                &json!({"functionCall": {"partialArgs": piece, "willContinue": true}}),
            );
        }
        assert_eq!(Value::Object(args), json!({"path": "a/b", "n": 2}));
    }
}
