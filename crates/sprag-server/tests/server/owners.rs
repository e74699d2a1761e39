//! Whose sessions are whose, on every way into the server.

use sprag::Role;

use crate::test_server::{HttpAnswer, TestServer};

const READ: &str = r#"{"type":"call","session":"s","tool":"read"}"#;
const DELETE: &str =
    r#"{"type":"call","session":"s","tool":"delete_asset","args":{"asset_id":"a"}}"#;

fn sent(server: &TestServer, token: Option<&str>, event: &str) -> HttpAnswer {
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
    server.send("POST", "/v1/check", &token.unwrap_or_default(), event)
}

fn over_socket(server: &TestServer, event: &str) -> u16 {
    let length = event.len();
    let head = "POST /v1/check HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    let rest = format!("content-length: {length}\r\nconnection: close\r\n\r\n{event}");
    server.raw_unix(&format!("{head}{rest}")).status
}

#[test]
fn an_agent_can_not_kill_another_by_three_deletes_in_its_name() {
    let server = TestServer::start();
    let [one, other] = [(); 2].map(|()| server.token(Role::Agent));
    assert_eq!(sent(&server, Some(&one), READ).status, 200);
    for token in [Some(other.as_str()), None] {
        for _ in 0..3 {
            assert_eq!(sent(&server, token, DELETE).status, 403);
        }
        let line = server.ask(None, "POST", "/v1/check/batch", DELETE);
        assert_eq!(line.json()["error"]["status"], 403);
    }
    assert_eq!(over_socket(&server, DELETE), 403);
    let own = sent(&server, Some(&one), READ);
    assert_eq!(own.json()["verdict"], "allow");
}

#[test]
fn a_foreign_session_is_a_problem_of_its_own() {
    let server = TestServer::start();
    let hook = server.token(Role::Hook);
    sent(&server, Some(&hook), READ);
    insta::assert_snapshot!(sent(&server, None, READ).body, @r#"{"type":"urn:sprag:problem:not-owner","title":"Somebody else's session","status":403,"detail":"session s belongs to a hook, a relay or an operator; a caller without a token may not act in it, use a session of your own or a token of role hook","field":"session"}"#);
}

#[test]
fn scripts_without_tokens_on_loopback_and_socket_are_one_caller() {
    let server = TestServer::start();
    assert_eq!(sent(&server, None, READ).status, 200);
    assert_eq!(over_socket(&server, READ), 200);
    assert_eq!(sent(&server, None, READ).status, 200);
}

#[test]
fn a_hook_token_reports_for_any_session_and_the_log_names_it() {
    let server = TestServer::start();
    let (hook, relay) = (server.token(Role::Hook), server.token(Role::Relay));
    sent(&server, None, READ);
    assert_eq!(sent(&server, Some(&hook), READ).status, 200);
    assert_eq!(sent(&server, Some(&relay), READ).status, 200);
    let log = server
        .operator("GET", "/v1/log?session=s&order=asc", "")
        .json();
    let records = log["items"].as_array().unwrap().iter();
    let senders: Vec<_> = records.map(|record| record["sender"].to_string()).collect();
    assert_eq!(
        senders,
        [
            r#"{"role":"agent"}"#,
            r#"{"name":"hook","role":"hook"}"#,
            r#"{"name":"relay-0","role":"relay"}"#,
        ]
    );
}

#[test]
fn a_token_that_is_made_again_under_its_name_keeps_its_sessions() {
    let server = TestServer::start();
    let tokens = sprag_server::TokenFile::beside(&server.home.path().join("sprag.db"));
    let make = || {
        let made = tokens.add("build", Role::Agent, sprag::Timestamp(0));
        made.unwrap()
    };
    assert_eq!(sent(&server, Some(&make()), READ).status, 200);
    tokens.revoke("build").unwrap();
    assert_eq!(sent(&server, Some(&make()), READ).status, 200);
}

#[test]
fn an_agents_calls_can_not_touch_a_session_that_the_clients_hooks_opened() {
    let server = TestServer::start();
    let hook = server.token(Role::Hook);
    let prompt = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","transcript_path":"t","prompt":"please"}"#;
    let headers = format!("authorization: Bearer {hook}\r\n");
    let told = server.send("POST", "/v1/hooks/claude", &headers, prompt);
    assert_eq!(told.status, 200);
    assert_eq!(sent(&server, None, DELETE).status, 403);
    let agent = server.token(Role::Agent);
    assert_eq!(sent(&server, Some(&agent), DELETE).status, 403);
}

#[test]
fn who_owns_a_session_survives_a_restart_of_the_server() {
    let server = TestServer::start();
    let agent = server.token(Role::Agent);
    assert_eq!(sent(&server, Some(&agent), READ).status, 200);
    let server = TestServer::over(server.end(), |_| {});
    assert_eq!(sent(&server, None, DELETE).status, 403);
    assert_eq!(sent(&server, Some(&agent), READ).status, 200);
}

#[test]
fn an_agent_that_tries_foreign_sessions_does_not_make_the_store_look_broken() {
    let server = TestServer::start();
    let hook = server.token(Role::Hook);
    sent(&server, Some(&hook), READ);
    for _ in 0..3 {
        assert_eq!(sent(&server, None, DELETE).status, 403);
    }
    let metrics = server.operator("GET", "/metrics", "").body;
    let errors = metrics
        .lines()
        .filter(|line| line.starts_with("sprag_store_errors_total"));
    assert!(errors.clone().count() > 0);
    assert!(errors.clone().all(|line| line.ends_with(" 0")), "{metrics}");
}
