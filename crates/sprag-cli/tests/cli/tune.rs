//! `sprag tune`.

use crate::eval::with_runs;
use crate::sandbox::Sandbox;

#[test]
fn the_lines_that_fit_labelled_runs_are_told() {
    insta::assert_snapshot!(with_runs().run(&["tune", "runs"]), @"
    exit 0
    --- stdout
    8 sessions, 3 of them finished

    KEY                  SETTING  STOPPED  WARNED  NOTE      FOR INSTANCE
    flow.echo            3        1        1       fits      talk:nods
                         4        1        1                 talk:nods
                         5        -        1       in force  talk:nods
                         8        -        -
                         12       -        -
    call.max_identical   3        3        -       fits      shop:same-drawer
                         5        2        -                 shop:same-drawer
                         10       -        -
                         20       -        -       in force
                         40       -        -
    call.repeat          3        -        1                 talk:asks-again
                         4        -        1       in force  talk:asks-again
                         6        -        -
                         10       -        -
    progress.stagnation  3        2        2       fits      shop:same-drawer
                         4        2        2                 shop:same-drawer
                         5        2        2       in force  shop:same-drawer
                         7        2        2                 shop:same-drawer
                         10       1        2                 shop:same-drawer
    progress.recurrence  5        2        2       fits      shop:same-drawer
                         7        2        2                 shop:same-drawer
                         10       -        2       in force  shop:same-drawer
                         15       -        2                 shop:same-drawer

    Never reached at any setting: flow.max_depth, flow.max_sessions, flow.max_duration,
                                  flow.max_calls_per_minute, flow.max_calls, flow.chatter,
                                  flow.max_unattended, inbox.max_messages_per_minute,
                                  conversation.max_messages, destructive.max_calls,
                                  destructive.max_same_target, progress.stuck,
                                  progress.empty, progress.churn, progress.probe,
                                  budget.actions

    # What fits this history, for the top of a policy:
    flow.echo = { warn = 2, deny = 3 }
    call.max_identical = 3
    progress.stagnation = { warn = 2, block = 3 }
    progress.recurrence = { warn = 3, block = 5 }

    note: 1 line is not an event and was skipped: runs/shop.jsonl:75: tool: an id must not be empty
    ");
}

/// A session that reads the same page five times, within a second each.
fn log(session: &str) -> String {
    (0..5)
        .map(|n| format!("{{\"type\":\"call\",\"at\":{},\"session\":\"{session}\",\"tool\":\"read\",\"args\":{{\"page\":1}}}}\n", 1_000 * (n + 1)))
        .collect()
}

#[test]
fn a_session_in_a_log_finished_where_nobody_killed_it() {
    let sandbox = Sandbox::new();
    sandbox.file("fine.jsonl", log("s1"));
    insta::assert_snapshot!(sandbox.run(&["tune", "fine.jsonl"]), @"
    exit 0
    --- stdout
    1 session, 1 of them finished

    KEY                 SETTING  STOPPED        WARNED         NOTE      FOR INSTANCE
    call.max_identical  3        1, 1 finished  -                        s1
                        5        -              -              fits
                        10       -              -
                        20       -              -              in force
                        40       -              -
    call.repeat         3        -              1, 1 finished            s1
                        4        -              1, 1 finished  in force  s1
                        6        -              -              fits
                        10       -              -

    Never reached at any setting: flow.max_depth, flow.max_sessions, flow.max_duration,
                                  flow.max_calls_per_minute, flow.max_calls, flow.chatter,
                                  flow.echo, flow.max_unattended,
                                  inbox.max_messages_per_minute, conversation.max_messages,
                                  destructive.max_calls, destructive.max_same_target,
                                  progress.stagnation, progress.stuck, progress.empty,
                                  progress.recurrence, progress.churn, progress.probe,
                                  budget.actions

    # What fits this history, for the top of a policy:
    call.max_identical = 5
    call.repeat = 6
    ");
}

#[test]
fn a_log_in_which_nothing_finished_suggests_nothing() {
    let sandbox = Sandbox::new();
    let kill = "{\"type\":\"kill\",\"at\":9000,\"session\":\"s1\"}\n";
    sandbox.file("killed.jsonl", log("s1") + kill);
    insta::assert_snapshot!(sandbox.run(&["tune", "killed.jsonl"]), @"
    exit 0
    --- stdout
    1 session, 0 of them finished

    KEY                 SETTING  STOPPED  WARNED  NOTE      FOR INSTANCE
    call.max_identical  3        1        -                 s1
                        5        -        -
                        10       -        -
                        20       -        -       in force
                        40       -        -
    call.repeat         3        -        1                 s1
                        4        -        1       in force  s1
                        6        -        -
                        10       -        -

    Never reached at any setting: flow.max_depth, flow.max_sessions, flow.max_duration,
                                  flow.max_calls_per_minute, flow.max_calls, flow.chatter,
                                  flow.echo, flow.max_unattended,
                                  inbox.max_messages_per_minute, conversation.max_messages,
                                  destructive.max_calls, destructive.max_same_target,
                                  progress.stagnation, progress.stuck, progress.empty,
                                  progress.recurrence, progress.churn, progress.probe,
                                  budget.actions

    Nothing finished here, so there is nothing to fit limits to.
    ");
}

#[test]
fn programs_get_json() {
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", log("s1"));
    let output = sandbox.run(&["tune", "log.jsonl", "--json"]);
    let json = output
        .strip_prefix("exit 0\n--- stdout\n")
        .expect("a report");
    let report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(
        (&report["sessions"], &report["finished"]),
        (&1.into(), &1.into())
    );
    let limits = report["limits"].as_array().expect("a list");
    let identical = limits.iter().find(|one| one["key"] == "call.max_identical");
    insta::assert_snapshot!(identical.expect("it is there"), @r#"{"advice":{"setting":5,"what":"set"},"current":20,"key":"call.max_identical","line":"call.max_identical = 5","rows":[{"on":["s1"],"setting":3,"stopped":1,"stopped_finished":1,"warned":0,"warned_finished":0},{"on":[],"setting":5,"stopped":0,"stopped_finished":0,"warned":0,"warned_finished":0},{"on":[],"setting":10,"stopped":0,"stopped_finished":0,"warned":0,"warned_finished":0},{"on":[],"setting":20,"stopped":0,"stopped_finished":0,"warned":0,"warned_finished":0},{"on":[],"setting":40,"stopped":0,"stopped_finished":0,"warned":0,"warned_finished":0}],"rule":"call.identical"}"#);
    insta::assert_snapshot!(report["policy"], @r#""call.max_identical = 5\ncall.repeat = 6\n""#);
}

/// What a guard in shadow saw: an honest session, and one that reads the same page over and over.
fn watched() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("policy.toml", "[rules]\n'*' = 'shadow'\n");
    let mut events = String::new();
    for n in 0..40 {
        let step = |session: &str, page: u64| {
            format!(
                "{{\"type\":\"call\",\"session\":\"{session}\",\"id\":\"{session}{n}\",\"tool\":\"read\",\"args\":{{\"page\":{page}}}}}\n\
                 {{\"type\":\"step\",\"session\":\"{session}\",\"id\":\"{session}{n}\",\"result\":\"text of page {page}\"}}\n"
            )
        };
        events.push_str(&step("honest", n));
        events.push_str(&step("loop", 1));
    }
    sandbox.run_with(&["check", "--policy", "policy.toml"], events);
    sandbox
}

#[test]
fn after_a_week_in_shadow_tune_reads_the_store_and_does_not_take_loops_for_healthy() {
    let sandbox = watched();
    let output = sandbox.run(&["tune"]);
    assert!(
        output.contains("2 sessions, 1 of them finished"),
        "{output}"
    );
    assert!(output.contains("progress.stagnation"), "{output}");
    // What is suggested stops the loop early, and the honest session not at all.
    let suggested = output.split("# What fits").nth(1).unwrap_or_default();
    assert!(
        suggested.contains("progress.stagnation = { warn = 2, block = 3 }"),
        "{output}"
    );
}

#[test]
fn tune_reads_what_log_export_writes_and_named_stores() {
    let sandbox = watched();
    let store = sandbox.run(&["tune"]);
    let exported = sandbox.run(&["log", "export"]);
    let exported = exported.strip_prefix("exit 0\n--- stdout\n").unwrap();
    sandbox.file("log.jsonl", exported);
    assert_eq!(sandbox.run(&["tune", "log.jsonl"]), store);
    assert_eq!(sandbox.run(&["tune", ".local/state/sprag/sprag.db"]), store);
}

#[test]
fn sessions_that_the_guard_stopped_are_not_healthy() {
    let sandbox = Sandbox::new();
    let deletes: String = (0..5)
        .map(|n| format!("{{\"type\":\"call\",\"session\":\"s\",\"tool\":\"delete_asset\",\"args\":{{\"id\":{n}}}}}\n"))
        .collect();
    sandbox.run_with(&["check"], deletes);
    let output = sandbox.run(&["tune"]);
    assert!(output.contains("1 session, 0 of them finished"), "{output}");
}
