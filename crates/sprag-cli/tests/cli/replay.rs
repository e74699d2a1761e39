//! `sprag replay`: a trace, a log, another policy, two policies.

use sprag::case::{Case, CaseFolder};
use sprag::{Decision, Guard, Id, LogQuery};

use crate::mask::mask;
use crate::sandbox::Sandbox;

const TRACE: &str = r#"{"type":"call","at":1760000000000,"session":"s1","id":"1","tool":"delete_asset","args":{"id":"a"}}
{"type":"step","at":1760000001000,"session":"s1","id":"1","result":"done"}
{"type":"call","at":1760000002000,"session":"s1","id":"2","tool":"delete_asset","args":{"id":"b"}}
{"type":"message","at":1760000003000,"to":"s2","flow":"f","content":"go"}
{"type":"message","at":1760000003500,"from":"s2","to":"s3","flow":"f","content":"go on"}
{"type":"call","at":1760000004000,"session":"s1","id":"3","tool":"delete_asset","args":{"id":"c"}}
{"type":"step","at":1760000005000,"session":"s1","id":"3","result":"done"}
{"type":"call","at":1760000006000,"session":"s1","tool":"read"}
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("run.jsonl", TRACE);
    sandbox.file("strict.toml", "[destructive]\nmax_calls = 2\n");
    sandbox.file("loose.toml", "[destructive]\nmax_calls = 50\n");
    sandbox
}

#[test]
fn a_trace_is_judged_event_by_event() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl"]), @"
    exit 0
    --- stdout
         1  2025-10-09 08:53:20  call      s1            delete_asset      allow
         2  2025-10-09 08:53:21  step      s1                              allow
         3  2025-10-09 08:53:22  call      s1            delete_asset      warn   destructive.volume: 2 deletes in 2s (a, b): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.
         4  2025-10-09 08:53:23  message   (user)        s2                allow
         5  2025-10-09 08:53:23  message   s2            s3                allow
         6  2025-10-09 08:53:24  call      s1            delete_asset      kill   destructive.volume: session_killed: loop_detected, 3 deletes in 4s (a, b, c)
         7  2025-10-09 08:53:25  step      s1                              kill   session.killed: Session s1 was killed: loop_detected, 3 deletes in 4s (a, b, c). Stop now; only an operator can reset it.
         8  2025-10-09 08:53:26  call      s1            read              kill   session.killed: Session s1 was killed: loop_detected, 3 deletes in 4s (a, b, c). Stop now; only an operator can reset it.
    8 events: 4 allow, 1 warn, 3 kill
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--fired"]), @"
    exit 0
    --- stdout
         3  2025-10-09 08:53:22  call      s1            delete_asset      warn   destructive.volume: 2 deletes in 2s (a, b): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.
         6  2025-10-09 08:53:24  call      s1            delete_asset      kill   destructive.volume: session_killed: loop_detected, 3 deletes in 4s (a, b, c)
         7  2025-10-09 08:53:25  step      s1                              kill   session.killed: Session s1 was killed: loop_detected, 3 deletes in 4s (a, b, c). Stop now; only an operator can reset it.
         8  2025-10-09 08:53:26  call      s1            read              kill   session.killed: Session s1 was killed: loop_detected, 3 deletes in 4s (a, b, c). Stop now; only an operator can reset it.
    8 events: 4 allow, 1 warn, 3 kill
    ");
}

#[test]
fn the_state_of_the_rules_is_shown_up_to_a_cursor() {
    insta::assert_snapshot!(sandbox().run(&["replay", "run.jsonl", "--state", "--until", "5"]), @"
    exit 0
    --- stdout
         1  2025-10-09 08:53:20  call      s1            delete_asset      allow
            call.identical 1/20, call.repeat 1/4, destructive.volume 1/3, budget.actions 1/2000
         2  2025-10-09 08:53:21  step      s1                              allow
            destructive.volume 1/3, budget.actions 1/2000
         3  2025-10-09 08:53:22  call      s1            delete_asset      warn   destructive.volume: 2 deletes in 2s (a, b): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.
            call.identical 1/20, destructive.volume 2/3, budget.actions 2/2000
         4  2025-10-09 08:53:23  message   (user)        s2                allow
         5  2025-10-09 08:53:23  message   s2            s3                allow
            flow.depth 2/5, flow.sessions 2/10, flow.duration 500/300000, flow.rate 1/20, flow.total 1/100, flow.chatter 1/6, flow.echo 1/5, flow.unattended 1/200, inbox.rate 1/10, budget.actions 1/2000, stack s2 > s3
    5 events: 4 allow, 1 warn
    ");
}

#[test]
fn under_another_policy_what_would_not_have_happened_is_saved() {
    insta::assert_snapshot!(sandbox().run(&["replay", "run.jsonl", "--policy", "strict.toml"]), @"
    exit 0
    --- stdout
         1  2025-10-09 08:53:20  call      s1            delete_asset      allow
         2  2025-10-09 08:53:21  step      s1                              allow
         3  2025-10-09 08:53:22  call      s1            delete_asset      kill   destructive.volume: session_killed: loop_detected, 2 deletes in 2s (a, b)
         4  2025-10-09 08:53:23  message   (user)        s2                allow
         5  2025-10-09 08:53:23  message   s2            s3                allow
         6  2025-10-09 08:53:24  call      s1            delete_asset      saved: its session was stopped before
         7  2025-10-09 08:53:25  step      s1                              saved: its session was stopped before
         8  2025-10-09 08:53:26  call      s1            read              saved: its session was stopped before
    8 events: 4 allow, 1 kill
    3 events saved, 1 session stopped
    ");
}

#[test]
fn two_policies_are_compared() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--diff", "strict.toml", "loose.toml"]), @"
    exit 0
    --- stdout
         3  2025-10-09 08:53:22  call      s1            delete_asset
            A  kill   destructive.volume: session_killed: loop_detected, 2 deletes in 2s (a, b)
            B  allow
         6  2025-10-09 08:53:24  call      s1            delete_asset
            A  saved: its session was stopped before
            B  allow
         7  2025-10-09 08:53:25  step      s1
            A  saved: its session was stopped before
            B  allow
         8  2025-10-09 08:53:26  call      s1            read
            A  saved: its session was stopped before
            B  allow
    4 events are answered differently
    A  strict.toml: 8 events: 4 allow, 1 kill; 3 events saved, 1 session stopped
    B  loose.toml: 8 events: 8 allow; 0 events saved, 0 sessions stopped
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--diff", "loose.toml", "loose.toml"]), @"
    exit 0
    --- stdout
    no change: the two policies answer alike
    A  loose.toml: 8 events: 8 allow; 0 events saved, 0 sessions stopped
    B  loose.toml: 8 events: 8 allow; 0 events saved, 0 sessions stopped
    ");
}

#[test]
fn programs_get_json_lines() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--json", "--until", "1", "--state"]), @r#"
    exit 0
    --- stdout
    {"at":1760000000000,"number":1,"object":"delete_asset","seen":{"state":{"agent":null,"blocked":null,"dispatches":[],"gauges":[{"limit":20,"of":"session","rule":"call.identical","used":1},{"limit":4,"of":"session","rule":"call.repeat","used":1},{"limit":3,"of":"session","rule":"destructive.volume","used":1},{"limit":2000,"of":"session","rule":"budget.actions","used":1}],"generation":1,"killed":null,"killed_above":false,"pending":1,"progress":null,"session":"s1","stack":[]},"unknown":false,"verdict":{"also":[],"code":null,"depth":null,"evidence":null,"flow":null,"generation":1,"hint":null,"message":null,"retry_after_ms":null,"rule":null,"verdict":"allow","would":null}},"session":"s1","type":"call"}
    {"summary":{"different":0,"errors":0,"events":1,"rules":{},"saved":0,"stopped":[],"unknown":0,"verdicts":{"allow":1}}}
    "#);
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--json", "--diff", "strict.toml", "loose.toml", "--until", "3"]), @r#"
    exit 0
    --- stdout
    {"a":{"unknown":false,"verdict":{"also":[],"code":null,"depth":null,"evidence":{"count":2,"elapsed_ms":2000,"max":2,"target":"id=b","targets":["id=a","id=b"],"tool":"delete_asset","window_ms":60000},"flow":null,"generation":1,"hint":"sprag policy set destructive.max_calls 20 && sprag sessions reset s1 --why \"…\"","message":"session_killed: loop_detected, 2 deletes in 2s (a, b)","retry_after_ms":null,"rule":"destructive.volume","verdict":"kill","would":null}},"at":1760000002000,"b":{"unknown":false,"verdict":{"also":[],"code":null,"depth":null,"evidence":null,"flow":null,"generation":1,"hint":null,"message":null,"retry_after_ms":null,"rule":null,"verdict":"allow","would":null}},"number":3,"object":"delete_asset","session":"s1","type":"call"}
    {"summary":{"a":{"different":0,"errors":0,"events":3,"rules":{"destructive.volume":1},"saved":0,"stopped":["s1"],"unknown":0,"verdicts":{"allow":2,"kill":1}},"b":{"different":0,"errors":0,"events":3,"rules":{},"saved":0,"stopped":[],"unknown":0,"verdicts":{"allow":3}},"changes":1}}
    "#);
}

#[test]
fn a_log_gives_its_own_verdicts_again_and_another_policy_says_what_is_unknown() {
    let sandbox = sandbox();
    let calls: String = (0..4)
        .map(|n| format!("{{\"type\":\"call\",\"session\":\"s1\",\"tool\":\"delete_asset\",\"args\":{{\"id\":{n}}}}}\n"))
        .collect();
    sandbox.run_with(&["check"], &calls);
    insta::assert_snapshot!(mask(&sandbox.run(&["replay", "--fired"])), @"
    exit 0
    --- stdout
         3  <time>  call      s1            delete_asset      warn   destructive.volume: 2 deletes in <n>s (0, 1): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.
         4  <time>  call      s1            delete_asset      kill   destructive.volume: session_killed: loop_detected, 3 deletes in <n>s (0, 1, 2)
         5  <time>  call      s1            delete_asset      kill   session.killed: Session s1 was killed: loop_detected, 3 deletes in <n>s (0, 1, 2). Stop now; only an operator can reset it.
    4 events: 1 allow, 1 warn, 2 kill
    ");
    insta::assert_snapshot!(mask(&sandbox.run(&["replay", "--policy", "loose.toml"])), @"
    exit 0
    --- stdout
         1  <time>  note      policy_loaded
         2  <time>  call      s1            delete_asset      allow
         3  <time>  call      s1            delete_asset      allow  (the log says warn by destructive.volume)
         4  <time>  call      s1            delete_asset      allow  its result is unknown  (the log says kill by destructive.volume)
         5  <time>  call      s1            delete_asset      allow  its result is unknown  (the log says kill by session.killed)
    4 events: 4 allow
    0 events saved, 0 sessions stopped, 2 with an unknown result
    ");
    let named = sandbox.run(&["replay", ".local/state/sprag/sprag.db", "--session", "s1"]);
    assert!(
        named.contains("4 events: 1 allow, 1 warn, 2 kill"),
        "{named}"
    );
}

#[test]
fn bad_recordings_are_told() {
    let sandbox = sandbox();
    sandbox.file(
        "bad.jsonl",
        "{\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\",\"at\":1}\n{\"type\":\"call\"}\n",
    );
    sandbox.file(
        "timeless.jsonl",
        "{\"type\":\"call\",\"session\":\"s\",\"tool\":\"t\"}\n",
    );
    insta::assert_snapshot!(sandbox.run(&["replay", "gone.jsonl"]), @"
    exit 2
    --- stderr
    error: can't read gone.jsonl: no such file or directory
    next: check the path; it is relative to where you are
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "bad.jsonl"]), @"
    exit 0
    --- stdout
         1  1970-01-01 00:00:00  call      s             t                 allow
         2  error: session: missing, and a call needs it
    1 event: 1 allow; 1 could not be judged
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "timeless.jsonl"]), @"
    exit 0
    --- stdout
         1  2025-10-09 08:53:20  call      s             t                 allow
    1 event: 1 allow
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--policy", "gone.toml"]), @"
    exit 2
    --- stderr
    error: there is no policy gone.toml
    next: `sprag policy show > gone.toml` creates one from the defaults
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--session", "s1"]), @"
    exit 2
    --- stderr
    error: --session needs a log: a trace has no index of its sessions
    next: leave it out, or choose the lines of the trace before
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--diff", "loose.toml"]), @"
    exit 2
    --- stderr
    error: 2 values required for '--diff <A> <B>' but 1 was provided

    Usage: sprag replay [OPTIONS] [LOG|TRACE]

    For more information, try '--help'.
    ");
}

#[test]
fn what_a_call_destroys_is_told_in_words() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "run.jsonl",
        r#"{"type":"call","at":1760000000000,"session":"s1","id":"1","tool":"Bash","cwd":"/home/user/app","args":{"command":"rm -rf data build && psql -c 'DROP TABLE orders'"}}
{"type":"call","at":1760000001000,"session":"s1","id":"2","tool":"Bash","cwd":"/home/user/app","args":{"command":"dropdb shop"}}
{"type":"call","at":1760000002000,"session":"s1","id":"3","tool":"Bash","cwd":"/home/user/app","args":{"command":"echo rm -rf data"}}
"#,
    );
    sandbox.file("open.toml", "[rules]\n\"destructive.sweeping\" = \"off\"\n");
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl"]), @"
    exit 0
    --- stdout
         1  2025-10-09 08:53:20  call      s1            Bash              allow  drops `table orders` (shared), removes `data` (workspace)
         2  2025-10-09 08:53:21  call      s1            Bash              ask    destructive.sweeping: `dropdb` drops `database shop` (sweeping): a whole place where data lives would go at once. A person has to approve this call before it runs (code 2hrbyg5c): ask the user to run `sprag approve 2hrbyg5c`, then make the same call again. Do not work around it.  drops `database shop` (sweeping)
         3  2025-10-09 08:53:22  call      s1            Bash              allow
    3 events: 2 allow, 1 ask
    ");
    insta::assert_snapshot!(sandbox.run(&["replay", "run.jsonl", "--policy", "open.toml"]), @"
    exit 0
    --- stdout
         1  2025-10-09 08:53:20  call      s1            Bash              allow  drops `table orders` (shared), removes `data` (workspace)
         2  2025-10-09 08:53:21  call      s1            Bash              allow  drops `database shop` (sweeping)
         3  2025-10-09 08:53:22  call      s1            Bash              allow
    3 events: 3 allow
    0 events saved, 0 sessions stopped
    ");
    let json = sandbox.run(&["replay", "run.jsonl", "--json"]);
    assert!(
        json.contains(
            r#""effects":["drops `table orders` (shared)","removes `data` (workspace)"]"#
        ),
        "{json}"
    );
}

/// A store with a kill that somebody called wrong.
fn wrongly_killed() -> Sandbox {
    let sandbox = Sandbox::new();
    let calls = ["a", "b", "c"].map(|id| {
        format!(r#"{{"type":"call","session":"s1","agent":"cleaner","tool":"delete_asset","args":{{"id":"{id}"}}}}"#)
    });
    sandbox.run_with(&["check"], calls.join("\n"));
    let db = sandbox.path().join(".local/state/sprag/sprag.db");
    let guard = Guard::open(&db).unwrap();
    let records = guard.records(&LogQuery::default()).unwrap().items;
    let stop = records
        .iter()
        .find(|record| record.verdict.decision == Decision::Kill)
        .unwrap();
    let session = Id::new("s1").unwrap();
    let said = ("maria", "these were test assets");
    let case = Case::collect(guard.store(), &session, stop.seq, said, guard.now()).unwrap();
    CaseFolder::beside(&db).save(&case).unwrap();
    guard.mark_wrong(&case.head).unwrap();
    sandbox
}

#[test]
fn a_wrong_stop_is_judged_again_and_passes_when_the_policy_was_changed() {
    let sandbox = wrongly_killed();
    let shown = sandbox.run(&["replay", "--case", "all"]);
    assert!(shown.starts_with("exit 1"), "{shown}");
    for part in [
        "s1 was stopped by destructive.volume",
        "  wrong, says maria: these were test assets",
        "  now: kill by destructive.volume",
        "1 case, 1 of them would still be stopped",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    sandbox.run(&[
        "policy",
        "set",
        "destructive.max_calls",
        "10",
        "--agent",
        "cleaner",
    ]);
    let shown = sandbox.run(&["replay", "--case", "all", "--json"]);
    assert!(
        shown.starts_with("exit 0") && shown.contains("\"passes\": true"),
        "{shown}"
    );
    let shown = sandbox.run(&["replay", "--case", "c999"]);
    assert!(
        shown.starts_with("exit 2") && shown.contains("there is no case \"c999\""),
        "{shown}"
    );
}

#[test]
fn tune_counts_a_session_whose_stop_was_wrong_as_finished() {
    let sandbox = wrongly_killed();
    let shown = sandbox.run(&["tune"]);
    assert!(shown.contains("1 session, 1 of them finished"), "{shown}");
    assert!(
        shown.contains("1 wrong stop: marked by a person, counted as finished"),
        "{shown}"
    );
}
