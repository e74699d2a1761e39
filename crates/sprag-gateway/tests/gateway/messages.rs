//! The Messages API.

use serde_json::{Value, json};
use sprag::{Event, FeedItem};
use sprag_gateway::{StopMode, WarnMode};

use crate::agent::{MessagesAgent, message_of};
use crate::messages_model::{answer, stubborn};
use crate::place::Place;
use crate::upstream::{Answer, Asked, End, messages_error};

fn looks(_: usize) -> Vec<(&'static str, Value)> {
    vec![("Bash", json!({"command": "cat status.txt"}))]
}

fn queued(_: &Value) -> String {
    "job 17 is queued".to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_is_warned_next_to_its_result_and_then_ended() {
    for stream in [true, false] {
        let place = Place::new(stubborn(looks));
        let mut agent = MessagesAgent::new("s1", stream, queued);
        let (words, requests) = agent.work(&place, "Wait for job 17.", 12).await;
        assert!(words.contains("[sprag] "), "{words}");
        assert!((4..=8).contains(&requests), "{requests}");
        let asked = place.upstream.asked();
        assert_eq!(asked.len(), requests, "every request reached the model");
        warned_alike(&asked);
        assert_eq!(place.gateway.tally().requests(), requests as u64);
        assert_eq!(place.gateway.tally().input_tokens(), 110 * requests as u64);
        let log = place.log.lock().unwrap();
        assert!(log.iter().all(|line| !line.contains("canary")), "{log:?}");
    }
}

/// Each warning stands next to its result, and at the same place with the same words in all later
/// requests: each request begins with the one before it.
fn warned_alike(asked: &[Asked]) {
    let results = |asked: &Asked| -> Vec<String> {
        let body = asked.json();
        let messages = body["messages"].as_array().unwrap().clone();
        let blocks = messages
            .iter()
            .filter_map(|message| message["content"].as_array());
        let blocks = blocks
            .flatten()
            .filter(|block| block["type"] == "tool_result");
        blocks
            .map(|block| block["content"].as_str().unwrap().to_owned())
            .collect()
    };
    let last = results(asked.last().unwrap());
    assert!(
        last.iter()
            .any(|text| text.starts_with("job 17 is queued\n\n[sprag] ")),
        "{last:?}"
    );
    for request in asked {
        let earlier = results(request);
        assert_eq!(earlier, last[..earlier.len()]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_leaves_one_more_answer_and_then_the_gateway_speaks_until_the_user_does() {
    let place = Place::new(stubborn(looks));
    let mut agent = MessagesAgent::new("s1", true, queued);
    let (_, _) = agent.work(&place, "Wait for job 17.", 12).await;
    let reached = place.upstream.asked().len();
    // A client that goes on by itself: the same words again are nobody's.
    let (words, requests) = agent.work(&place, "Continue.", 3).await;
    assert!(
        words.starts_with("[sprag] The model is not asked again until you write."),
        "{words}"
    );
    assert_eq!((requests, place.upstream.asked().len()), (1, reached));
    let (words, _) = agent
        .work(&place, "Then look at job 18 instead, please.", 12)
        .await;
    assert!(
        place.upstream.asked().len() > reached,
        "the user's words lift the block: {words}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_the_client_wrote_itself_lifts_no_block() {
    let place = Place::new(stubborn(looks));
    let mut agent = MessagesAgent::new("s1", true, queued);
    agent.work(&place, "Wait for job 17.", 12).await;
    let reached = place.upstream.asked().len();
    for (prompt, words, passes) in [
        (
            "p1",
            "<task-notification>task 3 is done</task-notification>",
            false,
        ),
        ("p2", "Look at job 18.", true),
    ] {
        let mut body = agent.body();
        let message = json!({"role": "user", "content": words});
        body["messages"].as_array_mut().unwrap().push(message);
        let request = place.client.post(place.url("/anthropic/v1/messages"));
        let request = request.header("x-claude-code-session-id", "s1");
        let request = request.header("x-claude-code-prompt-id", prompt);
        let request = request.header("x-api-key", "canary-key").json(&body);
        assert_eq!(request.send().await.unwrap().status(), 200);
        assert_eq!(place.upstream.asked().len() > reached, passes, "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_session_is_answered_at_once_and_asks_no_model() {
    let place = Place::new(stubborn(|_| {
        vec![("mcp__catalog__delete_asset", json!({"asset_id": "a"}))]
    }));
    let mut agent = MessagesAgent::new("s1", true, |_| "a still exists".to_owned());
    let (words, requests) = agent.work(&place, "Delete a.", 12).await;
    assert!(
        words.contains("[sprag] This session was stopped."),
        "{words}"
    );
    assert!(requests <= 3, "{requests}");
    let reached = place.upstream.asked().len();
    for stream in [true, false] {
        agent.stream = stream;
        let (words, _) = agent.work(&place, "Why not? Go on, please.", 1).await;
        assert!(
            words.starts_with("[sprag] This session was stopped."),
            "{words}"
        );
    }
    assert_eq!(place.upstream.asked().len(), reached);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_the_model_speaks_ends_the_answer_at_its_next_call() {
    let place = Place::new(stubborn(looks));
    place.guard.check(Event::usage("s1").unwrap()).unwrap();
    place.order(Event::kill("s1").unwrap());
    let mut agent = MessagesAgent::new("s1", true, queued);
    let (words, requests) = agent.work(&place, "Go.", 1).await;
    assert!(words.contains("This session was stopped."), "{words}");
    assert_eq!((requests, place.upstream.asked().len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_taken_out_and_the_others_stay() {
    let calls = |_: usize| {
        vec![
            ("Bash", json!({"command": "ls"})),
            ("Bash", json!({"command": "rm -rf / --no-preserve-root"})),
            ("Bash", json!({"command": "pwd"})),
        ]
    };
    for stream in [true, false] {
        let place = Place::new(stubborn(calls));
        let mut agent = MessagesAgent::new("s1", stream, queued);
        agent
            .messages
            .push(json!({"role": "user", "content": "Clean up."}));
        let answer = agent.ask(&place).await;
        let kinds: Vec<&str> = answer["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["type"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["thinking", "text", "tool_use", "text", "tool_use"]);
        let text = answer["content"][3]["text"].as_str().unwrap();
        assert!(text.starts_with("[sprag] `Bash` was not run."), "{text}");
        assert_eq!(answer["stop_reason"], "tool_use");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_used_up_stops_before_the_next_request() {
    // Each answer costs 15 tokens, and a hundred that were cached and don't count.
    let policy = "[budget]\ntokens = { session = 40 }\n";
    let place = Place::with(
        stubborn(|turn| vec![("Bash", json!({"command": format!("make part-{turn}")}))]),
        policy,
        |_| {},
    );
    let mut agent = MessagesAgent::new("s1", true, |input| format!("made {input}"));
    let (words, _) = agent.work(&place, "Make all parts.", 12).await;
    assert!(words.contains("budget"), "{words}");
    assert_eq!(
        place.upstream.asked().len(),
        2,
        "a third answer would not have fitted"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_is_an_error_that_nobody_repeats_if_asked_for() {
    let place = Place::with(stubborn(looks), "", |options| {
        options.stop = StopMode::Error
    });
    place.guard.check(Event::usage("s1").unwrap()).unwrap();
    place.order(Event::kill("s1").unwrap());
    let agent = MessagesAgent::new("s1", true, queued);
    for (client, status) in [("claude-cli/2.1", 402), ("codex_cli_rs/0.1", 400)] {
        let request = place.client.post(place.url("/anthropic/v1/messages"));
        let request = request
            .header("x-claude-code-session-id", "s1")
            .header("user-agent", client);
        let response = request.json(&agent.body()).send().await.unwrap();
        assert_eq!(response.status(), status);
        assert!(response.headers().get("retry-after").is_none());
        let body: Value = response.json().await.unwrap();
        assert!(
            body["error"]["message"]
                .as_str()
                .unwrap()
                .contains("This session was stopped.")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_warnings_in_the_log_only_requests_stay_as_they_are() {
    let place = Place::with(stubborn(looks), "", |options| options.warn = WarnMode::Log);
    let mut agent = MessagesAgent::new("s1", true, queued);
    agent.work(&place, "Wait for job 17.", 12).await;
    for asked in place.upstream.asked() {
        assert!(!String::from_utf8_lossy(&asked.body).contains("[sprag]"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_count_once_and_side_requests_count_nothing() {
    let place = Place::new(stubborn(looks));
    let feed = place.guard.subscribe();
    let mut agent = MessagesAgent::new("s1", true, queued);
    agent
        .messages
        .push(json!({"role": "user", "content": "Wait."}));
    let first = agent.ask(&place).await;
    agent
        .messages
        .push(json!({"role": "assistant", "content": first["content"]}));
    let id = first["content"][2]["id"].clone();
    agent.messages.push(json!({"role": "user", "content":
        [{"type": "tool_result", "tool_use_id": id, "content": "queued"}]}));
    for _ in 0..10 {
        agent.ask(&place).await;
    }
    let mut side = agent.body();
    side["tools"] = json!([]);
    for _ in 0..10 {
        let request = place.client.post(place.url("/anthropic/v1/messages"));
        let request = request
            .header("x-claude-code-session-id", "s1")
            .header("x-api-key", "canary-key");
        assert_eq!(request.json(&side).send().await.unwrap().status(), 200);
    }
    let records = std::iter::from_fn(|| feed.try_next());
    let steps = records.filter(|item| match item {
        FeedItem::Record(record) => sprag::record_json(record)["event"]["type"] == "step",
        _ => false,
    });
    assert_eq!(steps.count(), 1);
}

/// A chant, with the events around it; the model never ends by itself.
fn chanting(asked: &Asked, kind: &str) -> Answer {
    let mut whole = answer(asked, 1, "x", &[]);
    let start = whole.pieces.remove(0);
    let open = json!({"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: "", "signature": ""}});
    let say = json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": format!("{kind}_delta"), kind: "I will check the file again. "}});
    let event = |name: &str, data: &Value| format!("event: {name}\ndata: {data}\n\n").into();
    whole.pieces = vec![
        start,
        event("content_block_start", &open),
        event("content_block_delta", &say),
    ];
    whole.end = End::Never;
    whole
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chant_is_ended_properly_and_the_upstream_is_given_up() {
    for kind in ["text", "thinking"] {
        let place = Place::new(move |asked| match messages_error(&asked.json()) {
            Some(why) => Answer::json(400, &json!({"error": {"message": why}})),
            None => chanting(asked, kind),
        });
        let mut agent = MessagesAgent::new("s1", true, queued);
        for _ in 0..2 {
            let (words, requests) = agent.work(&place, "Look at the file.", 1).await;
            assert_eq!(requests, 1);
            assert!(
                words.contains("[sprag] This answer was ended here: it only repeated itself."),
                "{words}"
            );
            assert!(words.len() < 3000, "{}", words.len());
        }
        for _ in 0..100 {
            if place.upstream.dropped() == 2 {
                break;
            }
            tokio::task::yield_now().await;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(place.upstream.dropped(), 2, "no more tokens are paid");
    }
}

#[test]
fn a_stream_is_put_together_as_strictly_as_the_sdks_do() {
    let broken = "data: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n";
    assert!(std::panic::catch_unwind(|| message_of(broken)).is_err());
}
