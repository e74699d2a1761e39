//! `sprag test`.

use crate::sandbox::Sandbox;

const SCENARIOS: &str = r#"[
{"name": "the third delete kills", "events": [
  {"event": {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "a"}}, "expect": {"verdict": "allow"}},
  {"event": {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "b"}}, "expect": {"verdict": "warn"}},
  {"event": {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "c"}}, "expect": {"verdict": "kill", "rule": "destructive.volume"}}],
 "overall": {"stop_by": 3, "not_before": 2}},
{"name": "a raised limit lets a batch pass", "policy": {"destructive": {"max_calls": 50}}, "events": [
  {"event": {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "a"}}},
  {"event": {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "b"}}},
  {"event": {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "c"}}}],
 "overall": {"silent": true}}
]"#;

#[test]
fn what_is_as_expected_passes() {
    let sandbox = Sandbox::new();
    sandbox.file("s.json", SCENARIOS);
    insta::assert_snapshot!(sandbox.run(&["test", "s.json", "s.json"]), @"
    exit 0
    --- stdout
    4 passed, 0 failed
    ");
}

#[test]
fn a_failure_tells_what_was_expected_what_came_and_why() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "s.json",
        SCENARIOS.replace("\"kill\"", "\"deny\"").replace("50", "2"),
    );
    insta::assert_snapshot!(sandbox.run(&["test", "s.json"]), @r#"
    exit 1
    --- stdout
    FAIL the third delete kills (s.json)
      event 3 of 3: {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "c"}}
        verdict: expected "deny", got "kill"
        came: kill by destructive.volume: session_killed: loop_detected, 3 deletes in 2s (a, b, c)
        evidence: {"count":3,"elapsed_ms":2000,"max":3,"target":"id=c","targets":["id=a","id=b","id=c"],"tool":"delete_asset","window_ms":60000}

    FAIL a raised limit lets a batch pass (s.json)
      overall: silent: event 2 got `kill`
        came: kill by destructive.volume: session_killed: loop_detected, 2 deletes in 1s (a, b)
        evidence: {"count":2,"elapsed_ms":1000,"max":2,"target":"id=b","targets":["id=a","id=b"],"tool":"delete_asset","window_ms":60000}

    0 passed, 2 failed
    "#);
}

#[test]
fn what_shadow_would_have_done_is_told() {
    let sandbox = Sandbox::new();
    sandbox
        .file("p.toml", "[rules]\n'destructive.*' = 'shadow'\n")
        .file("s.json", SCENARIOS);
    insta::assert_snapshot!(sandbox.run(&["test", "--policy", "p.toml", "--filter", "THIRD", "s.json"]), @r#"
    exit 1
    --- stdout
    FAIL the third delete kills (s.json)
      event 2 of 3: {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "b"}}
        verdict: expected "warn", got "allow"
        came: allow
        in shadow: warn by destructive.volume: 2 deletes in 1s (a, b): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.
      event 3 of 3: {"type": "call", "session": "s1", "tool": "delete_asset", "args": {"id": "c"}}
        rule: expected "destructive.volume", got null
        verdict: expected "kill", got "allow"
        came: allow
        in shadow: kill by destructive.volume: session_killed: loop_detected, 3 deletes in 2s (a, b, c)
      overall: stop_by 3: no `deny` or more up to event 3; none came

    0 passed, 1 failed
    "#);
}

#[test]
fn a_filter_runs_some() {
    let sandbox = Sandbox::new();
    sandbox.file("s.json", SCENARIOS);
    insta::assert_snapshot!(sandbox.run(&["test", "--filter", "batch", "s.json"]), @"
    exit 0
    --- stdout
    1 passed, 0 failed
    ");
    insta::assert_snapshot!(sandbox.run(&["test", "--filter", "nothing", "s.json"]), @r#"
    exit 0
    --- stdout
    0 passed, 0 failed
    --- stderr
    next: none of 2 names contains "nothing"; try a shorter text
    "#);
}

#[test]
fn programs_get_json() {
    let sandbox = Sandbox::new();
    sandbox.file("s.json", SCENARIOS.replace("\"kill\"", "\"deny\""));
    let output = sandbox.run(&["test", "--json", "s.json"]);
    let json = output
        .strip_prefix("exit 1\n--- stdout\n")
        .expect("a failure");
    let report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(
        (&report["passed"], &report["failed"]),
        (&1.into(), &1.into())
    );
    let failed = &report["scenarios"][0];
    insta::assert_snapshot!(failed["failures"][0]["mismatches"][0], @r#"{"expected":"deny","got":"kill","path":"verdict"}"#);
    insta::assert_snapshot!(failed["failures"][0]["came"]["verdict"]["evidence"], @r#"{"count":3,"elapsed_ms":2000,"max":3,"target":"id=c","targets":["id=a","id=b","id=c"],"tool":"delete_asset","window_ms":60000}"#);
    insta::assert_snapshot!(report["scenarios"][1], @r#"{"events":3,"failures":[],"file":"s.json","name":"a raised limit lets a batch pass","overall":[],"passed":true}"#);
}

#[test]
fn files_that_can_not_be_used_are_told_and_the_others_run() {
    let sandbox = Sandbox::new();
    sandbox
        .file("good.json", SCENARIOS)
        .file("object.json", "{}")
        .file("broken.json", "[{\"name\": }]")
        .file("bytes.json", b"[\"\xff\"]")
        .file("folder/x.json", "[]")
        .file(
            "wrong.json",
            r#"[{"name": "x", "events": [{"event": {"type": "call", "session": "s"}}]},
                {"name": "y", "policy": {"flow": {"max_dept": 3, "max_calls": 0}}, "events": []}]"#,
        );
    insta::assert_snapshot!(
        sandbox.run(&["test", "object.json", "broken.json", "bytes.json", "folder", "gone.json", "wrong.json", "good.json"]),
        @r#"
    exit 2
    --- stdout
    2 passed, 0 failed
    --- stderr
    error: object.json: a scenario file is an array of scenarios: [{"name": …, "policy": {…}, "events": […], "overall": {…}}]
    error: broken.json: this is not JSON: expected value at line 1 column 11
    error: bytes.json: this is not UTF-8: the first bad byte is on line 1
    error: folder: this is a directory; name the files in it
    error: gone.json: can't read it: no such file or directory
    error: wrong.json: scenario 1 "x", event 1: tool: missing, and a call needs it
    error: wrong.json: scenario 2 "y": the policy is wrong: flow.max_calls: must be a whole number from 1 to 4096, not 0; flow.max_dept: no such key; did you mean `flow.max_depth`?
    "#
    );
}

#[test]
fn a_base_policy_that_is_wrong_is_told() {
    let sandbox = Sandbox::new();
    sandbox
        .file("p.toml", "[flow]\nmax_depth = 'five'\n")
        .file("s.json", SCENARIOS);
    insta::assert_snapshot!(sandbox.run(&["test", "--policy", "p.toml", "s.json"]), @r#"
    exit 2
    --- stderr
    error: the policy can't be used
    p.toml:2: flow.max_depth: must be a whole number from 1 to 4096, not "five"
    next: fix it, then try `sprag policy check p.toml`
    "#);
}
