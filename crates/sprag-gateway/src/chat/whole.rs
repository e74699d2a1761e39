//! An answer of the Chat Completions API in one piece.

use serde_json::{Value, json};

use crate::content::{self, number_at, text_at};
use crate::request::{Tokens, ToolCall};
use crate::stream::WholeAnswer;

/// What an answer cost. The API counts cached tokens among the input.
pub(super) fn tokens(answer: &Value) -> Tokens {
    let number = |path: &str| number_at(answer, path);
    let cached = number("/usage/prompt_tokens_details/cached_tokens");
    Tokens {
        input: number("/usage/prompt_tokens").saturating_sub(cached),
        output: number("/usage/completion_tokens"),
        cache_read: cached,
        cache_write: 0,
    }
}

/// A call of the function `name` with these arguments, a JSON text.
pub(super) fn called(use_id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(use_id, name, content::arguments(arguments))
}

fn call(item: &Value) -> ToolCall {
    let text = |path: &str| text_at(item, path);
    called(
        text("/id"),
        text("/function/name"),
        text("/function/arguments"),
    )
}

pub(crate) fn read(body: &[u8]) -> Option<WholeAnswer> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let message = answer.pointer("/choices/0/message")?;
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let id = answer.get("id").and_then(Value::as_str);
    Some(WholeAnswer {
        id: id.unwrap_or_default().to_owned(),
        calls: calls.into_iter().flatten().map(call).collect(),
        said: text_at(message, "/content").to_owned(),
        tokens: tokens(&answer),
    })
}

/// The answer without the calls that were refused, and with the texts behind its own.
pub(crate) fn settle(body: &[u8], texts: &[Option<String>]) -> Option<Vec<u8>> {
    let mut answer: Value = serde_json::from_slice(body).ok()?;
    let message = answer.pointer_mut("/choices/0/message")?.as_object_mut()?;
    let calls = message.get_mut("tool_calls")?.as_array_mut()?;
    let mut stays = texts.iter().map(Option::is_none);
    calls.retain(|_| stays.next().unwrap_or(true));
    let is_last = calls.is_empty();
    if is_last {
        message.remove("tool_calls");
    }
    let said = message.get("content").and_then(Value::as_str);
    let said = said.filter(|said| !said.is_empty()).into_iter();
    let said: Vec<&str> = said
        .chain(texts.iter().flatten().map(String::as_str))
        .collect();
    let said = said.join("\n\n");
    message.insert("content".to_owned(), json!(said));
    if is_last {
        *answer.pointer_mut("/choices/0/finish_reason")? = json!("stop");
    }
    Some(answer.to_string().into_bytes())
}
