//! Questions that the guard answers itself: nobody can be reached, or too many are open.

use std::time::Duration;

use serde_json::{Value, json};
use sprag::{Event, MAX_QUESTIONS, Role};
use sprag_server::notify::{Backoff, NotifySettings, Webhook};

use crate::test_server::TestServer;

const POLICY: &str = "[rules]\n\"access.denied\" = \"ask\"\n[access]\ndeny = [\"rm_*\"]\n[session]\nmax_refused = 1000\n";

fn server(notify: NotifySettings) -> TestServer {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("policy.toml"), POLICY).unwrap();
    TestServer::over(home, |config| config.notify = notify)
}

/// Nobody listens there.
fn unreachable() -> NotifySettings {
    NotifySettings {
        webhook: Some(Webhook {
            url: "http://127.0.0.1:9/".to_owned(),
            secret: None,
        }),
        backoff: Backoff {
            first: Duration::from_millis(1),
            most: Duration::from_millis(1),
            tries: 2,
        },
        ..NotifySettings::default()
    }
}

fn call() -> String {
    json!({"type": "call", "session": "s1", "tool": "rm_all"}).to_string()
}

fn state(server: &TestServer, path: &str) -> Value {
    server.operator("GET", path, "").json()
}

#[test]
fn a_question_that_reaches_nobody_is_declined_by_the_guard_which_says_so() {
    let server = server(unreachable());
    let verdict = server.check(&call());
    let path = format!("/v1/approvals/{}", verdict["approval"].as_str().unwrap());
    let waits = format!("{path}?wait=60s");
    let answered = state(&server, &waits);
    assert_eq!(answered["state"], "declined", "{answered}");
    assert_eq!(answered["by"], "sprag");
    let told = server.check(&call());
    assert_eq!(told["verdict"], "deny");
    let message = told["message"].as_str().unwrap();
    let expected = "Declined by sprag (nobody could be reached: the notification by webhook failed";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_question_that_a_hook_asked_waits_for_the_client_even_if_no_notification_arrives() {
    let server = server(unreachable());
    let hook = json!({"hook_event_name": "PreToolUse", "session_id": "h", "transcript_path": "t",
        "tool_name": "rm_all", "tool_input": {}, "tool_use_id": "u1"});
    let answer = server.ask(
        Some(Role::Hook),
        "POST",
        "/v1/hooks/claude",
        &hook.to_string(),
    );
    assert_eq!(answer.status, 200, "{answer:?}");
    // A second question, of an agent, is declined after both notifications failed: by then the hook's would be.
    let verdict = server.check(&call());
    let path = format!(
        "/v1/approvals/{}?wait=60s",
        verdict["approval"].as_str().unwrap()
    );
    assert_eq!(state(&server, &path)["state"], "declined");
    let open = server.operator("GET", "/v1/approvals", "").json();
    let open = open["approvals"].as_array().unwrap();
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["call"], "rm_all");
}

#[test]
fn beyond_a_thousand_open_questions_the_guard_declines() {
    let server = server(NotifySettings::default());
    let ask = |number: usize| {
        let session = format!("s{}", number / 16);
        let call = Event::call(&session, "rm_all").unwrap();
        let call = call.args(json!({ "id": number }));
        server.guard.check(call).unwrap().approval.unwrap()
    };
    // A server that answers hears of every record.
    server.operator("GET", "/v1/approvals", "");
    for number in 0..MAX_QUESTIONS {
        ask(number);
    }
    ask(MAX_QUESTIONS);
    // Whichever question is heard of last is one too many.
    let mut declined = Value::Null;
    for _ in 0..20_000 {
        let found = server.operator("GET", "/v1/log?type=decline", "").json();
        declined = found["items"].clone();
        if declined.as_array().is_some_and(|items| !items.is_empty()) {
            break;
        }
        std::thread::yield_now();
    }
    assert_eq!(declined.as_array().unwrap().len(), 1, "{declined}");
    let event = &declined[0]["event"];
    assert_eq!(event["by"], "sprag", "{event}");
    assert_eq!(event["why"], "1000 questions are open already");
    let open = server.operator("GET", "/v1/approvals", "").json();
    assert_eq!(open["approvals"].as_array().unwrap().len(), MAX_QUESTIONS);
}
