//! `sprag sessions`, `sprag pause` and `sprag resume`.

use crate::mask::mask;
use crate::sandbox::Sandbox;

const CALLS: &str = r#"{"type":"call","session":"s1","agent":"cleaner","tool":"delete_asset","args":{"id":"a"}}
{"type":"call","session":"s1","tool":"delete_asset","args":{"id":"b"}}
{"type":"call","session":"s1","tool":"delete_asset","args":{"id":"c"}}
"#;
const READ: &str = r#"{"type":"call","session":"s2","tool":"read"}"#;

fn filled() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run_with(&["check"], READ);
    sandbox.run_with(&["check"], CALLS);
    sandbox
}

#[test]
fn a_listing_shows_who_is_stopped() {
    let sandbox = filled();
    insta::assert_snapshot!(mask(&sandbox.run(&["sessions", "list"])), @"
    exit 0
    --- stdout
    SESSION  AGENT    STATE   GEN  LAST EVENT           EVENTS  REFUSED  TOKENS  COST  LAST RULE
    s1       cleaner  killed  1    <time>  3       1        -       -     destructive.volume
    s2       -        active  1    <time>  1       0        -       -     -
    ");
    insta::assert_snapshot!(mask(&sandbox.run(&["sessions", "list", "--state", "active"])), @"
    exit 0
    --- stdout
    SESSION  AGENT  STATE   GEN  LAST EVENT           EVENTS  REFUSED  TOKENS  COST  LAST RULE
    s2       -      active  1    <time>  1       0        -       -     -
    ");
    insta::assert_snapshot!(mask(&sandbox.run(&["sessions", "list", "--agent", "cleaner", "--json"])), @r#"
    exit 0
    --- stdout
    [
      {
        "agent": "cleaner",
        "cost_micros": 0,
        "events": 3,
        "generation": 1,
        "last_rule": "destructive.volume",
        "refused": 1,
        "session": "s1",
        "state": "killed",
        "tokens": 0,
        "touched": <ms>,
        "would": null
      }
    ]
    "#);
    insta::assert_snapshot!(mask(&sandbox.run(&["sessions", "list", "--limit", "1"])), @"
    exit 0
    --- stdout
    SESSION  AGENT    STATE   GEN  LAST EVENT           EVENTS  REFUSED  TOKENS  COST  LAST RULE
    s1       cleaner  killed  1    <time>  3       1        -       -     destructive.volume
    there are more; --limit, --state, --agent and --contains choose
    ");
    insta::assert_snapshot!(mask(&sandbox.run(&["sessions", "list", "--contains", "zz"])), @"
    exit 0
    --- stdout
    SESSION  AGENT  STATE  GEN  LAST EVENT  EVENTS  REFUSED  TOKENS  COST  LAST RULE
    ");
}

#[test]
fn a_listing_shows_what_each_session_spent() {
    let sandbox = Sandbox::new();
    sandbox.run_with(&["check"], READ);
    let usage = r#"{"type":"usage","session":"s1","agent":"writer","model":"claude-opus-5","input_tokens":1000,"output_tokens":200,"cost_usd":1.25}
{"type":"usage","session":"s1/helper","agent":"helper","input_tokens":300,"cost_usd":0.5}"#;
    sandbox.run_with(&["check"], usage);
    let listed = sandbox.run(&["sessions", "list"]);
    let line = |id: &str| {
        let mut lines = listed.lines();
        lines.find(|line| line.split_whitespace().next() == Some(id))
    };
    for (id, tokens, cost) in [
        ("s1", " 1500 ", " $1.75 "),
        ("s1/helper", " 300 ", " $0.50 "),
    ] {
        let line = line(id).unwrap_or_default();
        assert!(line.contains(tokens) && line.contains(cost), "{listed}");
    }
}

#[test]
fn a_session_is_shown_with_its_mark_and_how_full_the_rules_are() {
    let sandbox = filled();
    insta::assert_snapshot!(mask(&sandbox.run(&["sessions", "show", "s1"])), @"
    exit 0
    --- stdout
    s1  killed, generation 1
    agent       cleaner
    last event  <time>
    events      3, 1 of them refused
    stopped by  destructive.volume at <time>: session_killed: loop_detected, 3 deletes in <n>s (a, b, c)
    to lift it  sprag sessions reset s1 --why …

    RULE              USED  LIMIT
    session.defiance  1     10
    budget.actions    3     2000
    ");
    insta::assert_snapshot!(mask(&sandbox.run(&["sessions", "show", "s2", "--json"])), @r#"
    exit 0
    --- stdout
    {
      "agent": null,
      "cost_micros": 0,
      "events": 1,
      "generation": 1,
      "last_rule": null,
      "refused": 0,
      "rules": {
        "agent": null,
        "blocked": null,
        "dispatches": [],
        "gauges": [
          {
            "limit": 2000,
            "of": "session",
            "rule": "budget.actions",
            "used": 1
          }
        ],
        "generation": 1,
        "killed": null,
        "killed_above": false,
        "pending": 0,
        "progress": null,
        "session": "s2",
        "stack": []
      },
      "session": "s2",
      "state": "active",
      "tokens": 0,
      "touched": <ms>,
      "would": null
    }
    "#);
    insta::assert_snapshot!(sandbox.run(&["sessions", "show", "nobody"]), @"
    exit 2
    --- stderr
    error: there is no session nobody
    next: `sprag sessions list` shows those there are
    ");
}

#[test]
fn kill_and_reset_need_a_reason_and_the_log_keeps_it() {
    let sandbox = filled();
    insta::assert_snapshot!(sandbox.run(&["sessions", "kill", "s2"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --why <TEXT>

    Usage: sprag sessions kill --why <TEXT> --yes <SESSION>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["sessions", "kill", "s2", "--why", " "]), @"
    exit 2
    --- stderr
    error: --why is empty
    next: say in a few words why; the log keeps it
    ");
    insta::assert_snapshot!(sandbox.run(&["sessions", "kill", "s2", "--why", "seen enough", "--by", "ann"]), @"
    exit 0
    --- stdout
    killed s2: everything in it and in its sub-agents is refused
    `sprag sessions reset s2 --why …` lets it start again
    ");
    assert!(
        sandbox
            .run_with(&["check"], READ)
            .contains("session_killed_loop_guard")
    );
    insta::assert_snapshot!(sandbox.run(&["sessions", "reset", "s2", "--why", "it is fine"]), @"
    exit 0
    --- stdout
    reset s2: generation 2 starts with nothing held against it
    ");
    assert!(sandbox.run_with(&["check"], READ).contains("\"allow\""));
    insta::assert_snapshot!(sandbox.run(&["sessions", "kill", "ghost", "--why", "to be sure"]), @"
    exit 0
    --- stdout
    killed ghost: everything in it and in its sub-agents is refused
    it was not known before; the kill holds should it appear
    `sprag sessions reset ghost --why …` lets it start again
    ");
    insta::assert_snapshot!(sandbox.run(&["sessions", "reset", "nobody", "--why", "x"]), @"
    exit 2
    --- stderr
    error: there is no session nobody
    next: `sprag sessions list` shows those there are
    ");
    insta::assert_snapshot!(sandbox.run(&["sessions", "kill", "", "--why", "x"]), @r#"
    exit 2
    --- stderr
    error: "" is not a session: an id must not be empty
    "#);
    let log = sandbox.run(&["log", "tail", "--json"]);
    assert!(
        log.contains("seen enough") && log.contains("\"by\":\"ann (no terminal)\""),
        "{log}"
    );
    assert!(sandbox.run(&["verify"]).contains("sound:"));
}

#[test]
fn a_pause_holds_for_later_processes_until_it_is_ended() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(mask(&sandbox.run(&["pause", "--for", "20m", "--why", "release day"])), @"
    exit 0
    --- stdout
    paused until <time> UTC: rules report what they would do and stop nothing; killed sessions stay killed
    `sprag resume` ends it
    ");
    let output = sandbox.run_with(&["check"], CALLS);
    assert!(!output.contains("\n{\"verdict\":\"kill\""), "{output}");
    assert!(
        output.contains("\"would\":{\"verdict\":\"kill\""),
        "{output}"
    );
    insta::assert_snapshot!(sandbox.run(&["resume"]), @"
    exit 0
    --- stdout
    resumed: rules decide again
    ");
    insta::assert_snapshot!(sandbox.run(&["resume"]), @"
    exit 0
    --- stdout
    nothing was paused
    ");
    let output = sandbox.run_with(&["check"], CALLS);
    assert!(output.contains("\n{\"verdict\":\"kill\""), "{output}");
    insta::assert_snapshot!(mask(&sandbox.run(&["log", "tail", "--session", "none"])), @"exit 0");
    insta::assert_snapshot!(sandbox.run(&["pause", "--for", "soon"]), @r#"
    exit 2
    --- stderr
    error: invalid value 'soon' for '--for <DURATION>': a duration is written like "5m", "60s" or "1h30m", not "soon"

    For more information, try '--help'.
    "#);
}
