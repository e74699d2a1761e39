//! What a model says, and what it costs, in every API.

use std::time::Duration;

use serde_json::{Value, json};
use sprag::Event;

use crate::agent::events;
use crate::place::Place;
use crate::upstream::{Answer, Asked, End};

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
    fn request(self, opening: &str, words: &str) -> Value {
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
    fn answer(self, pieces: &[&str], end: End) -> Answer {
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
    fn words(self, text: &str) -> String {
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

    async fn ask(self, place: &Place, session: &str, words: &str) -> String {
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

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_again_and_again_end_in_a_block_until_the_user_speaks() {
    for api in APIS {
        let place =
            Place::new(move |_| api.answer(&["I am still ", "thinking about it."], End::Whole));
        let first = api.ask(&place, "s1", "").await;
        assert_eq!(first, "I am still thinking about it.", "{api:?}");
        for _ in 0..4 {
            api.ask(&place, "s1", "Continue.").await;
        }
        let reached = place.upstream.asked().len();
        assert_eq!(reached, 5, "{api:?}");
        let stopped = api.ask(&place, "s1", "Continue.").await;
        assert!(
            stopped.starts_with(
                "[sprag] The model is not asked again until you write. The same words 5 times"
            ),
            "{api:?}: {stopped}"
        );
        let again = api
            .ask(&place, "s1", "Then do something else, please.")
            .await;
        assert_eq!(again, "I am still thinking about it.", "{api:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_of_several_conversations_are_no_loop() {
    let api = Api::Gemini;
    let place = Place::new(move |_| api.answer(&["All done."], End::Whole));
    api.ask(&place, "s1", "").await;
    for child in 1..=12 {
        let request = place.client.post(place.url(api.path()));
        let request = request
            .header("x-sprag-session", "s1")
            .header("x-api-key", "canary");
        let request = request.json(&api.request(&format!("You are helper {child}."), ""));
        let text = request.send().await.unwrap().text().await.unwrap();
        assert_eq!(api.words(&text), "All done.");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_to_the_end_of_each_sub_agent_are_no_loop() {
    let api = Api::Responses;
    let place = Place::new(move |_| api.answer(&["All done."], End::Whole));
    for child in 1..=12 {
        let words = format!("<subagent_notification>{{\"agent\":{child}}}</subagent_notification>");
        let request = api.send(&place, "s1", &words);
        let turn = r#"{"turn_id":"t1","turn_trigger":"exec"}"#;
        let request = request.header("x-codex-turn-metadata", turn);
        let text = request.send().await.unwrap().text().await.unwrap();
        assert_eq!(api.words(&text), "All done.");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_repeats_itself_is_ended_in_every_api() {
    for api in APIS {
        let place = Place::new(move |_| {
            api.answer(
                &["Here it is. ", "I will now check the file again. "],
                End::Never,
            )
        });
        let said = api.ask(&place, "s1", "").await;
        assert!(
            said.ends_with("[sprag] This answer was ended here: it only repeated itself."),
            "{api:?}: {said}"
        );
        assert!(said.len() < 2500, "{api:?}: {}", said.len());
        for _ in 0..500 {
            if place.upstream.dropped() == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(place.upstream.dropped(), 1, "no more tokens are paid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chant_that_the_policy_allows_goes_on() {
    let api = Api::Messages;
    let words: Vec<&str> = vec!["Ho, ho, ho, and a bottle of rum, said the old sailor. "; 60];
    let whole = words.concat();
    let place = Place::with(
        move |_| api.answer(&words, End::Whole),
        "[rules]\n\"output.*\" = \"shadow\"\n",
        |_| {},
    );
    assert_eq!(api.ask(&place, "s1", "").await, whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_the_model_speaks_ends_its_answer_properly() {
    for api in APIS {
        let place = Place::new(move |_| api.answer(&["I begin. "], End::Silent));
        let mut response = api.send(&place, "s1", "").send().await.unwrap();
        let mut text = String::new();
        while !text.contains("I begin.") {
            let piece = response.chunk().await.unwrap().expect("more");
            text.push_str(&String::from_utf8_lossy(&piece));
        }
        place.order(Event::kill("s1").unwrap());
        while let Some(piece) = response.chunk().await.expect("a normal end") {
            text.push_str(&String::from_utf8_lossy(&piece));
        }
        let said = api.words(&text);
        assert!(
            said.starts_with("I begin. [sprag] This session was stopped."),
            "{api:?}: {said}"
        );
        assert_eq!(place.upstream.asked().len(), 1);
        assert!(
            api.ask(&place, "s1", "Go on, please.")
                .await
                .starts_with("[sprag] This session was stopped.")
        );
        assert_eq!(place.upstream.asked().len(), 1);
    }
}

const DOLLAR: &str =
    "[budget.cost_usd]\nsession = 1.0\n[prices]\n\"*\" = { input = 0, output = 10 }\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_the_request_that_would_exceed_it() {
    for api in APIS {
        let place = Place::with(
            move |_| api.answer(&["Done so far."], End::Whole),
            DOLLAR,
            |_| {},
        );
        for words in ["one", "two"] {
            assert_eq!(api.ask(&place, "s1", words).await, "Done so far.");
        }
        let stopped = api.ask(&place, "s1", "three").await;
        assert!(
            stopped.contains("has no room for this request"),
            "{api:?}: {stopped}"
        );
        assert_eq!(place.upstream.asked().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sub_agents_that_start_at_once_reserve_what_the_model_cost_before() {
    let api = Api::Messages;
    let place = Place::with(
        move |_| api.answer(&["Done so far."], End::Whole),
        DOLLAR,
        |_| {},
    );
    api.ask(&place, "s1", "").await;
    let child = |name: &str| {
        let request = place.client.post(place.url(api.path()));
        let request = request.header("x-claude-code-session-id", "s1");
        let request = request.header("x-claude-code-agent-id", name.to_owned());
        request
            .header("x-api-key", "canary")
            .json(&api.request(&format!("helper {name}"), ""))
    };
    let asked = ["a", "b", "c", "d"].map(|name| tokio::spawn(child(name).send()));
    let mut spoken = 0;
    for response in asked {
        let text = response.await.unwrap().unwrap().text().await.unwrap();
        spoken += usize::from(text.contains("Done so far."));
    }
    // Forty cents each: the first and one helper fit into a dollar.
    assert_eq!((spoken, place.upstream.asked().len()), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_reserved_is_given_back_when_no_answer_is_judged() {
    let large: hyper::body::Bytes = "x".repeat(1024 * 1024).into();
    let api = Api::Messages;
    let place = Place::with(
        move |asked: &Asked| match asked
            .headers
            .get("x-part")
            .and_then(|part| part.to_str().ok())
        {
            Some("long") => Answer {
                media: "application/json",
                pieces: vec![large.clone(); 17],
                ..Answer::events(&[])
            },
            Some("error") => Answer::json(500, &json!({"error": {"message": "broken"}})),
            Some("cut") => Answer {
                media: "application/json",
                end: End::Breaks,
                ..Answer::json(200, &json!({}))
            },
            _ => api.answer(&["Done so far."], End::Whole),
        },
        DOLLAR,
        |_| {},
    );
    api.ask(&place, "s1", "one").await;
    for part in ["long", "error", "cut", "long", "error"] {
        let request = api.send(&place, "s1", part).header("x-part", part);
        // One that is cut off is not whole, or has not even begun.
        if let Ok(response) = request.send().await {
            let _ = response.bytes().await;
        }
    }
    // Forty cents are spent and nothing is reserved: there is room for one more.
    assert_eq!(api.ask(&place, "s1", "two").await, "Done so far.");
}
