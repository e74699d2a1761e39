//! Calls on their way to the server.

use std::sync::Arc;

use serde_json::json;
use sprag::{Event, FailMode, Id, Role, Sender};
use sprag_mcp::{ClientAction, GateOptions, OnKill};

use crate::gate_fixture::{GateFixture, call, options, text_result};

const DELETE: &str = r#"{"asset_id":"fact_sales"}"#;

#[test]
fn the_third_delete_of_one_asset_is_refused_and_so_is_everything_after_it() {
    let fixture = GateFixture::new();
    fixture.up(&call(1, "delete_asset", DELETE));
    fixture.down(&text_result(1, "asset still exists"));
    fixture.up(&call(2, "delete_asset", DELETE));
    let worded = fixture.worded(&text_result(2, "asset still exists"));
    assert!(worded.starts_with(r#"{"result":{"content":[{"type":"text","text":"asset still exists"},{"type":"text","text":"[sprag] "#), "{worded}");
    assert!(
        worded.ends_with(r#"}]},"jsonrpc":"2.0","id":2}"#),
        "{worded}"
    );
    let why = fixture.refused(&call(3, "delete_asset", DELETE));
    assert!(why.contains("fact_sales"), "{why}");
    let after = fixture.refused(&call(4, "read_asset", DELETE));
    assert!(after.contains("killed"), "{after}");
    let told = fixture.told.lock().unwrap().join("\n");
    assert!(told.contains("a session is killed: "), "{told}");
    assert!(!fixture.gate.must_end());
}

#[test]
fn a_kill_ends_the_server_where_it_is_told_to() {
    let fixture = GateFixture::with(
        GateOptions {
            on_kill: OnKill::Exit,
            ..options()
        },
        "",
    );
    fixture.up(&call(1, "delete_asset", DELETE));
    fixture.up(&call(2, "delete_asset", DELETE));
    assert!(!fixture.gate.must_end());
    fixture.refused(&call(3, "delete_asset", DELETE));
    assert!(fixture.gate.must_end());
}

#[test]
fn a_tool_that_is_not_allowed_is_refused_before_anything_else() {
    let fixture = GateFixture::with(options(), "[access]\ndeny = [\"catalog/drop_*\"]");
    let named = GateOptions {
        server: Some(Id::new("catalog").unwrap()),
        ..options()
    };
    fixture.up(&call(1, "drop_table", "{}"));
    let fixture = GateFixture::with(named, "[access]\ndeny = [\"catalog/drop_*\"]");
    fixture.refused(&call(1, "drop_table", "{}"));
    fixture.up(&call(2, "list_tables", "{}"));
}

#[test]
fn what_is_no_call_passes_whatever_it_is() {
    let fixture = GateFixture::new();
    for message in [
        "",
        " ",
        "garbage",
        "{",
        "[]",
        "[1,2]",
        "7",
        "null",
        r#""tools/call""#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":{"type":"text","text":"tools/call"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"declined"}}"#,
        r#"{"id":1,"method":7,"params":{"name":"delete_asset"}}"#,
        r#"{"id":1,"method":"tools/call"}"#,
        r#"{"id":1,"method":"tools/call","params":{"arguments":{}}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":{"a":1}}}"#,
        r#"{"id":1,"id":2,"method":"resources/list"}"#,
    ] {
        fixture.up(message);
    }
    assert_eq!(fixture.records(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_call_that_could_be_read_in_two_ways_does_not_go_on() {
    let fixture = GateFixture::new();
    for (message, id, code) in [
        (
            r#"{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}"#,
            json!(1),
            -32_600,
        ),
        (
            r#"{"id":"k","method":"tools/call","params":{"name":"a","name":"b"}}"#,
            json!("k"),
            -32_600,
        ),
        (
            r#"{"id":1,"method":"ping","method":"tools/call","params":{"name":"a"}}"#,
            json!(1),
            -32_700,
        ),
        (
            r#"{"id":5,"method":"tools\u002fcall","params":{"name":"a","arguments":{"x":NaN}}}"#,
            json!(5),
            -32_700,
        ),
        (
            r#"{"id":1,"id":2,"method":"tools/call","params":{"name":"a"}}"#,
            json!(null),
            -32_700,
        ),
    ] {
        let (onward, answer) = fixture.stopped(message);
        let answer: serde_json::Value = serde_json::from_str(&answer.unwrap()).unwrap();
        assert_eq!(onward, None);
        assert_eq!(answer["id"], id, "{message}");
        assert_eq!(answer["error"]["code"], code, "{message}");
    }
    let (_, answer) = fixture.stopped(
        r#"{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}"#,
    );
    insta::assert_snapshot!(answer.unwrap(), @r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"this call was not passed on: the key \"x\" appears twice, so that guard and server could read different calls"}}"#);
}

#[test]
fn a_refused_call_without_an_id_is_not_answered() {
    let fixture = GateFixture::with(options(), "[access]\ndeny = [\"*\"]");
    let (onward, answer) = fixture.stopped(r#"{"method":"tools/call","params":{"name":"a"}}"#);
    assert_eq!((onward, answer), (None, None));
    let (_, answer) = fixture.stopped(r#"{"id":null,"method":"tools/call","params":{"name":"a"}}"#);
    assert!(answer.unwrap().contains(r#""id":null"#));
}

#[test]
fn a_client_that_waits_for_a_task_is_refused_by_an_error_and_a_modern_one_by_a_typed_result() {
    let fixture = GateFixture::with(options(), "[access]\ndeny = [\"*\"]");
    let (_, answer) =
        fixture.stopped(r#"{"id":1,"method":"tools/call","params":{"name":"a","task":{"ttl":1}}}"#);
    assert!(answer.unwrap().contains(r#""error":{"code":-31001"#));
    let modern = r#"{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    assert!(
        fixture
            .stopped(modern)
            .1
            .unwrap()
            .contains(r#""resultType":"complete""#)
    );
}

#[test]
fn of_a_batch_only_what_is_refused_is_taken_out() {
    let fixture = GateFixture::with(options(), "[access]\ndeny = [\"drop_*\"]");
    let (one, two, three) = (
        call(1, "a", "{}"),
        call(2, "drop_x", "{}"),
        call(3, "b", "{}"),
    );
    fixture.up(&format!("[{one}, {three}]"));
    let (onward, answer) = fixture.stopped(&format!("[{one}, {two},{three}]"));
    assert_eq!(onward.unwrap(), format!("[{one},{three}]"));
    let answer: serde_json::Value = serde_json::from_str(&answer.unwrap()).unwrap();
    assert_eq!(answer.as_array().unwrap().len(), 1);
    assert_eq!(answer[0]["id"], 2);
    let (onward, _) = fixture.stopped(&format!("[{two}]"));
    assert_eq!(onward, None);
}

#[test]
fn arguments_that_the_guard_cannot_take_apart_are_still_told_apart() {
    let fixture = GateFixture::new();
    for _ in 0..20 {
        fixture.up(&call(1, "say", r#"{"text":"half \ud83d"}"#));
    }
    let why = fixture.refused(&call(1, "say", r#"{"text":"half \ud83d"}"#));
    assert!(why.contains("identical") || why.contains("same"), "{why}");
    fixture.up(&call(1, "say", r#"{"text":"other \ud83d"}"#));
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    fixture.up(&call(2, "say", &deep));
}

#[test]
fn the_clients_own_ids_say_who_calls() {
    let fixture = GateFixture::new();
    let meta = r#"{"sessionId":"codex-1","threadId":"codex-1","callId":"c1"}"#;
    fixture.up(
        r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"codex-mcp-client"}}}"#,
    );
    fixture.down(r#"{"id":0,"result":{"serverInfo":{"name":"catalog"}}}"#);
    fixture.up(&format!(
        r#"{{"id":1,"method":"tools/call","params":{{"name":"read","_meta":{meta}}}}}"#
    ));
    fixture.up(&call(2, "read", "{}"));
    let records = fixture.records();
    assert_eq!(records[0]["event"]["session"], "codex-1", "{}", records[0]);
    assert_eq!(records[0]["event"]["agent"], "codex-mcp-client");
    assert_eq!(
        records[0]["event"]["approach"]["server"], "catalog",
        "{}",
        records[0]
    );
    assert_eq!(records[1]["event"]["session"], "s1");
}

#[test]
fn the_hints_of_the_list_of_tools_reach_the_guard() {
    let fixture = GateFixture::with(options(), "[destructive]\ntrust_hints = true");
    fixture.up(r#"{"id":9,"method":"tools/list"}"#);
    fixture.down(r#"{"id":9,"result":{"tools":[{"name":"wipe","annotations":{"destructiveHint":true,"x":1}},{"name":"look"}]}}"#);
    fixture.up(&call(1, "wipe", r#"{"id":"a"}"#));
    fixture.up(&call(2, "wipe", r#"{"id":"b"}"#));
    fixture.refused(&call(3, "wipe", r#"{"id":"c"}"#));
}

#[test]
fn many_behind_one_process_are_never_marked_together() {
    let fixture = GateFixture::with(
        GateOptions {
            shared: true,
            ..options()
        },
        "",
    );
    fixture.up(&call(1, "delete_asset", DELETE));
    fixture.up(&call(2, "delete_asset", DELETE));
    fixture.refused(&call(3, "delete_asset", DELETE));
    fixture.up(&call(4, "read_asset", DELETE));
}

#[test]
fn when_the_guard_does_not_answer_the_mode_decides() {
    let open = GateFixture::without_guard(options(), false);
    open.up(&call(1, "a", "{}"));
    open.down(&text_result(1, "x"));
    open.up(&call(2, "a", "{}"));
    let told = open.told.lock().unwrap().clone();
    assert_eq!(
        told,
        ["the guard does not answer: nobody listens; calls go on unguarded (--fail open)"]
    );
    let stopped = GateFixture::without_guard(options(), true);
    insta::assert_snapshot!(stopped.refused(&call(1, "a", "{}")), @"This session was stopped by the loop guard, and the guard can't be reached now. Stop and tell the user.");
    let closed = GateFixture::without_guard(
        GateOptions {
            fail: FailMode::Closed,
            ..options()
        },
        false,
    );
    insta::assert_snapshot!(closed.refused(&call(1, "a", "{}")), @"The loop guard can't be reached, and nothing may run without it here (--fail closed). Stop and tell the user.");
}

/// A client over HTTP may write any session into `_meta`.
#[test]
fn a_client_that_names_a_session_of_somebody_else_is_judged_in_its_own() {
    let fixture = GateFixture::new();
    let victim = Event::call("victim", "read").unwrap();
    let hook = Sender::anonymous(Role::Hook);
    fixture.guard.check_from(&hook, victim).unwrap();
    let scope = fixture.gate.scope();
    let scope = scope.sent_by(Arc::new(Sender::anonymous(Role::Agent)));
    let named = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"delete_asset","arguments":{{"id":1}},"_meta":{{"threadId":"victim"}}}}}}"#
        )
    };
    for id in 1..=2 {
        let passed = fixture.gate.from_client(&scope, named(id).as_bytes());
        assert_eq!(passed, ClientAction::Pass);
    }
    let sessions: Vec<_> = fixture.records().iter().map(session).collect();
    assert_eq!(
        sessions
            .iter()
            .filter(|session| *session == "victim")
            .count(),
        1
    );
    // What stopped the session stops whoever acts in its name.
    fixture.guard.kill("victim", "ops", "enough").unwrap();
    let stopped = fixture.gate.from_client(&scope, named(3).as_bytes());
    assert!(matches!(stopped, ClientAction::Stop { onward: None, .. }));
}

fn session(record: &serde_json::Value) -> String {
    record["event"]["session"].as_str().unwrap().to_owned()
}
