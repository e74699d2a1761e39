//! `sprag hook` as an agent CLI starts it: with payloads of all kinds, many at once, and with nobody to ask.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, feed};
use crate::serve::Serving;

const BEFORE: [&str; 3] = ["hook", "--client", "claude"];

fn call(session: &str, command: &str, id: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": session, "transcript_path": "t",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
    })
    .to_string()
}

#[test]
fn a_call_that_is_fine_is_answered_with_nothing() {
    let sandbox = Sandbox::new();
    let said = sandbox.run_with(&BEFORE, call("s1", "ls", "toolu_0000000000000001"));
    assert_eq!(said, "exit 0\n");
    let log = sandbox.run(&["log", "tail"]);
    assert!(log.contains("call"), "{log}");
}

#[test]
fn a_killed_session_is_refused_and_told_why() {
    let sandbox = Sandbox::new();
    sandbox.run_with(&BEFORE, call("s1", "ls", "toolu_0000000000000001"));
    sandbox.run(&[
        "sessions",
        "kill",
        "s1",
        "--why",
        "seen enough",
        "--by",
        "ops",
    ]);
    let said = sandbox.run_with(&BEFORE, call("s1", "ls", "toolu_0000000000000002"));
    assert!(said.contains("\"permissionDecision\":\"deny\""), "{said}");
    assert!(said.contains("\"continue\":false"), "{said}");
    assert!(said.contains("seen enough"), "{said}");
    let shadow = ["hook", "--client", "claude", "--shadow"];
    let said = sandbox.run_with(&shadow, call("s1", "ls", "toolu_0000000000000003"));
    assert_eq!(said, "exit 0\n");
}

#[test]
fn what_can_not_be_read_is_let_through_and_shown_by_the_doctor() {
    let sandbox = Sandbox::new();
    let said = sandbox.run_with(
        &["hook", "--client", "claude", "--event", "PreToolUse"],
        "garbage",
    );
    insta::assert_snapshot!(said);
    // Told once a minute: the person has seen it.
    let said = sandbox.run_with(&["hook", "--client", "gemini", "--event", "BeforeTool"], "");
    assert_eq!(said, "exit 0\n");
    let said = sandbox.run_with(
        &["hook", "--client", "copilot", "--event", "preToolUse"],
        "[]",
    );
    assert_eq!(said, "exit 0\n");
    let seen = sandbox.run(&["doctor"]);
    for line in [
        "claude: the payload can't be read: expected value at line 1 column 1",
        "gemini: the payload is empty",
        "copilot: the payload can't be read: ",
    ] {
        assert!(seen.contains(line), "{line}: {seen}");
    }
}

#[test]
fn failing_closed_refuses_what_can_not_be_read() {
    let sandbox = Sandbox::new();
    let args = [
        "hook",
        "--client",
        "copilot",
        "--event",
        "preToolUse",
        "--fail",
        "closed",
    ];
    insta::assert_snapshot!(sandbox.run_with(&args, "garbage"));
}

#[test]
fn a_command_line_of_another_version_is_no_refusal() {
    let sandbox = Sandbox::new();
    let said = sandbox.run_with(&["hook", "--client", "claude", "--brand-new"], "{}");
    assert!(said.starts_with("exit 0\n"), "{said}");
    let seen = sandbox.run(&["doctor"]);
    assert!(
        seen.contains("the hook's command line is not understood"),
        "{seen}"
    );
}

#[test]
fn payloads_of_fifty_megabytes_and_more_are_answered() {
    let sandbox = Sandbox::new();
    for (megabytes, is_read) in [(50, true), (70, false)] {
        let text = "x".repeat(megabytes << 20);
        let payload = json!({
            "hook_event_name": "PostToolUse", "session_id": "s1", "transcript_path": "t",
            "tool_name": "Read", "tool_input": {}, "tool_response": text,
        });
        let said = sandbox.run_with(&BEFORE, payload.to_string());
        assert_eq!(said, "exit 0\n", "{megabytes} MB");
        let seen = sandbox.run(&["doctor"]);
        assert_eq!(
            seen.contains("more than 67108864 bytes"),
            !is_read,
            "{seen}"
        );
    }
}

#[test]
fn a_store_that_can_not_be_used_stops_no_work() {
    let sandbox = Sandbox::new();
    sandbox.file("no.db", "this is no store");
    let args = ["hook", "--client", "codex", "--db", "no.db"];
    let said = sandbox.run_with(&args, call("s1", "ls", "call_0000000000000001"));
    assert!(
        said.starts_with("exit 0\n--- stdout\n{\"systemMessage\":"),
        "{said}"
    );
    assert!(said.contains("not checked, and let through"), "{said}");
    let closed = [
        "hook", "--client", "codex", "--db", "no.db", "--fail", "closed",
    ];
    let said = sandbox.run_with(&closed, call("s1", "ls", "call_0000000000000001"));
    assert!(said.contains("\"permissionDecision\":\"deny\""), "{said}");
}

/// What Copilot gives to a hook of Claude's.
fn through_copilot(sandbox: &Sandbox) -> String {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "timestamp": "2026-11-15T23:01:27.423Z",
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let mut command = sandbox.command(&BEFORE);
    command.env("COPILOT_CLI", "1");
    command.env("COPILOT_PROJECT_DIR", sandbox.path());
    sandbox.show(&feed(command, payload.to_string().as_bytes()))
}

fn has_store(sandbox: &Sandbox) -> bool {
    sandbox.path().join(".local/state/sprag/sprag.db").exists()
}

#[test]
fn copilot_does_not_report_twice_by_hooks_of_its_own_and_claudes() {
    for scope in ["--project", "--user"] {
        let sandbox = Sandbox::new();
        sandbox.run(&["install", "copilot", scope, "--yes"]);
        assert_eq!(through_copilot(&sandbox), "exit 0\n");
        assert!(!has_store(&sandbox), "{scope}");
    }
}

#[test]
fn nothing_that_a_repository_brings_silences_a_hook() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "copilot", "--project", "--yes"]);
    let file = ".github/hooks/sprag.json";
    let whole = sandbox.read(file);
    let program = env!("CARGO_BIN_EXE_sprag");
    for (what, text) in [
        ("empty", String::new()),
        ("an empty object", "{}".to_owned()),
        ("hooks of nobody", "{\"version\":1,\"hooks\":{}}".to_owned()),
        ("another program", whole.replace(program, "/bin/true")),
        (
            "in shadow",
            whole.replace(" --project", " --project --shadow"),
        ),
        (
            "another store",
            whole.replace(" --project", " --project --db /tmp/other.db"),
        ),
        (
            "not all of them",
            whole.replacen("preToolUse", "preNothing", 1),
        ),
    ] {
        sandbox.file(file, text);
        through_copilot(&sandbox);
        assert!(has_store(&sandbox), "{what}");
        std::fs::remove_dir_all(sandbox.path().join(".local/state/sprag")).unwrap();
    }
}

#[test]
fn hooks_of_the_user_and_the_project_count_once_in_every_client() {
    for (client, event, payload) in [
        (
            "claude",
            "PreToolUse",
            json!({"hook_event_name": "PreToolUse", "session_id": "s1", "transcript_path": "t", "tool_name": "Bash", "tool_input": {}}),
        ),
        // Its ids tell calls apart, but not those of every model server.
        (
            "codex",
            "PreToolUse",
            json!({"hook_event_name": "PreToolUse", "session_id": "s1", "turn_id": "t1", "tool_name": "Bash", "tool_input": {}, "tool_use_id": "call_x7k2p9qd"}),
        ),
        (
            "gemini",
            "BeforeTool",
            json!({"hook_event_name": "BeforeTool", "session_id": "s1", "tool_name": "Bash", "tool_input": {}}),
        ),
        (
            "copilot",
            "preToolUse",
            json!({"sessionId": "s1", "toolName": "bash", "toolArgs": {}}),
        ),
        (
            "cursor",
            "preToolUse",
            json!({"conversation_id": "s1", "tool_name": "Shell", "tool_input": {}}),
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.file("repo/README.md", "");
        sandbox.run(&["install", client, "--user", "--yes"]);
        for flags in [&[][..], &["--project"][..]] {
            let args = [&["hook", "--client", client, "--event", event], flags].concat();
            let mut command = sandbox.command(&args);
            command.current_dir(sandbox.path().join("repo"));
            feed(command, payload.to_string().as_bytes());
        }
        let log = sandbox.run(&["log", "tail", "--json"]);
        assert_eq!(
            log.matches("\"type\":\"call\"").count(),
            1,
            "{client}: {log}"
        );
        // Without the user's hooks the project's report.
        sandbox.run(&["uninstall", client, "--user", "--yes"]);
        let args = ["hook", "--client", client, "--event", event, "--project"];
        sandbox.run_with(&args, payload.to_string());
        let log = sandbox.run(&["log", "tail", "--json"]);
        assert_eq!(
            log.matches("\"type\":\"call\"").count(),
            2,
            "{client}: {log}"
        );
    }
}

#[test]
fn a_broken_policy_file_does_not_switch_the_guard_off() {
    let sandbox = Sandbox::new();
    let start = ["hook", "--client", "claude", "--event", "SessionStart"];
    let started = r#"{"hook_event_name":"SessionStart","session_id":"s1","transcript_path":"t"}"#;
    assert_eq!(sandbox.run_with(&start, started), "exit 0\n");
    // The last policy that could be read allows two equal calls in a minute.
    sandbox.file(".config/sprag/policy.toml", "[call]\nmax_identical = 2\n");
    sandbox.run_with(&BEFORE, call("s1", "ls", "toolu_0000000000000001"));
    sandbox.file(".config/sprag/policy.toml", "[call\nmax_identical = 2\n");
    let said = sandbox.run_with(&BEFORE, call("s1", "ls", "toolu_0000000000000002"));
    assert_eq!(said, "exit 0\n");
    let said = sandbox.run_with(&BEFORE, call("s1", "ls", "toolu_0000000000000003"));
    assert!(said.contains("\"deny\""), "{said}");
    let said = sandbox.run_with(&start, started);
    assert!(said.contains("stays in force"), "{said}");
    let seen = sandbox.run(&["doctor"]);
    assert!(seen.contains("policy.toml can't be used"), "{seen}");
}

/// A hundred processes at once, as parallel tool calls of many sessions start them. Fifty calls, each seen twice:
/// by a hook of the user's settings and by one of the project's.
fn hundred(sandbox: &Sandbox) {
    let mut children = Vec::new();
    for n in 0..100 {
        let id = format!("toolu_{:016}", n / 2);
        let payload = call(&format!("s{}", n % 10 / 2), &format!("echo {}", n / 2), &id);
        let mut child = sandbox
            .command(&["hook", "--client", "claude", "--db", "s.db"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, payload.as_bytes()).unwrap();
        drop(input);
        children.push(child);
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(sandbox.show(&output), "exit 0\n");
    }
}

/// Every sighting is in the log, every call is counted once, and the log proves itself.
fn all_there(sandbox: &Sandbox) {
    let log = sandbox.run(&["log", "tail", "-n", "1000", "--json", "--db", "s.db"]);
    let calls = log
        .lines()
        .filter(|line| line.contains("\"type\":\"call\""));
    assert_eq!(calls.count(), 100);
    let mut counted = 0;
    for session in 0..5 {
        let session = format!("s{session}");
        let shown = sandbox.run(&["sessions", "show", &session, "--json", "--db", "s.db"]);
        let json = shown.split_once("--- stdout\n").unwrap().1;
        let json: Value = serde_json::from_str(json).unwrap();
        let gauges = json["rules"]["gauges"].as_array().unwrap();
        let actions = gauges
            .iter()
            .find(|gauge| gauge["rule"] == "budget.actions");
        counted += actions.unwrap()["used"].as_u64().unwrap();
    }
    assert_eq!(counted, 50);
    let proof = sandbox.run(&["verify", "--db", "s.db"]);
    assert!(proof.starts_with("exit 0\n"), "{proof}");
    assert!(!sandbox.path().join("s.db.trouble").exists());
}

#[test]
fn a_hundred_hooks_at_once_lose_nothing_and_count_nothing_twice() {
    let sandbox = Sandbox::new();
    hundred(&sandbox);
    all_there(&sandbox);
}

#[test]
fn a_hundred_hooks_at_once_through_a_server_do_neither() {
    let sandbox = Sandbox::new();
    let mut server = Serving::start(&sandbox);
    hundred(&sandbox);
    server.signal("-TERM");
    server.child.wait().unwrap();
    all_there(&sandbox);
}

#[test]
fn hooks_in_shadow_judge_as_shadow_and_sessions_are_listed_as_would_be_blocked() {
    let sandbox = Sandbox::new();
    let shadow = ["hook", "--client", "claude", "--shadow"];
    for number in 0..9 {
        let id = format!("toolu_00000000000000{number:02}");
        let before = call("s1", "cat status", &id);
        let after = before.replace("PreToolUse", "PostToolUse").replacen(
            '{',
            r#"{"tool_response":{"stdout":"job 17 is queued","stderr":"","interrupted":false},"#,
            1,
        );
        for payload in [before, after] {
            assert_eq!(sandbox.run_with(&shadow, payload), "exit 0\n");
        }
    }
    let list = sandbox.run(&["sessions", "list"]);
    assert!(list.contains("would be blocked"), "{list}");
    let json = sandbox.run(&["sessions", "list", "--json"]);
    assert!(json.contains(r#""would": "blocked""#), "{json}");
    assert!(json.contains(r#""state": "active""#), "{json}");
    let shown = sandbox.run(&["sessions", "show", "s1"]);
    assert!(shown.contains("would have stopped it at"), "{shown}");
    // Nothing was blocked behind the scenes: no call was refused, and the log says shadow.
    let log = sandbox.run(&["log", "tail"]);
    assert!(log.contains("in shadow: block"), "{log}");
    assert!(!log.contains("session.blocked"), "{log}");
}
