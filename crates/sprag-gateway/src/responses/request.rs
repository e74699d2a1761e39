//! A request of the Responses API.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Payload;
use sprag_hooks::output::without_client_lines;

use crate::content::{items, texts};
use crate::request::{ModelRequest, ToolResult, first_words, told_apart};

#[derive(Deserialize)]
pub(super) struct Body<'b> {
    #[serde(borrow)]
    pub(super) input: &'b RawValue,
    model: Option<Cow<'b, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(borrow, default)]
    tools: Option<Vec<&'b RawValue>>,
    #[serde(borrow, default)]
    instructions: Option<&'b RawValue>,
    #[serde(default)]
    previous_response_id: Option<String>,
    #[serde(default)]
    prompt_cache_key: Option<String>,
}

/// One item of the input, as far as it is looked at.
#[derive(Deserialize)]
pub(super) struct Item<'b> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) role: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'b RawValue>,
    #[serde(borrow, default)]
    pub(super) call_id: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) output: Option<&'b RawValue>,
}

impl Item<'_> {
    pub(super) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("message")
    }

    pub(super) fn is_result(&self) -> bool {
        self.kind().ends_with("_call_output")
    }

    fn is_of_the_model(&self) -> bool {
        match self.kind() {
            "message" => self.role.as_deref() == Some("assistant"),
            "reasoning" => true,
            kind => kind.ends_with("_call"),
        }
    }

    /// The texts of a message.
    pub(super) fn words(&self) -> Vec<String> {
        texts(self.content)
    }
}

/// Reads a request; none if it is not one.
pub(crate) fn read(body: &[u8]) -> Option<ModelRequest> {
    let body: Body<'_> = serde_json::from_slice(body).ok()?;
    let items: Vec<(&RawValue, Item<'_>)> = items(body.input);
    let spoken = items.iter().rposition(|(_, item)| item.is_of_the_model());
    let begin = spoken.map_or(0, |at| at + 1);
    let new = items.get(begin..)?;
    let results = new
        .iter()
        .filter_map(|(_, item)| result(item, begin))
        .collect();
    let mut texts: Vec<String> = new.iter().flat_map(|(_, item)| user(item)).collect();
    if let Ok(plain) = serde_json::from_str::<String>(body.input.get()) {
        texts.push(plain);
    }
    let (words, notices) = told_apart(texts);
    let mut opening = body.instructions.map(|text| text.get().as_bytes().to_vec());
    let first = first_words(items.iter().flat_map(|(_, item)| user(item)));
    let first = first.or_else(|| words.clone()).unwrap_or_default();
    opening.get_or_insert_default().extend(first.bytes());
    Some(ModelRequest {
        model: body.model.map(Cow::into_owned),
        stream: body.stream.unwrap_or_default(),
        has_tools: body.tools.is_some_and(|tools| !tools.is_empty()),
        is_opening: begin == 0 && body.previous_response_id.is_none(),
        opening: opening.unwrap_or_default(),
        results,
        words,
        notices,
        session: body.prompt_cache_key,
        previous: body.previous_response_id,
        ..ModelRequest::default()
    })
}

fn user(item: &Item<'_>) -> Vec<String> {
    if item.kind() != "message" || item.role.as_deref() != Some("user") {
        return Vec::new();
    }
    item.words()
}

fn result(item: &Item<'_>, position: usize) -> Option<ToolResult> {
    if !item.is_result() {
        return None;
    }
    let printed = without_client_lines(&texts(item.output).join("\n"));
    let failed = printed.text.lines().take(8).any(is_bad_exit);
    Some(ToolResult {
        use_id: item.call_id.as_ref()?.to_string(),
        position,
        content: Payload::from(printed.text),
        is_error: printed.failed || failed,
    })
}

/// How Codex reports the end of a command.
fn is_bad_exit(line: &str) -> bool {
    let code = line.strip_prefix("Process exited with code ");
    code.is_some_and(|code| code.trim() != "0")
}
