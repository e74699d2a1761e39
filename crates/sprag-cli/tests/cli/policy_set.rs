//! `sprag policy set`.

use crate::sandbox::Sandbox;

const POLICY: &str = r#"# Agreed in May.
[flow]
max_depth = 5   # deep enough

[[override]]
agent = "bulk-cleaner"
destructive.max_calls = 50  # it is their job
"#;

/// Sets something in `p.toml`.
fn set(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut all = vec!["policy", "set", "--policy", "p.toml"];
    all.extend(args);
    sandbox.run(&all)
}

#[test]
fn what_changed_is_told() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", POLICY);
    let set = |args: &[&str]| set(&sandbox, args);
    insta::assert_snapshot!(set(&["flow.max_depth", "6"]), @"
    exit 0
    --- stdout
    flow.max_depth: 5 → 6
    written to p.toml
    ");
    insta::assert_snapshot!(set(&["flow.max_duration", "30m"]), @r#"
    exit 0
    --- stdout
    flow.max_duration: "5m" (default) → "30m"
    written to p.toml
    "#);
    insta::assert_snapshot!(set(&["flow.*", "shadow"]), @r#"
    exit 0
    --- stdout
    rules."flow.*": not set → "shadow"
    written to p.toml
    "#);
    insta::assert_snapshot!(set(&["destructive.max_calls", "80", "--agent", "bulk-cleaner"]), @"
    exit 0
    --- stdout
    destructive.max_calls for agent bulk-cleaner: 50 → 80
    written to p.toml
    ");
    insta::assert_snapshot!(set(&["call.repeat", "9", "--agent", "night-*", "--session", "s1"]), @"
    exit 0
    --- stdout
    call.repeat for agent night-* for session s1: not set → 9
    written to p.toml
    ");
    insta::assert_snapshot!(set(&["access.deny", "shell/*, rm_*"]), @r#"
    exit 0
    --- stdout
    access.deny: [] (default) → ["shell/*", "rm_*"]
    written to p.toml
    "#);
    insta::assert_snapshot!(set(&["progress.stuck", "{ warn = 6, block = 9 }"]), @"
    exit 0
    --- stdout
    progress.stuck: { warn = 5, block = 8 } (default) → { warn = 6, block = 9 }
    written to p.toml
    ");
}

#[test]
fn comments_and_layout_stay() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", POLICY);
    for args in [
        &["flow.max_depth", "6"][..],
        &["flow.max_duration", "30m"],
        &["flow.*", "shadow"],
        &["destructive.max_calls", "80", "--agent", "bulk-cleaner"],
        &["call.repeat", "9", "--agent", "night-*", "--session", "s1"],
        &["access.deny", "shell/*, rm_*"],
        &["progress.stuck", "{ warn = 6, block = 9 }"],
    ] {
        set(&sandbox, args);
    }
    insta::assert_snapshot!(sandbox.read("p.toml"), @r#"
    # Agreed in May.
    [flow]
    max_depth = 6   # deep enough
    max_duration = "30m"

    [[override]]
    agent = "bulk-cleaner"
    destructive.max_calls = 80  # it is their job

    [[override]]
    agent = "night-*"
    session = "s1"
    call.repeat = 9

    [rules]
    "flow.*" = "shadow"

    [access]
    deny = ["shell/*", "rm_*"]

    [progress]
    stuck = { warn = 6, block = 9 }
    "#);
}

#[test]
fn the_file_is_made_where_there_is_none() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["policy", "set", "flow.revisits", "enforce"]), @r#"
    exit 0
    --- stdout
    rules."flow.revisits": "off" (default) → "enforce"
    written to ~/.config/sprag/policy.toml
    "#);
    insta::assert_snapshot!(sandbox.read(".config/sprag/policy.toml"), @r#"
    [rules]
    "flow.revisits" = "enforce"
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "set", "flow.revisits", "enforce"]), @r#"
    exit 0
    --- stdout
    rules."flow.revisits" is "enforce" already; ~/.config/sprag/policy.toml stays as it is
    "#);
}

#[test]
fn a_change_that_would_be_wrong_is_not_written() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", POLICY);
    let set = |key: &str, value: &str| set(&sandbox, &[key, value]);
    insta::assert_snapshot!(set("flow.max_depth", "0"), @"
    exit 2
    --- stderr
    error: nothing was written: with this change the policy would be wrong
    p.toml:3: flow.max_depth: must be a whole number from 1 to 4096, not 0
    next: `flow.max_depth` takes a whole number from 1 to 4096
    ");
    insta::assert_snapshot!(set("flow.max_duration", "300"), @r#"
    exit 2
    --- stderr
    error: nothing was written: with this change the policy would be wrong
    p.toml:4: flow.max_duration: must be a duration like "5m", from "1s" to "24h", not 300
    next: `flow.max_duration` takes a duration like "5m", from "1s" to "24h"
    "#);
    insta::assert_snapshot!(set("progress.stuck.warn", "9"), @"
    exit 2
    --- stderr
    error: nothing was written: with this change the policy would be wrong
    p.toml:10: progress.stuck.warn: 9 is more than `progress.stuck.block` (8), so the warning would come too late
    next: `progress.stuck.warn` takes a whole number from 1 to 4096
    ");
    insta::assert_snapshot!(set("rules.flow.depth", "on"), @r#"
    exit 2
    --- stderr
    error: nothing was written: with this change the policy would be wrong
    p.toml:10: rules."flow.depth": must be "enforce", "ask", "shadow" or "off", not "on"
    next: a mode is enforce, ask, shadow or off
    "#);
    assert_eq!(sandbox.read("p.toml"), POLICY);
}

#[test]
fn a_key_that_is_none_is_told_with_the_right_one() {
    let sandbox = Sandbox::new();
    sandbox.file("p.json", "{}");
    let set = |key: &str, value: &str| sandbox.run(&["policy", "set", key, value]);
    insta::assert_snapshot!(set("flow.max_dept", "6"), @"
    exit 2
    --- stderr
    error: there is no key `flow.max_dept`
    next: did you mean `flow.max_depth`?
    ");
    insta::assert_snapshot!(set("flow.depth", "6"), @"
    exit 2
    --- stderr
    error: `flow.depth` is a rule; its mode is enforce, ask, shadow or off, not 6
    next: its limit: `sprag policy set flow.max_depth 6`
    ");
    insta::assert_snapshot!(set("flow.self_call", "6"), @"
    exit 2
    --- stderr
    error: `flow.self_call` is a rule; its mode is enforce, ask, shadow or off, not 6
    ");
    insta::assert_snapshot!(set("flow", "6"), @"
    exit 2
    --- stderr
    error: `flow` is a table of keys
    next: set one of them, such as `flow.max_depth`
    ");
    insta::assert_snapshot!(sandbox.run(&["policy", "set", "--policy", "p.json", "flow.max_depth", "6"]), @"
    exit 2
    --- stderr
    error: p.json is JSON; `set` edits TOML
    next: edit it by hand and try `sprag policy check`
    ");
}

/// The changes of the policy in the log.
fn changes(sandbox: &Sandbox) -> String {
    let log = sandbox.run(&["log", "tail", "--json"]);
    let lines = log.lines().filter(|line| line.contains("policy_changed"));
    lines.collect::<Vec<_>>().join("\n")
}

const READ: &str = r#"{"type":"call","session":"s1","tool":"read","args":{"path":"a"}}"#;

#[test]
fn a_change_without_a_terminal_once_left_no_trace_of_who_made_it() {
    let sandbox = Sandbox::new();
    sandbox.run_with(&["check"], READ);
    sandbox.run(&["policy", "set", "rules.destructive.volume", "off"]);
    let log = changes(&sandbox);
    assert!(log.contains("(no terminal)"), "{log}");
    assert!(
        log.contains("sprag policy set rules.\\\"destructive.volume\\\""),
        "{log}"
    );
    // Another file is not the guard's: it is written, and the log is not told that it is in force.
    sandbox.file("p.toml", POLICY);
    set(&sandbox, &["flow.max_depth", "6"]);
    assert!(sandbox.read("p.toml").contains("max_depth = 6"));
    assert_eq!(changes(&sandbox), log);
    assert!(sandbox.run(&["verify"]).contains("sound:"));
}

#[test]
fn a_running_server_takes_the_change_and_records_who_made_it() {
    let sandbox = Sandbox::new();
    let mut server = crate::serve::Serving::start(&sandbox);
    let output = sandbox.run(&["policy", "set", "--db", "s.db", "flow.max_depth", "6"]);
    assert!(
        output.contains("flow.max_depth: 5 (default) → 6"),
        "{output}"
    );
    let file = sandbox.read(".config/sprag/policy.toml");
    assert!(file.contains("max_depth = 6"), "{file}");
    let log = sandbox.run(&["log", "tail", "--json", "--db", "s.db"]);
    let change = log.lines().find(|line| line.contains("policy_changed"));
    let change = change.unwrap_or_else(|| panic!("{log}"));
    assert!(change.contains("(no terminal)"), "{change}");
    server.signal("-TERM");
    server.child.wait().unwrap();
}

#[test]
fn programs_get_json() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["policy", "set", "flow.chatter", "9", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "file": "~/.config/sprag/policy.toml",
      "key": "flow.chatter",
      "agent": null,
      "session": null,
      "old": null,
      "default": 6,
      "new": 9,
      "changed": true
    }
    "#);
}
