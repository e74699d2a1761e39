//! `sprag decide`: one line in, one line out.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::sandbox::{Sandbox, feed};

const DELETES: &str = r#"{"type":"call","at":1000,"session":"s1","tool":"delete_asset","args":{"id":"a"}}
{"type":"call","at":2000,"session":"s1","tool":"delete_asset","args":{"id":"b"}}
{"type":"call","at":3000,"session":"s1","tool":"delete_asset","args":{"id":"c"}}
"#;

#[test]
fn each_event_gets_its_verdict() {
    insta::assert_snapshot!(Sandbox::new().run_with(&["decide"], DELETES), @r#"
    exit 0
    --- stdout
    {"verdict":"allow","rule":null,"code":null,"message":null,"evidence":null,"hint":null,"also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    {"verdict":"warn","rule":"destructive.volume","code":null,"message":"2 deletes in 1s (a, b): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.","evidence":{"count":2,"elapsed_ms":1000,"max":3,"target":"id=b","targets":["id=a","id=b"],"tool":"delete_asset","window_ms":60000},"hint":"sprag policy set destructive.max_calls 30","also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    {"verdict":"kill","rule":"destructive.volume","code":null,"message":"session_killed: loop_detected, 3 deletes in 2s (a, b, c)","evidence":{"count":3,"elapsed_ms":2000,"max":3,"target":"id=c","targets":["id=a","id=b","id=c"],"tool":"delete_asset","window_ms":60000},"hint":"sprag policy set destructive.max_calls 30 && sprag sessions reset s1 --why \"…\"","also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    "#);
}

#[test]
fn a_bad_line_is_answered_and_the_stream_goes_on() {
    let lines = "not json\n\n   \n[1]\n{\"type\":\"cal\"}\n{\"type\":\"call\",\"session\":\"\",\"tool\":\"t\"}\r\n\
        {\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\",\"at\":5,\"generation\":9}\n\
        {\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\",\"at\":5}";
    insta::assert_snapshot!(Sandbox::new().run_with(&["decide"], lines), @r#"
    exit 0
    --- stdout
    {"error":{"line":1,"message":"not an event: expected ident at column 2"}}
    {"error":{"line":4,"message":"not an event: invalid type: sequence, expected a JSON object at column 0"}}
    {"error":{"line":5,"message":"type: unknown event type \"cal\"; did you mean \"call\"?"}}
    {"error":{"line":6,"message":"session: an id must not be empty"}}
    {"error":{"line":7,"message":"session s is at generation 1; generation 9 is not there yet"}}
    {"verdict":"allow","rule":null,"code":null,"message":null,"evidence":null,"hint":null,"also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    "#);
}

#[test]
fn strict_stops_at_the_first_bad_line() {
    let lines = format!("{DELETES}nonsense\n{DELETES}");
    insta::assert_snapshot!(Sandbox::new().run_with(&["decide", "--strict"], lines), @r#"
    exit 2
    --- stdout
    {"verdict":"allow","rule":null,"code":null,"message":null,"evidence":null,"hint":null,"also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    {"verdict":"warn","rule":"destructive.volume","code":null,"message":"2 deletes in 1s (a, b): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.","evidence":{"count":2,"elapsed_ms":1000,"max":3,"target":"id=b","targets":["id=a","id=b"],"tool":"delete_asset","window_ms":60000},"hint":"sprag policy set destructive.max_calls 30","also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    {"verdict":"kill","rule":"destructive.volume","code":null,"message":"session_killed: loop_detected, 3 deletes in 2s (a, b, c)","evidence":{"count":3,"elapsed_ms":2000,"max":3,"target":"id=c","targets":["id=a","id=b","id=c"],"tool":"delete_asset","window_ms":60000},"hint":"sprag policy set destructive.max_calls 30 && sprag sessions reset s1 --why \"…\"","also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    {"error":{"line":4,"message":"not an event: expected ident at column 2"}}
    --- stderr
    error: line 4: not an event: expected ident at column 2
    next: fix the line, or leave out --strict to skip lines like it
    "#);
}

#[test]
fn broken_utf8_is_told() {
    let line = b"{\"type\":\"call\",\"session\":\"\xff\",\"tool\":\"t\"}\n";
    insta::assert_snapshot!(Sandbox::new().run_with(&["decide"], line), @r#"
    exit 0
    --- stdout
    {"error":{"line":1,"message":"an event is UTF-8 text; byte 26 (counted from 0) is not"}}
    "#);
}

#[test]
fn deep_nesting_huge_numbers_and_keys_that_occur_twice_are_judged() {
    let deep = format!(
        "{{\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\",\"args\":{}{}}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let huge = "{\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\",\"args\":{\"n\":1e999}}\n";
    let twice = "{\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\",\"args\":{\"n\":1,\"n\":2}}\n";
    let said = Sandbox::new().run_with(&["decide"], format!("{deep}{huge}{twice}"));
    assert_eq!(said.matches("\"verdict\":\"allow\"").count(), 3, "{said}");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_told_and_skipped() {
    let mut input = b"{\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\",\"args\":\"".to_vec();
    input.resize(100_000_000, b'x');
    input
        .extend_from_slice(b"\"}\n{\"type\":\"call\",\"at\":1,\"session\":\"s\",\"tool\":\"t\"}\n");
    insta::assert_snapshot!(Sandbox::new().run_with(&["decide"], input), @r#"
    exit 0
    --- stdout
    {"error":{"line":1,"message":"an event has at most 67108864 bytes, this line has 100000002"}}
    {"verdict":"allow","rule":null,"code":null,"message":null,"evidence":null,"hint":null,"also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    "#);
}

#[test]
fn the_policy_is_found_by_flag_variable_and_home() {
    let strict = "[destructive]\nmax_calls = 1\n";
    let verdict = |output: &std::process::Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.contains("\"kill\"")
    };
    let first = DELETES.lines().next().unwrap().as_bytes();

    let sandbox = Sandbox::new();
    assert!(!verdict(&feed(sandbox.command(&["decide"]), first)));
    sandbox.file("strict.toml", strict);
    assert!(verdict(&feed(
        sandbox.command(&["decide", "--policy", "strict.toml"]),
        first
    )));
    let mut by_variable = sandbox.command(&["decide"]);
    by_variable.env("SPRAG_POLICY", "strict.toml");
    assert!(verdict(&feed(by_variable, first)));
    sandbox.file(".config/sprag/policy.toml", strict);
    assert!(verdict(&feed(sandbox.command(&["decide"]), first)));
}

#[test]
fn a_wrong_policy_is_told_before_anything_is_judged() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", "[flow]\nmax_dept = 5\nmax_calls = 0\n");
    insta::assert_snapshot!(sandbox.run_with(&["decide", "--policy", "p.toml"], DELETES), @"
    exit 2
    --- stderr
    error: the policy can't be used
    p.toml:2: flow.max_dept: no such key; did you mean `flow.max_depth`?
    p.toml:3: flow.max_calls: must be a whole number from 1 to 4096, not 0
    next: fix it, then try `sprag policy check p.toml`
    ");
    insta::assert_snapshot!(sandbox.run(&["decide", "--policy", "gone.toml"]), @"
    exit 2
    --- stderr
    error: there is no policy gone.toml
    next: `sprag policy show > gone.toml` creates one from the defaults
    ");
}

#[test]
fn answers_come_at_once() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(&["decide"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        input
            .write_all(b"{\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\"}\n")
            .unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.starts_with("{\"verdict\":\"allow\""), "{answer}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(&["decide"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let _ = input.write_all(DELETES.as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    insta::assert_snapshot!(sandbox.show(&output), @"exit 0");
}
