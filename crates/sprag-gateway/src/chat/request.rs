//! A request of the Chat Completions API: the whole conversation, of which the end is new.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Payload;
use sprag_hooks::output::without_shell_tag;

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
        // Copilot says at the end of an output how the command ended.
        let printed = without_shell_tag(&message.texts().join("\n"));
        Some(ToolResult {
            use_id: message.tool_call_id.as_ref()?.to_string(),
            position: begin,
            content: Payload::from(printed.text),
            is_error: printed.failed,
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
        is_opening: begin == 0,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copilots_last_line_says_how_a_command_ended() {
        let body = br#"{"messages":[{"role":"assistant"},
            {"role":"tool","tool_call_id":"t1","content":"oops\n<shellId: 4 completed with exit code 3>"},
            {"role":"tool","tool_call_id":"t2","content":"fine\n<shellId: 5 completed with exit code 0>"}]}"#;
        let results = read(body).unwrap().results;
        let read = |at: usize| (results[at].content.as_json(), results[at].is_error);
        assert_eq!(read(0), (r#""oops\nexit code 3""#, true));
        assert_eq!(read(1), (r#""fine\n""#, false));
    }
}
