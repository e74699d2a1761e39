//! A request of the Chat Completions API: the whole conversation, of which the end is new.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Payload;

use crate::content::texts;
use crate::request::{ModelRequest, ToolResult, first_words, told_apart};

#[derive(Deserialize)]
pub(super) struct Body<'b> {
    #[serde(borrow)]
    pub(super) messages: Vec<Message<'b>>,
    model: Option<Cow<'b, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(borrow, default)]
    tools: Option<Vec<&'b RawValue>>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct Message<'b> {
    #[serde(borrow)]
    pub(super) role: Cow<'b, str>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'b RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_call_id: Option<Cow<'b, str>>,
}

impl Message<'_> {
    fn texts(&self) -> Vec<String> {
        texts(self.content)
    }

    fn of_user(&self) -> Vec<String> {
        match &*self.role {
            "user" => self.texts(),
            _ => Vec::new(),
        }
    }
}

/// Reads a request; none if it is not one.
pub(crate) fn read(body: &[u8]) -> Option<ModelRequest> {
    let body: Body<'_> = serde_json::from_slice(body).ok()?;
    let spoken = body
        .messages
        .iter()
        .rposition(|message| message.role == "assistant");
    let begin = spoken.map_or(0, |at| at + 1);
    let new = body.messages.get(begin..)?;
    let results = new.iter().filter_map(|message| {
        Some(ToolResult {
            use_id: message.tool_call_id.as_ref()?.to_string(),
            position: begin,
            content: Payload::from(message.texts().join("\n")),
            is_error: false,
        })
    });
    let results = results.collect();
    let (words, notices) = told_apart(new.iter().flat_map(Message::of_user).collect());
    let is_rule = |message: &&Message<'_>| matches!(&*message.role, "system" | "developer");
    let mut opening = body
        .messages
        .iter()
        .take_while(is_rule)
        .flat_map(Message::texts)
        .collect::<String>();
    opening.extend(first_words(body.messages.iter().flat_map(Message::of_user)));
    Some(ModelRequest {
        model: body.model.map(Cow::into_owned),
        stream: body.stream.unwrap_or_default(),
        has_tools: body.tools.is_some_and(|tools| !tools.is_empty()),
        opening: opening.into_bytes(),
        results,
        words,
        notices,
        include_usage: body
            .stream_options
            .is_some_and(|options| options.include_usage == Some(true)),
        ..ModelRequest::default()
    })
}
