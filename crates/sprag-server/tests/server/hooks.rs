//! Hooks that come over HTTP, answered in their client's own words.

use sprag::Role;

use crate::test_server::TestServer;

fn bash(session: &str, number: u32) -> String {
    format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"{session}","transcript_path":"t","tool_name":"mcp__catalog__delete_asset","tool_input":{{"asset_id":"fact_sales"}},"tool_use_id":"toolu_{number}"}}"#
    )
}

#[test]
fn a_posted_hook_is_judged_and_answered_in_the_clients_words() {
    let server = TestServer::start();
    let hook = format!("authorization: Bearer {}\r\n", server.token(Role::Hook));
    let send = |body: &str| server.send("POST", "/v1/hooks/claude", &hook, body);
    assert_eq!(send(&bash("s1", 1)).body, "{}");
    send(&bash("s1", 2));
    let third = send(&bash("s1", 3)).json();
    assert_eq!(third["continue"], false);
    assert_eq!(third["hookSpecificOutput"]["permissionDecision"], "deny");
    let state = &server.operator("GET", "/v1/sessions/s1", "").json()["state"];
    assert_eq!(state, "killed");
}

#[test]
fn in_shadow_a_posted_hook_is_logged_and_never_stopped() {
    let server = TestServer::start();
    let hook = format!("authorization: Bearer {}\r\n", server.token(Role::Hook));
    for number in 0..5 {
        let path = "/v1/hooks/claude?shadow=true";
        let answer = server.send("POST", path, &hook, &bash("s2", number));
        assert_eq!((answer.status, answer.body.as_str()), (200, "{}"));
    }
    let shown = server.operator("GET", "/v1/sessions/s2", "").json();
    assert_eq!(
        (&shown["state"], &shown["would"]),
        (&"active".into(), &"killed".into())
    );
}

#[test]
fn an_agent_can_not_put_itself_into_shadow() {
    let server = TestServer::start();
    let call = r#"{"type":"call","session":"s","tool":"delete_asset"}"#;
    for role in [None, Some(Role::Agent)] {
        let answer = server.ask(role, "POST", "/v1/check?shadow=true", call);
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    let answer = server.ask(Some(Role::Hook), "POST", "/v1/check?shadow=true", call);
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn a_hook_that_nobody_knows_or_can_read_is_told_so() {
    let server = TestServer::start();
    let hook = format!("authorization: Bearer {}\r\n", server.token(Role::Hook));
    let unknown = server.send("POST", "/v1/hooks/vim", &hook, "{}");
    assert_eq!(unknown.status, 404);
    assert_eq!(
        unknown.json()["detail"],
        "there is no client \"vim\"; known are claude, codex, gemini, copilot, cursor, opencode"
    );
    let empty = format!("{hook}content-type: application/json\r\n");
    let nothing = server.send("POST", "/v1/hooks/claude", &empty, "");
    assert_eq!(nothing.status, 400);
    // A payload of a later version must not stop work: the client gets an answer that it understands.
    let garbage = server.send("POST", "/v1/hooks/claude", &hook, "garbage");
    assert_eq!(garbage.status, 200);
    let closed = "/v1/hooks/claude?fail=closed&event=PreToolUse";
    let refused = server.send("POST", closed, &hook, "garbage").json();
    assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], "deny");
}
