//! An answer of `generateContent` in one piece: one object, or the list of chunks of a stream.

use serde_json::Value;

use super::part::{call, parts, said, settle as settle_chunk, tokens};
use crate::content::text_at;
use crate::stream::WholeAnswer;

fn chunks(answer: &Value) -> &[Value] {
    match answer {
        Value::Array(chunks) => chunks,
        one => std::slice::from_ref(one),
    }
}

/// Reads an answer that stands at `turn` in the conversation.
pub(crate) fn read(body: &[u8], turn: usize) -> Option<WholeAnswer> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let chunks = chunks(&answer);
    chunks
        .iter()
        .find(|chunk| chunk.get("candidates").is_some())?;
    let mut whole = WholeAnswer::default();
    for chunk in chunks {
        for part in parts(chunk) {
            let index = whole.calls.len();
            whole.calls.extend(call(part, turn, index));
        }
        whole.said.push_str(&said(chunk, false));
        if chunk.get("usageMetadata").is_some() {
            whole.tokens = tokens(chunk);
        }
        whole.id = text_at(chunk, "/responseId").to_owned();
    }
    Some(whole)
}

/// The answer with texts in the places of its calls.
pub(crate) fn settle(body: &[u8], texts: &[Option<String>]) -> Option<Vec<u8>> {
    let mut answer: Value = serde_json::from_slice(body).ok()?;
    let mut texts = texts.iter();
    match &mut answer {
        Value::Array(chunks) => {
            for chunk in chunks {
                settle_chunk(chunk, &mut texts);
            }
        }
        one => settle_chunk(one, &mut texts),
    }
    Some(answer.to_string().into_bytes())
}
