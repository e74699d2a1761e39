//! A request of the Messages API: the whole conversation, of which the end is new.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Payload;

use crate::content::{items, texts};
use crate::request::{ModelRequest, ToolResult, told_apart};

#[derive(Deserialize)]
pub(super) struct Body<'b> {
    #[serde(borrow)]
    pub(super) messages: Vec<Message<'b>>,
    model: Option<Cow<'b, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(borrow, default)]
    tools: Option<Vec<&'b RawValue>>,
    #[serde(borrow, default)]
    system: Option<&'b RawValue>,
    #[serde(default)]
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
pub(super) struct Message<'b> {
    pub(super) role: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) content: &'b RawValue,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    user_id: Option<String>,
}

/// One block of a message's content, as far as it is looked at.
#[derive(Deserialize)]
pub(super) struct Block<'b> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'b, str>,
    #[serde(borrow, default)]
    pub(super) tool_use_id: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'b RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    pub(super) signature: Option<Cow<'b, str>>,
}

impl<'b> Message<'b> {
    /// The blocks of the content, each with the text it was read from; none if it is a plain text.
    pub(super) fn blocks(&self) -> Vec<(&'b RawValue, Block<'b>)> {
        items(self.content)
    }

    fn texts(&self) -> Vec<String> {
        texts(Some(self.content))
    }
}

/// Reads a request; none if it is not one.
pub(crate) fn read(body: &[u8]) -> Option<ModelRequest> {
    let body: Body<'_> = serde_json::from_slice(body).ok()?;
    let is_user = |message: &&Message<'_>| message.role == "user";
    let spoken = body
        .messages
        .iter()
        .rposition(|message| message.role == "assistant");
    let begin = spoken.map_or(0, |at| at + 1);
    let new = body.messages.get(begin..)?;
    let mut results = Vec::new();
    let mut texts = Vec::new();
    for message in new.iter().filter(is_user) {
        results.extend(
            message
                .blocks()
                .into_iter()
                .filter_map(|(_, block)| result(block, begin)),
        );
        texts.extend(message.texts());
    }
    let (words, notices) = told_apart(texts);
    let mut opening = body.system.map(|system| system.get().as_bytes().to_vec());
    let first = body.messages.iter().find(is_user);
    let first = first
        .and_then(|message| told_apart(message.texts()).0)
        .unwrap_or_default();
    opening.get_or_insert_default().extend(first.bytes());
    Some(ModelRequest {
        model: body.model.map(Cow::into_owned),
        stream: body.stream.unwrap_or_default(),
        has_tools: body.tools.is_some_and(|tools| !tools.is_empty()),
        is_opening: begin == 0,
        opening: opening.unwrap_or_default(),
        results,
        words,
        notices,
        session: body
            .metadata
            .and_then(|metadata| session(&metadata.user_id?)),
        ..ModelRequest::default()
    })
}

fn result(block: Block<'_>, position: usize) -> Option<ToolResult> {
    if block.kind != "tool_result" {
        return None;
    }
    let content = block.content.map(plain);
    Some(ToolResult {
        use_id: block.tool_use_id?.into_owned(),
        position,
        content: content.unwrap_or_else(|| Payload::from("")),
        is_error: block.is_error.unwrap_or_default(),
    })
}

/// A result of text blocks alone is the text: so hooks report it too.
fn plain(content: &RawValue) -> Payload {
    let blocks: Result<Vec<Block<'_>>, _> = serde_json::from_str(content.get());
    let Ok(blocks) = blocks else {
        return Payload::from(content);
    };
    if blocks.iter().any(|block| block.kind != "text") {
        return Payload::from(content);
    }
    Payload::from(texts(Some(content)).join("\n"))
}

/// Claude Code writes its session into the user id, as JSON or behind `session_`.
fn session(user_id: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        session_id: String,
    }
    let named: Result<Named, _> = serde_json::from_str(user_id);
    match named {
        Ok(named) => Some(named.session_id),
        Err(_) => Some(user_id.rsplit_once("_session_")?.1.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_follows_the_last_answer_is_new() {
        let body = br#"{"model":"m","stream":true,"tools":[{"name":"Bash"}],"system":"be good","messages":[
            {"role":"user","content":"first words"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"old"}]},
            {"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,
                "content":[{"type":"text","text":"new"}]},
                {"type":"text","text":"<system-reminder>be brief</system-reminder>"}]}],
            "metadata":{"user_id":"{\"session_id\":\"s1\"}"}}"#;
        let read = read(body).unwrap();
        assert_eq!(read.results.len(), 1);
        let result = &read.results[0];
        assert_eq!((result.use_id.as_str(), result.is_error), ("t2", true));
        assert_eq!(result.content.as_json(), r#""new""#);
        assert_eq!((read.words, read.session.as_deref()), (None, Some("s1")));
        assert!(read.stream && read.has_tools);
    }

    #[test]
    fn words_of_a_user_are_told_from_what_the_client_inserts() {
        let body = br#"{"messages":[{"role":"user","content":[
            {"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"do it"}]}]}"#;
        let read = read(body).unwrap();
        assert_eq!(
            (read.words.as_deref(), read.has_tools),
            (Some("do it"), false)
        );
        assert!(super::read(b"{\"messages\":7}").is_none());
    }
}
