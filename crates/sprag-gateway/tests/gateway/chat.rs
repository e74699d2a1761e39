//! The Chat Completions API.

use serde_json::{Value, json};
use sprag::Event;

use crate::agent::ChatAgent;
use crate::place::Place;
use crate::upstream::{Answer, Asked};

/// A model that makes these calls as long as it is asked, and holds requests to the API's rules.
fn stubborn(commands: &'static [&'static str]) -> impl Fn(&Asked) -> Answer + Send + Sync {
    move |asked| {
        let body = asked.json();
        let messages = body["messages"].as_array().unwrap();
        if let Some(why) = error(messages) {
            return Answer::json(400, &json!({"error": {"message": why}}));
        }
        let turn = messages.len();
        let calls: Vec<Value> = commands
            .iter()
            .enumerate()
            .map(|(at, command)| {
                json!({"index": at, "id": format!("call_test_{turn}_{at}"), "type": "function",
                "function": {"name": "bash", "arguments": json!({"command": command}).to_string()}})
            })
            .collect();
        answer(body["stream"] == true, turn, &calls)
    }
}

fn error(messages: &[Value]) -> Option<String> {
    for (at, message) in messages.iter().enumerate() {
        let results: Vec<&Value> = messages[at + 1..]
            .iter()
            .take_while(|message| message["role"] == "tool")
            .map(|message| &message["tool_call_id"])
            .collect();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            if !results.contains(&&call["id"]) {
                return Some(format!("no result for {}", call["id"]));
            }
        }
        let all = messages[..at]
            .iter()
            .flat_map(|message| message["tool_calls"].as_array())
            .flatten();
        if message["role"] == "tool"
            && !all
                .into_iter()
                .any(|call| call["id"] == message["tool_call_id"])
        {
            return Some(format!("no call for {}", message["tool_call_id"]));
        }
    }
    None
}

fn answer(stream: bool, turn: usize, calls: &[Value]) -> Answer {
    let usage = json!({"prompt_tokens": 110, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 100}});
    let id = format!("chatcmpl-{turn}");
    if !stream {
        let message = json!({"role": "assistant", "content": "I look.", "tool_calls": calls});
        let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
        return Answer::json(
            200,
            &json!({"id": id, "object": "chat.completion", "choices": [choice], "usage": usage}),
        );
    }
    let chunk = |delta: Value, reason: Value| {
        json!({"id": id, "object": "chat.completion.chunk", "model": "gpt-test",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let mut chunks = vec![chunk(
        json!({"role": "assistant", "content": "I look."}),
        Value::Null,
    )];
    for call in calls {
        let (mut start, text) = (
            call.clone(),
            call["function"]["arguments"].as_str().unwrap(),
        );
        start["function"]["arguments"] = json!("");
        chunks.push(chunk(json!({"tool_calls": [start]}), Value::Null));
        chunks.push(chunk(
            json!({"tool_calls": [{"index": call["index"], "function": {"arguments": text}}]}),
            Value::Null,
        ));
    }
    chunks.push(chunk(json!({}), json!("tool_calls")));
    let mut last = json!({"id": id, "choices": []});
    last["usage"] = usage;
    chunks.push(last);
    let mut pieces: Vec<_> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n").into())
        .collect();
    pieces.push("data: [DONE]\n\n".into());
    Answer {
        pieces,
        ..Answer::events(&[])
    }
}

fn agent(stream: bool) -> ChatAgent {
    ChatAgent {
        messages: Vec::new(),
        stream,
        tool: |_| "job 17 is queued".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_is_warned_next_to_its_result_and_then_ended() {
    for stream in [true, false] {
        let place = Place::new(stubborn(&["cat status.txt"]));
        let mut agent = agent(stream);
        let (words, requests) = agent.work(&place, "Wait for job 17.", 12).await;
        assert!(words.contains("[sprag] "), "{words}");
        assert!((4..=8).contains(&requests), "{requests}");
        let asked = place.upstream.asked();
        let warned = asked.iter().filter(|asked| {
            String::from_utf8_lossy(&asked.body).contains(r"job 17 is queued\n\n[sprag] ")
        });
        assert!(warned.count() > 0);
        assert_eq!(place.gateway.tally().input_tokens(), 110 * requests as u64);
        agent.work(&place, "Then look at job 18, please.", 12).await;
        assert!(
            place.upstream.asked().len() > asked.len(),
            "the user's words lift the block"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_taken_out_and_the_others_stay() {
    for stream in [true, false] {
        let place = Place::new(stubborn(&["ls", "rm -rf /", "pwd"]));
        let mut agent = agent(stream);
        agent
            .messages
            .push(json!({"role": "user", "content": "Clean up."}));
        let choice = agent.ask(&place).await;
        let calls = choice["message"]["tool_calls"].as_array().unwrap();
        let ids: Vec<&str> = calls
            .iter()
            .map(|call| call["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["call_test_1_0", "call_test_1_2"]);
        assert_eq!(
            calls[1]["function"]["arguments"],
            json!({"command": "pwd"}).to_string()
        );
        let said = choice["message"]["content"].as_str().unwrap();
        assert!(
            said.starts_with("I look.") && said.contains("[sprag] `bash` was not run."),
            "{said}"
        );
        assert_eq!(choice["finish_reason"], "tool_calls");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_session_is_answered_in_the_mode_asked_for() {
    let place = Place::new(stubborn(&["ls"]));
    place.guard.check(Event::usage("open-1").unwrap()).unwrap();
    place.order(Event::kill("open-1").unwrap());
    for stream in [true, false] {
        let (words, _) = agent(stream).work(&place, "Go.", 1).await;
        assert!(
            words.starts_with("[sprag] This session was stopped."),
            "{words}"
        );
    }
    assert!(place.upstream.asked().is_empty());
}
