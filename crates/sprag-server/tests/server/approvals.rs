//! Calls that wait for a person, over the API: asked, listed, waited for and answered.

use std::sync::Arc;

use serde_json::Value;
use sprag::{Millis, Role, TestClock, Timestamp};
use sprag_server::SharedClock;

use crate::test_server::TestServer;

const POLICY: &str = "[rules]\n\"access.denied\" = \"ask\"\n[access]\ndeny = [\"rm_*\"]\n[session]\nmax_refused = 1000\n";
const YES: &str = r#"{"answer":"approve","why":"its job"}"#;
const NO: &str = r#"{"answer":"decline","why":"production"}"#;

fn server() -> TestServer {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("policy.toml"), POLICY).unwrap();
    TestServer::over(home, |_| {})
}

fn call(session: &str, id: u32) -> String {
    format!(r#"{{"type":"call","session":"{session}","tool":"rm_all","args":{{"id":{id}}}}}"#)
}

/// Makes a call that must be asked about, and returns the path of its question.
fn asked(server: &TestServer, session: &str, id: u32) -> String {
    let verdict = server.check(&call(session, id));
    assert_eq!(verdict["verdict"], "ask", "{verdict}");
    assert_eq!(verdict["code"], "approval_required");
    assert_eq!(verdict["expires_ms"], 600_000);
    format!("/v1/approvals/{}", verdict["approval"].as_str().unwrap())
}

/// The open questions, once there are `expected` of them. The list follows the log on a thread of its own.
fn list(server: &TestServer, expected: usize) -> Vec<Value> {
    let mut open = Vec::new();
    for _ in 0..1_000 {
        let listed = server.operator("GET", "/v1/approvals", "").json();
        open = listed["approvals"].as_array().unwrap().clone();
        if open.len() == expected {
            break;
        }
        std::thread::yield_now();
    }
    open
}

#[test]
fn a_call_is_asked_about_listed_approved_and_made() {
    let server = server();
    let path = asked(&server, "s1", 1);
    let open = list(&server, 1);
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["session"], "s1");
    assert_eq!(open[0]["state"], "open");
    assert_eq!(open[0]["call"], "rm_all");
    assert_eq!(open[0]["rule"], "access.denied");
    let answer = server.operator("POST", &path, YES);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["state"], "approved");
    assert_eq!(answer.json()["by"], "operator");
    assert_eq!(list(&server, 0), [] as [Value; 0]);
    assert_eq!(server.check(&call("s1", 1))["verdict"], "allow");
    let over = server.operator("GET", &path, "").json();
    assert_eq!(over["state"], "over");
}

#[test]
fn who_declines_tells_the_agent_why() {
    let server = server();
    let path = asked(&server, "s1", 1);
    assert_eq!(
        server.operator("POST", &path, NO).json()["state"],
        "declined"
    );
    let verdict = server.check(&call("s1", 1));
    assert_eq!(verdict["verdict"], "deny");
    let told = verdict["message"].as_str().unwrap();
    assert!(told.contains("Declined by operator (production)"), "{told}");
}

#[test]
fn who_waits_hears_the_answer_and_an_agent_only_of_its_own_call() {
    let server = server();
    let path = asked(&server, "s1", 1);
    assert_eq!(server.ask(None, "GET", &path, "").status, 404);
    let foreign = format!("{path}?session=s2");
    assert_eq!(
        server.ask(Some(Role::Agent), "GET", &foreign, "").status,
        404
    );
    let waits = format!("{path}?session=s1&wait=30s");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.ask(None, "GET", &waits, "").json());
        assert_eq!(server.operator("POST", &path, YES).status, 200);
        assert_eq!(waiting.join().unwrap()["state"], "approved");
    });
    let bad = server.operator("GET", &format!("{path}?wait=soon"), "");
    assert_eq!(bad.status, 400, "{bad:?}");
}

#[test]
fn an_agent_can_not_approve_itself_on_any_way_in() {
    let server = server();
    let path = asked(&server, "s1", 1);
    let code = path.rsplit('/').next().unwrap();
    let event = format!(r#"{{"type":"approve","session":"s1","approval":"{code}"}}"#);
    assert_eq!(server.ask(None, "POST", &path, YES).status, 401);
    assert_eq!(
        server.ask(Some(Role::Agent), "POST", &path, YES).status,
        403
    );
    for role in [None, Some(Role::Agent)] {
        assert_eq!(server.ask(role, "POST", "/v1/check", &event).status, 403);
        let line = server.ask(role, "POST", "/v1/check/batch", &event);
        assert_eq!(line.json()["error"]["status"], 403);
    }
    let run = r#"{"type":"call","session":"s1","tool":"Bash","args":{"command":"sprag approve x --yes"}}"#;
    assert_eq!(server.check(run)["rule"], "access.self");
    assert_eq!(list(&server, 1).len(), 1);
    assert_eq!(server.ask(Some(Role::Hook), "POST", &path, YES).status, 200);
}

#[test]
fn of_two_answers_the_first_counts() {
    let server = server();
    let path = asked(&server, "s1", 1);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let people = [YES, NO].map(|say| scope.spawn(|| server.operator("POST", &path, say)));
        people
            .into_iter()
            .map(|one| one.join().unwrap().status)
            .collect()
    });
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        1,
        "{statuses:?}"
    );
    assert!(statuses.contains(&409), "{statuses:?}");
}

#[test]
fn an_answer_for_a_session_that_was_killed_meanwhile_is_refused() {
    let server = server();
    let path = asked(&server, "s1", 1);
    server.operator("POST", "/v1/sessions/s1/kill", r#"{"why":"enough"}"#);
    let late = server.operator("POST", &path, YES);
    assert_eq!(late.status, 409, "{late:?}");
    assert!(late.body.contains("killed"), "{late:?}");
    assert_eq!(list(&server, 0), [] as [Value; 0]);
}

#[test]
fn an_answer_that_comes_too_late_is_refused() {
    let clock = Arc::new(TestClock::at(Timestamp(1_760_000_000_000)));
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("policy.toml"), POLICY).unwrap();
    let shared = SharedClock(Arc::clone(&clock) as _);
    let server = TestServer::over(home, |config| config.clock = shared);
    let path = asked(&server, "s1", 1);
    clock.advance(Millis(600_000));
    let late = server.operator("POST", &path, YES);
    assert_eq!(late.status, 409, "{late:?}");
    assert!(late.body.contains("expired"), "{late:?}");
    assert_eq!(list(&server, 0), [] as [Value; 0]);
}

#[test]
fn a_question_outlives_the_server_that_asked_it() {
    let first = server();
    let path = asked(&first, "s1", 1);
    let second = TestServer::over(first.end(), |_| {});
    assert_eq!(list(&second, 1).len(), 1);
    assert_eq!(second.operator("POST", &path, YES).status, 200);
    assert_eq!(second.check(&call("s1", 1))["verdict"], "allow");
}
