//! Google's `generateContent`.

use serde_json::{Value, json};
use sprag::Event;

use crate::agent::{Tool, events};
use crate::place::Place;
use crate::upstream::{Answer, Asked, gemini_error};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Whole,
    Events,
    List,
}

const MODES: [Mode; 3] = [Mode::Whole, Mode::Events, Mode::List];

impl Mode {
    fn path(self) -> &'static str {
        match self {
            Self::Whole => "/gemini/v1beta/models/gemini-test:generateContent",
            Self::Events => "/gemini/v1beta/models/gemini-test:streamGenerateContent?alt=sse",
            Self::List => "/gemini/v1beta/models/gemini-test:streamGenerateContent",
        }
    }
}

/// An agent as Gemini CLI is one.
struct GeminiAgent {
    contents: Vec<Value>,
    mode: Mode,
    tool: Tool,
}

impl GeminiAgent {
    fn new(mode: Mode, tool: Tool) -> Self {
        Self {
            contents: Vec::new(),
            mode,
            tool,
        }
    }

    async fn work(&mut self, place: &Place, words: &str, most: usize) -> (String, usize) {
        self.contents
            .push(json!({"role": "user", "parts": [{"text": words}]}));
        for request in 1..=most {
            let parts = self.ask(place).await;
            self.contents.push(json!({"role": "model", "parts": parts}));
            let calls = parts.iter().filter(|part| part["functionCall"].is_object());
            let results: Vec<Value> = calls
                .map(|part| self.result(&part["functionCall"]))
                .collect();
            if results.is_empty() {
                let words = parts
                    .iter()
                    .map(|part| part["text"].as_str().unwrap_or_default());
                return (words.collect::<Vec<_>>().join("\n"), request);
            }
            self.contents
                .push(json!({"role": "user", "parts": results}));
        }
        panic!("the agent was not stopped in {most} requests");
    }

    fn result(&self, call: &Value) -> Value {
        let mut response = json!({"name": call["name"],
            "response": {"output": (self.tool)(&call["args"])}});
        if call["id"].is_string() {
            response["id"] = call["id"].clone();
        }
        json!({"functionResponse": response})
    }

    /// One request; the parts of the answer.
    async fn ask(&self, place: &Place) -> Vec<Value> {
        let body = json!({"contents": self.contents, "systemInstruction": {"parts": [{"text": "be good"}]},
            "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}]});
        let request = place.client.post(place.url(self.mode.path()));
        let request = request
            .header("x-sprag-session", "gem-1")
            .header("user-agent", "GeminiCLI/0.61.0/gemini-test (linux; x64)")
            .header("x-goog-api-key", "canary-key");
        let response = request.json(&body).send().await.expect("an answer");
        let status = response.status();
        let text = response.text().await.expect("a whole answer");
        assert_eq!(status, 200, "{text}");
        let chunks = match self.mode {
            Mode::Whole => vec![serde_json::from_str(&text).expect("an answer in JSON")],
            Mode::Events => events(&text),
            Mode::List => serde_json::from_str(&text).expect("a list"),
        };
        let last = chunks.last().expect("a chunk");
        assert_eq!(last["candidates"][0]["finishReason"], "STOP", "{text}");
        let parts = chunks
            .iter()
            .filter_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array());
        parts.flatten().cloned().collect()
    }
}

/// A model that makes these calls as long as it is asked, and holds requests to the API's rules.
fn stubborn(
    commands: &'static [&'static str],
    has_ids: bool,
) -> impl Fn(&Asked) -> Answer + Send + Sync {
    move |asked| {
        let body = asked.json();
        if let Some(why) = gemini_error(&body) {
            return Answer::json(400, &json!({"error": {"message": why}}));
        }
        let turn = body["contents"].as_array().unwrap().len();
        let call = |(at, command): (usize, &&str)| {
            let mut part = json!({"functionCall": {"name": "run_shell_command", "args": {"command": command}}});
            if has_ids {
                part["functionCall"]["id"] = json!(format!("call-test-{turn}-{at}"));
            }
            if at == 0 {
                part["thoughtSignature"] = json!("signed");
            }
            part
        };
        let calls: Vec<Value> = commands.iter().enumerate().map(call).collect();
        answer(asked, turn, &calls)
    }
}

fn chunk(turn: usize, parts: &Value, end: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if end {
        candidate["finishReason"] = json!("STOP");
    }
    json!({"candidates": [candidate], "modelVersion": "gemini-test", "responseId": format!("r-{turn}"),
        "usageMetadata": {"promptTokenCount": 110, "candidatesTokenCount": 3, "thoughtsTokenCount": 2,
            "cachedContentTokenCount": 100, "totalTokenCount": 115}})
}

fn answer(asked: &Asked, turn: usize, calls: &[Value]) -> Answer {
    let text = json!([{"text": "hm", "thought": true}, {"text": "I look."}]);
    if asked.path.contains(":generateContent") {
        let mut parts = text.as_array().unwrap().clone();
        parts.extend(calls.iter().cloned());
        return Answer::json(200, &chunk(turn, &json!(parts), true));
    }
    let chunks = vec![chunk(turn, &text, false), chunk(turn, &json!(calls), true)];
    if !asked.path.contains("alt=sse") {
        return Answer::json(200, &json!(chunks));
    }
    let pieces = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\r\n\r\n").into());
    Answer {
        pieces: pieces.collect(),
        ..Answer::events(&[])
    }
}

fn queued(_: &Value) -> String {
    "job 17 is queued".to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_is_warned_next_to_its_result_and_then_ended() {
    for mode in MODES {
        for has_ids in [true, false] {
            let place = Place::new(stubborn(&["cat status.txt"], has_ids));
            let mut agent = GeminiAgent::new(mode, queued);
            let (words, requests) = agent.work(&place, "Wait for job 17.", 12).await;
            assert!(words.contains("[sprag] "), "{mode:?} {has_ids}: {words}");
            assert!(
                (4..=8).contains(&requests),
                "{mode:?} {has_ids}: {requests}"
            );
            let asked = place.upstream.asked();
            let warned = asked.iter().filter(|asked| {
                String::from_utf8_lossy(&asked.body).contains(r"job 17 is queued\n\n[sprag] ")
            });
            // Without an id a place in the conversation is not sure enough to repeat a text there.
            assert_eq!(warned.count() > 0, has_ids, "{mode:?}");
            assert_eq!(place.gateway.tally().input_tokens(), 110 * requests as u64);
            assert_eq!(place.gateway.tally().output_tokens(), 5 * requests as u64);
            agent.work(&place, "Then look at job 18, please.", 12).await;
            assert!(
                place.upstream.asked().len() > asked.len(),
                "the user's words lift the block"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_taken_out_and_leaves_a_conversation_that_the_provider_accepts() {
    for mode in MODES {
        let place = Place::new(stubborn(&["rm -rf /", "pwd"], true));
        let mut agent = GeminiAgent::new(mode, |_| "fine".to_owned());
        agent
            .contents
            .push(json!({"role": "user", "parts": [{"text": "Clean up."}]}));
        let parts = agent.ask(&place).await;
        let said: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect();
        assert!(
            said.iter()
                .any(|text| text.starts_with("[sprag] `run_shell_command` was not run.")),
            "{said:?}"
        );
        let calls: Vec<&Value> = parts
            .iter()
            .filter(|part| part["functionCall"].is_object())
            .collect();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0]["functionCall"]["args"]["command"], "pwd");
        agent
            .contents
            .push(json!({"role": "model", "parts": parts}));
        let result = agent.result(&calls[0]["functionCall"]);
        agent
            .contents
            .push(json!({"role": "user", "parts": [result]}));
        // The upstream refuses a call without a signature.
        agent.ask(&place).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_session_is_answered_in_the_mode_asked_for() {
    let place = Place::new(stubborn(&["ls"], true));
    place.guard.check(Event::usage("gem-1").unwrap()).unwrap();
    place.order(Event::kill("gem-1").unwrap());
    for mode in MODES {
        let (words, _) = GeminiAgent::new(mode, queued).work(&place, "Go.", 1).await;
        assert!(
            words.starts_with("[sprag] This session was stopped."),
            "{words}"
        );
    }
    assert!(place.upstream.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_a_server_is_known_by_its_own_name() {
    let place = Place::new(|asked: &Asked| {
        let turn = asked.json()["contents"].as_array().unwrap().len();
        let call = json!({"functionCall": {"id": format!("call-test-{turn}"),
            "name": "mcp_catalog_delete_asset", "args": {"asset_id": "a"}}, "thoughtSignature": "signed"});
        answer(asked, turn, &[call])
    });
    let mut agent = GeminiAgent::new(Mode::Events, |_| "a still exists".to_owned());
    let (words, requests) = agent.work(&place, "Delete a.", 12).await;
    assert!(
        words.contains("[sprag] This session was stopped."),
        "{words}"
    );
    assert!(requests <= 3, "{requests}");
}
