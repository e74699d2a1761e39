//! The model APIs, with requests and streamed answers of plain words in the form of each.

use serde_json::{Value, json};

use crate::agent::events;
use crate::place::Place;
use crate::upstream::{Answer, End};

/// An API: its path, a request with these words and the same answer in its own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Messages,
    Responses,
    Chat,
    Gemini,
}

pub(crate) const APIS: [Api; 4] = [Api::Messages, Api::Responses, Api::Chat, Api::Gemini];

impl Api {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Messages => "/anthropic/v1/messages",
            Self::Responses => "/openai/v1/responses",
            Self::Chat => "/openai/v1/chat/completions",
            Self::Gemini => "/gemini/v1beta/models/m:streamGenerateContent?alt=sse",
        }
    }

    /// A conversation that began with `opening`, and in which a user then writes `words`.
    pub(crate) fn request(self, opening: &str, words: &str) -> Value {
        let turns = match words {
            "" => vec![("user", opening)],
            words => vec![("user", opening), ("assistant", "Yes."), ("user", words)],
        };
        let messages: Vec<Value> = turns
            .iter()
            .map(|(role, text)| json!({"role": role, "content": text}))
            .collect();
        match self {
            Self::Messages => json!({"model": "m", "stream": true, "tools": [{"name": "Bash"}],
                "messages": messages}),
            Self::Responses => json!({"model": "m", "stream": true, "input": messages,
                "tools": [{"type": "function", "name": "bash"}]}),
            Self::Chat => json!({"model": "m", "stream": true, "messages": messages,
                "tools": [{"type": "function", "function": {"name": "bash"}}]}),
            Self::Gemini => {
                let contents = turns.iter().map(|(role, text)| {
                    let role = if *role == "user" { "user" } else { "model" };
                    json!({"role": role, "parts": [{"text": text}]})
                });
                json!({"contents": contents.collect::<Vec<_>>(),
                    "tools": [{"functionDeclarations": [{"name": "bash"}]}]})
            }
        }
    }

    /// The events of an answer that says `pieces` one after the other, and those that end it.
    fn said(self, pieces: &[&str]) -> (Vec<NamedEvent>, Vec<NamedEvent>) {
        match self {
            Self::Messages => messages(pieces),
            Self::Responses => responses(pieces),
            Self::Chat => chat(pieces),
            Self::Gemini => gemini(pieces),
        }
    }

    /// A streamed answer with these words.
    pub(crate) fn answer(self, pieces: &[&str], end: End) -> Answer {
        let (mut all, last) = self.said(pieces);
        if end == End::Whole {
            all.extend(last);
        }
        let bytes = |(name, data): &(&str, Value)| match *name {
            "" => format!("data: {data}\n\n").into(),
            name => format!("event: {name}\ndata: {data}\n\n").into(),
        };
        Answer {
            pieces: all.iter().map(bytes).collect(),
            end,
            ..Answer::events(&[])
        }
    }

    /// All words of a streamed answer, which must have a normal end.
    pub(crate) fn words(self, text: &str) -> String {
        let text = text.replace("data: [DONE]\n\n", "");
        let all = events(&text);
        let last = all.last().expect("an event");
        let (path, end, normal) = match self {
            Self::Messages => ("/delta/text", "/type", "message_stop"),
            Self::Responses => ("/delta", "/type", "response.completed"),
            Self::Chat => (
                "/choices/0/delta/content",
                "/choices/0/finish_reason",
                "stop",
            ),
            Self::Gemini => (
                "/candidates/0/content/parts/0/text",
                "/candidates/0/finishReason",
                "STOP",
            ),
        };
        assert_eq!(
            last.pointer(end).and_then(Value::as_str),
            Some(normal),
            "{text}"
        );
        let words = all.iter().filter_map(|event| event.pointer(path)?.as_str());
        words.collect()
    }

    pub(crate) fn send(self, place: &Place, session: &str, words: &str) -> reqwest::RequestBuilder {
        let request = place.client.post(place.url(self.path()));
        let request = request.header("x-sprag-session", session.to_owned());
        request
            .header("x-api-key", "canary")
            .json(&self.request("Do it.", words))
    }

    pub(crate) async fn ask(self, place: &Place, session: &str, words: &str) -> String {
        let response = self
            .send(place, session, words)
            .send()
            .await
            .expect("an answer");
        let text = response.text().await.expect("a whole answer");
        self.words(&text)
    }
}

type NamedEvent = (&'static str, Value);

/// An event that is named after its type.
fn named(event: Value) -> NamedEvent {
    let name = event["type"].as_str().expect("a type").to_owned();
    (name.leak(), event)
}

fn messages(pieces: &[&str]) -> (Vec<NamedEvent>, Vec<NamedEvent>) {
    let mut begin = vec![
        json!({"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant",
            "content": [], "usage": {"input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    begin.extend(pieces.iter().map(|text| {
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
    }));
    let end = [
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 40_000}}),
        json!({"type": "message_stop"}),
    ];
    (
        begin.into_iter().map(named).collect(),
        end.map(named).into(),
    )
}

fn responses(pieces: &[&str]) -> (Vec<NamedEvent>, Vec<NamedEvent>) {
    let item = |text: &str, status: &str| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status,
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
    };
    let response = |status: &str, output: Value| {
        json!({"id": "r1", "object": "response", "status": status, "output": output,
            "usage": {"input_tokens": 10, "output_tokens": 40_000}})
    };
    let mut begin = vec![
        json!({"type": "response.created", "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("", "in_progress")}),
    ];
    begin.extend(pieces.iter().map(|text| {
        json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1", "delta": text})
    }));
    let whole = item(&pieces.concat(), "completed");
    let end = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": whole}),
        json!({"type": "response.completed", "response": response("completed", json!([whole]))}),
    ];
    (
        begin.into_iter().map(named).collect(),
        end.map(named).into(),
    )
}

fn chat(pieces: &[&str]) -> (Vec<NamedEvent>, Vec<NamedEvent>) {
    let chunk = |delta: Value, reason: Value| {
        json!({"id": "c1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let begin = pieces
        .iter()
        .map(|text| ("", chunk(json!({"content": text}), Value::Null)));
    let mut last = chunk(json!({}), json!("stop"));
    last["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 40_000});
    (begin.collect(), vec![("", last)])
}

fn gemini(pieces: &[&str]) -> (Vec<NamedEvent>, Vec<NamedEvent>) {
    let chunk = |text: &str| {
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}],
            "responseId": "r1"})
    };
    let mut last = chunk("");
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"] = json!({"promptTokenCount": 10, "candidatesTokenCount": 40_000});
    let begin = pieces.iter().map(|text| ("", chunk(text)));
    (begin.collect(), vec![("", last)])
}
