//! `sprag check`: decide, remembered.

use crate::mask::mask;
use crate::sandbox::Sandbox;

const READ: &str = "{\"type\":\"call\",\"session\":\"s1\",\"tool\":\"read\",\"at\":5}\n";
const DELETE: &str = "{\"type\":\"call\",\"session\":\"s1\",\"tool\":\"delete_asset\"}\n";

fn verdicts(sandbox: &Sandbox, args: &[&str], lines: &str) -> Vec<String> {
    let output = sandbox.run_with(args, lines);
    let values = output
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let word = |value: serde_json::Value| value["verdict"].as_str().unwrap_or("error").to_owned();
    values.map(word).collect()
}

#[test]
fn what_one_process_learns_the_next_one_knows() {
    let sandbox = Sandbox::new();
    assert_eq!(verdicts(&sandbox, &["check"], DELETE), ["allow"]);
    assert_eq!(verdicts(&sandbox, &["check"], DELETE), ["warn"]);
    assert_eq!(
        verdicts(&sandbox, &["check"], &format!("{DELETE}{READ}")),
        ["kill", "kill"]
    );
    assert!(sandbox.path().join(".local/state/sprag/sprag.db").exists());
}

#[test]
fn an_agent_may_not_tell_what_a_relay_may() {
    let sandbox = Sandbox::new();
    let user = "{\"type\":\"message\",\"to\":\"s1\"}\n";
    insta::assert_snapshot!(sandbox.run_with(&["check", "--strict"], user), @r#"
    exit 2
    --- stdout
    {"error":{"line":1,"message":"agents may not send a message without a sender; a relay, a hook or an operator may"}}
    --- stderr
    error: line 1: agents may not send a message without a sender; a relay, a hook or an operator may
    next: fix the line, or leave out --strict to skip lines like it
    "#);
    assert_eq!(
        verdicts(&sandbox, &["check", "--as", "relay"], user),
        ["allow"]
    );
}

#[test]
fn the_store_is_where_flag_or_variable_say() {
    let sandbox = Sandbox::new();
    verdicts(&sandbox, &["check", "--db", "here/a.db"], READ);
    assert!(sandbox.path().join("here/a.db").exists());
    let mut by_variable = sandbox.command(&["check"]);
    by_variable.env("SPRAG_DB", "b.db");
    crate::sandbox::feed(by_variable, READ.as_bytes());
    assert!(sandbox.path().join("b.db").exists());
    let mut homeless = sandbox.command(&["check"]);
    homeless.env_remove("HOME");
    let output = crate::sandbox::feed(homeless, b"");
    insta::assert_snapshot!(sandbox.show(&output), @"
    exit 2
    --- stderr
    error: there is no home to keep the store in
    next: name one with --db FILE
    ");
}

#[test]
fn what_is_no_store_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "notes.txt",
        "not a database, but long enough to look like one".repeat(40),
    );
    let output = sandbox.run_with(&["check", "--db", "notes.txt"], READ);
    assert!(
        output.starts_with("exit 2\n--- stderr\nerror: notes.txt is not a Sprag store"),
        "{output}"
    );
    assert!(sandbox.read("notes.txt").starts_with("not a database"));
}

#[test]
fn a_wrong_policy_is_told_before_anything_is_judged() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", "[flow]\nmax_dept = 5\n");
    insta::assert_snapshot!(sandbox.run_with(&["check", "--policy", "p.toml"], READ), @r#"
    exit 0
    --- stdout
    {"verdict":"allow","rule":null,"code":null,"message":null,"evidence":null,"hint":null,"also":[],"would":null,"flow":null,"depth":null,"generation":1,"retry_after_ms":null}
    "#);
    insta::assert_snapshot!(sandbox.run_with(&["check", "--policy", "gone.toml"], READ), @"
    exit 2
    --- stderr
    error: there is no policy gone.toml
    next: `sprag policy show > gone.toml` creates one from the defaults
    ");
}

#[test]
fn a_captured_payload_has_no_secrets() {
    let sandbox = Sandbox::new();
    let call = "{\"type\":\"call\",\"session\":\"s1\",\"tool\":\"run\",\"args\":{\"cmd\":\"deploy --token abc123\"}}";
    sandbox.run_with(&["check", "--capture", "full"], call);
    insta::assert_snapshot!(mask(&sandbox.run(&["log", "show", "2"])), @r#"
    exit 0
    --- stdout
    record 2  <time>
    event     {"type":"call","session":"s1","approach":{"tool":"run","exact":"<hex>","normal":"<hex>","moves":true,"argument":<number>,"about":{"form":<number>,"thing":<number>},"label":"deploy","fields":[{"name":"cmd","digest":"<hex>"}]}}
    sender    agent without a token
    captured  {"args":{"cmd":"deploy --token [redacted]"}}
    verdict   allow
    policy    <hex>
    rules     version 2
    before    <hex>
    hash      <hex>
    "#);
}
