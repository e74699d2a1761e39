//! The Responses API.

use std::sync::Mutex;

use serde_json::{Value, json};

use crate::agent::{ResponsesAgent, Tool};
use crate::place::Place;
use crate::upstream::{Answer, Asked, responses_error};

/// An answer of the model: reasoning, then a call or a message.
fn output(id: usize, command: &str) -> Vec<Value> {
    vec![
        json!({"type": "reasoning", "id": format!("rs_{id}"), "summary": [], "encrypted_content": "x"}),
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_test_{id}"),
            "name": "exec_command", "arguments": json!({"cmd": command}).to_string(), "status": "completed"}),
    ]
}

fn answer(asked: &Asked, id: usize, output: &[Value]) -> Answer {
    let response = |status: &str, output: &[Value]| {
        json!({"id": format!("resp_{id}"), "object": "response", "status": status, "output": output,
            "usage": {"input_tokens": 110, "input_tokens_details": {"cached_tokens": 100}, "output_tokens": 5}})
    };
    let whole = response("completed", output);
    if asked.json()["stream"] != true {
        return Answer::json(200, &whole);
    }
    let mut events = vec![(
        "response.created",
        json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", &[])}),
    )];
    for (index, item) in output.iter().enumerate() {
        let mut put = |kind: &'static str, mut rest: Value| {
            rest["type"] = json!(kind);
            rest["output_index"] = json!(index);
            rest["sequence_number"] = json!(events.len());
            events.push((kind, rest));
        };
        put("response.output_item.added", json!({"item": item}));
        if item["type"] == "function_call" {
            put(
                "response.function_call_arguments.delta",
                json!({"delta": item["arguments"]}),
            );
            put(
                "response.function_call_arguments.done",
                json!({"arguments": item["arguments"]}),
            );
        }
        put("response.output_item.done", json!({"item": item}));
    }
    let number = events.len();
    events.push((
        "response.completed",
        json!({"type": "response.completed", "sequence_number": number, "response": whole}),
    ));
    Answer::events(&events)
}

/// A provider that keeps answers if it is asked to, and holds requests to the API's rules.
fn provider(commands: fn(usize) -> &'static str) -> impl Fn(&Asked) -> Answer + Send + Sync {
    let kept: Mutex<Vec<Value>> = Mutex::default();
    let turns: Mutex<usize> = Mutex::default();
    move |asked| {
        let body = asked.json();
        let mut kept = kept.lock().unwrap();
        let follows = body["previous_response_id"].is_string();
        if !follows {
            kept.clear();
        }
        if let Some(why) = responses_error(&body, &kept) {
            return Answer::json(400, &json!({"error": {"message": why}}));
        }
        let mut turn = turns.lock().unwrap();
        *turn += 1;
        let output = output(*turn, commands(*turn));
        if body["store"] == true {
            kept.extend(body["input"].as_array().cloned().unwrap_or_default());
            kept.extend(output.clone());
        }
        answer(asked, *turn, &output)
    }
}

fn agent(stream: bool, keeps: bool, tool: Tool) -> ResponsesAgent {
    ResponsesAgent {
        items: Vec::new(),
        previous: None,
        keeps,
        stream,
        tool,
    }
}

fn queued(_: &Value) -> String {
    "Chunk ID: 7a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\njob 17 is queued"
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_is_warned_next_to_its_result_and_then_ended() {
    for (stream, keeps) in [(true, false), (false, false), (true, true), (false, true)] {
        let place = Place::new(provider(|_| "cat status.txt"));
        let mut agent = agent(stream, keeps, queued);
        let (words, requests) = agent.work(&place, "Wait for job 17.", 12).await;
        assert!(words.contains("[sprag] "), "{words}");
        assert!((4..=8).contains(&requests), "{requests}");
        let asked = place.upstream.asked();
        let warned = asked.iter().filter(|asked| {
            String::from_utf8_lossy(&asked.body).contains(r"job 17 is queued\n\n[sprag] ")
        });
        assert!(warned.count() > 0);
        // The next words find a conversation that the provider accepts.
        let (words, requests) = agent.work(&place, "Then look at job 18, please.", 12).await;
        assert!(requests > 1 || words.contains("[sprag]"), "{words}");
        assert!(
            place.upstream.asked().len() > asked.len(),
            "the user's words lift the block"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_leaves_a_conversation_that_the_provider_accepts() {
    for (stream, keeps) in [(true, false), (false, false), (true, true), (false, true)] {
        let place = Place::new(provider(|turn| match turn {
            1 => "rm -rf /",
            2 => "ls",
            _ => "pwd",
        }));
        let mut agent = agent(stream, keeps, |_| "fine".to_owned());
        let (words, requests) = agent.work(&place, "Clean up.", 1).await;
        assert!(
            words.starts_with("[sprag] `exec_command` was not run."),
            "{words}"
        );
        assert_eq!(requests, 1);
        agent.items.push(json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "Then list the files."}]}));
        let answer = agent.ask(&place).await;
        assert_eq!(answer["output"][1]["type"], "function_call", "{answer}");
        let second = place.upstream.asked()[1].json();
        let owed = second["input"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| item["type"] == "function_call_output")
            .count();
        assert_eq!(owed, usize::from(keeps), "{second}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_session_is_answered_in_the_mode_asked_for() {
    let place = Place::new(provider(|_| "ls"));
    place
        .guard
        .check(sprag::Event::usage("codex-1").unwrap())
        .unwrap();
    place.order(sprag::Event::kill("codex-1").unwrap());
    for stream in [true, false] {
        let (words, _) = agent(stream, false, queued).work(&place, "Go.", 1).await;
        assert!(
            words.starts_with("[sprag] This session was stopped."),
            "{words}"
        );
    }
    assert!(place.upstream.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_websocket_is_told_to_use_plain_requests() {
    let place = Place::new(provider(|_| "ls"));
    let request = place.client.get(place.url("/openai/v1/responses"));
    let request = request
        .header("connection", "upgrade")
        .header("upgrade", "websocket");
    assert_eq!(request.send().await.unwrap().status(), 426);
    assert!(place.upstream.asked().is_empty());
}
