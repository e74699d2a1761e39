//! A request of `generateContent`: the whole conversation, of which the end is new.

use std::borrow::Cow;

use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sprag_core::Payload;
use sprag_hooks::output::without_client_lines;

use super::part::place;
use crate::content::{items, texts};
use crate::request::{ModelRequest, ToolResult, first_words, told_apart};

/// The tool with which sub-agents of Gemini CLI, and no others, end their work.
const HAND_OVER: &str = "complete_task";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'b> {
    #[serde(borrow)]
    pub(super) contents: &'b RawValue,
    #[serde(borrow, default)]
    tools: Option<&'b RawValue>,
    #[serde(borrow, default, alias = "system_instruction")]
    system_instruction: Option<&'b RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Content<'b> {
    #[serde(borrow, default)]
    role: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) parts: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'b> {
    #[serde(borrow, default, alias = "function_response")]
    pub(super) function_response: Option<FunctionResponse<'b>>,
}

#[derive(Deserialize)]
pub(super) struct FunctionResponse<'b> {
    #[serde(borrow, default)]
    id: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'b RawValue>,
}

/// A tool, as far as it is looked at: functions are run by the client, others by the provider.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiTool<'b> {
    #[serde(borrow, default, alias = "function_declarations")]
    function_declarations: Option<Vec<&'b RawValue>>,
}

#[derive(Deserialize)]
struct DeclaredFunction<'b> {
    #[serde(borrow, default)]
    name: Option<Cow<'b, str>>,
}

impl<'b> Content<'b> {
    fn is_of_the_model(&self) -> bool {
        self.role.as_deref() == Some("model")
    }

    fn of_user(&self) -> Vec<String> {
        match self.is_of_the_model() {
            true => Vec::new(),
            false => texts(self.parts),
        }
    }

    /// The results in it, with what each is known by; `begin` is where the model last spoke.
    pub(super) fn results(&self, begin: usize) -> Vec<(String, FunctionResponse<'b>)> {
        let parts = self.parts.map(items::<Part<'b>>).unwrap_or_default();
        let results = parts
            .into_iter()
            .filter_map(|(_, part)| part.function_response);
        let known = |(index, result): (usize, FunctionResponse<'b>)| {
            let id = result.id.as_deref().filter(|id| !id.is_empty());
            let id = id.map_or_else(|| place(begin, index), str::to_owned);
            (id, result)
        };
        results.enumerate().map(known).collect()
    }
}

/// The contents of a conversation, each with where the model spoke before it.
pub(super) fn contents<'b>(list: &'b RawValue) -> Vec<(usize, Content<'b>)> {
    let mut spoken = 0;
    let contents = items::<Content<'b>>(list).into_iter().enumerate();
    contents
        .map(|(at, (_, content))| {
            if content.is_of_the_model() {
                spoken = at;
            }
            (spoken, content)
        })
        .collect()
}

/// Reads a request; none if it is not one.
pub(crate) fn read(body: &[u8], target: &Url) -> Option<ModelRequest> {
    let body: Body<'_> = serde_json::from_slice(body).ok()?;
    let contents = contents(body.contents);
    let spoken = contents
        .iter()
        .rposition(|(_, content)| content.is_of_the_model());
    let begin = spoken.map_or(0, |at| at + 1);
    let new = contents.get(begin..)?;
    let results = new
        .iter()
        .flat_map(|(spoken, content)| content.results(*spoken));
    let results = results.map(|(id, response)| result(id, &response, begin));
    let (words, notices) = told_apart(
        new.iter()
            .flat_map(|(_, content)| content.of_user())
            .collect(),
    );
    let mut opening = body
        .system_instruction
        .map(|text| text.get().as_bytes().to_vec());
    let first = first_words(contents.iter().flat_map(|(_, content)| content.of_user()));
    opening
        .get_or_insert_default()
        .extend(first.unwrap_or_default().bytes());
    let tools = body.tools.map(items::<GeminiTool<'_>>).unwrap_or_default();
    let functions: Vec<_> = tools
        .iter()
        .filter_map(|(_, tool)| tool.function_declarations.as_ref())
        .flatten()
        .collect();
    let (model, method) = asked(target)?;
    let stream = method == "streamGenerateContent";
    let is_events = target
        .query_pairs()
        .any(|(name, value)| name == "alt" && value == "sse");
    Some(ModelRequest {
        model: Some(model),
        stream,
        as_list: stream && !is_events,
        has_tools: !functions.is_empty(),
        is_opening: begin == 0,
        is_delegate: functions
            .iter()
            .filter_map(|function| serde_json::from_str(function.get()).ok())
            .any(|DeclaredFunction { name }| name.as_deref() == Some(HAND_OVER)),
        opening: opening.unwrap_or_default(),
        results: results.collect(),
        words,
        notices,
        length: contents.len(),
        ..ModelRequest::default()
    })
}

/// The model and the method that an address names, as `…/models/gemini-2.5-pro:generateContent`.
fn asked(target: &Url) -> Option<(String, String)> {
    let last = target.path_segments()?.next_back()?;
    let (model, method) = last.rsplit_once(':')?;
    Some((model.to_owned(), method.to_owned()))
}

/// What a tool answered: by convention under `output` or `error`, else the whole object. Gemini CLI wraps lines of
/// its own around what a command printed, the exit code among them.
fn result(use_id: String, response: &FunctionResponse<'_>, position: usize) -> ToolResult {
    let raw = response.response;
    let value: Value = raw
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let named = |name: &str| value.get(name).filter(|part| !part.is_null());
    let printed = named("output")
        .and_then(Value::as_str)
        .map(without_client_lines);
    let has_failed = printed.as_ref().is_some_and(|printed| printed.failed);
    let content = match (printed, named("output").or_else(|| named("error"))) {
        (Some(printed), _) => Payload::from(printed.text),
        (None, Some(part)) => Payload::from(part),
        (None, None) => Payload::from(&value),
    };
    ToolResult {
        use_id,
        position,
        content,
        is_error: named("error").is_some() || has_failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(rest: &str) -> Url {
        Url::parse(&format!(
            "http://127.0.0.1/v1beta/models/gemini-2.5-pro:{rest}"
        ))
        .unwrap()
    }

    #[test]
    fn results_without_an_id_are_known_by_the_place_of_their_call() {
        let body = br#"{"contents":[{"role":"user","parts":[{"text":"do it"}]},
            {"role":"model","parts":[{"functionCall":{"name":"ls"}},{"functionCall":{"name":"ls"}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a"}}},
                {"functionResponse":{"id":"call-123456","name":"ls","response":{"error":"no"}}}]}],
            "tools":[{"functionDeclarations":[{"name":"ls"}]}]}"#;
        let read = read(body, &url("streamGenerateContent?alt=sse")).unwrap();
        let results: Vec<_> = read
            .results
            .iter()
            .map(|result| {
                (
                    result.use_id.as_str(),
                    result.content.as_json(),
                    result.is_error,
                )
            })
            .collect();
        assert_eq!(results.len(), 2);
        assert_eq!(
            (results[0].0, results[0].1, results[0].2),
            ("g1-0", r#""a""#, false)
        );
        assert_eq!((results[1].0, results[1].2), ("call-123456", true));
        assert!(read.has_tools && read.stream && !read.as_list);
        assert_eq!(
            (read.model.as_deref(), read.length),
            (Some("gemini-2.5-pro"), 3)
        );
    }

    #[test]
    fn a_commands_output_is_read_without_what_the_client_wrapped_around_it() {
        let body = br#"{"contents":[{"role":"model","parts":[{"functionCall":{"name":"sh"}}]},
            {"role":"user","parts":[{"functionResponse":{"id":"call-123456","name":"sh","response":{"output":
                "<untrusted_context>\nOutput: no\nExit Code: 1\nProcess Group PGID: 12650\n</untrusted_context>"}}}]}],
            "tools":[{"functionDeclarations":[{"name":"sh"},{"name":"complete_task"}]}]}"#;
        let read = read(body, &url("generateContent")).unwrap();
        let result = &read.results[0];
        assert_eq!(
            (result.content.as_json(), result.is_error, read.is_delegate),
            (r#""no\nExit Code: 1""#, true, true)
        );
    }

    #[test]
    fn tools_that_the_provider_runs_make_no_agent() {
        let body = br#"{"contents":[{"parts":[{"text":"hi"}]}],"tools":[{"googleSearch":{}}]}"#;
        let read = read(body, &url("generateContent")).unwrap();
        assert_eq!(
            (read.has_tools, read.stream, read.words.as_deref()),
            (false, false, Some("hi"))
        );
        assert!(
            super::read(body, &url("streamGenerateContent"))
                .unwrap()
                .as_list
        );
    }
}
