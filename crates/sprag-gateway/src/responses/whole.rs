//! An answer of the Responses API in one piece.

use serde_json::Value;

use super::item::{call, is_call, message, said, text};
use crate::content::number_at;
use crate::request::Tokens;
use crate::stream::WholeAnswer;

/// What an answer cost. The API counts cached tokens among the input.
pub(super) fn tokens(response: &Value) -> Tokens {
    let number = |path: &str| number_at(response, path);
    let cached = number("/usage/input_tokens_details/cached_tokens");
    Tokens {
        input: number("/usage/input_tokens").saturating_sub(cached),
        output: number("/usage/output_tokens"),
        cache_read: cached,
        cache_write: 0,
    }
}

pub(crate) fn read(body: &[u8]) -> Option<WholeAnswer> {
    let response: Value = serde_json::from_slice(body).ok()?;
    let output = response.get("output")?.as_array()?;
    Some(WholeAnswer {
        id: text(&response, "id").to_owned(),
        calls: output.iter().filter_map(call).collect(),
        said: output
            .iter()
            .filter(|item| text(item, "type") == "message")
            .map(said)
            .collect(),
        tokens: tokens(&response),
    })
}

/// The answer with texts in the places of its calls.
pub(crate) fn settle(body: &[u8], texts: &[Option<String>]) -> Option<Vec<u8>> {
    let mut response: Value = serde_json::from_slice(body).ok()?;
    let mut texts = texts.iter();
    for item in response.get_mut("output")?.as_array_mut()? {
        if is_call(item)
            && let Some(Some(said)) = texts.next()
        {
            *item = message(text(item, "id"), said);
        }
    }
    Some(response.to_string().into_bytes())
}
