//! `sprag eval`.

use crate::sandbox::Sandbox;

const SHOP: &str = include_str!("../../../sprag-review/tests/fixtures/eval/shop.jsonl");
const TALK: &str = include_str!("../../../sprag-review/tests/fixtures/eval/talk.jsonl");
const LABELS: &str = include_str!("../../../sprag-review/tests/fixtures/eval/labels.jsonl");

/// A sandbox with recorded runs in `runs/`.
pub(crate) fn with_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .file("runs/shop.jsonl", SHOP)
        .file("runs/talk.jsonl", TALK)
        .file("runs/labels.jsonl", LABELS);
    sandbox
}

#[test]
fn figures_come_in_all_by_source_and_by_family() {
    insta::assert_snapshot!(with_runs().run(&["eval", "runs"]), @"
    exit 0
    --- stdout
    8 runs from 2 sources

    METRIC            RUNS  WHAT
    false_stops       0/2   successes stopped before their last call
    loops             2/2   terminal loops stopped
    loops_saved       2/2   terminal loops stopped before their last call
    long_loops        -     terminal loops of 20 repetitions and more, stopped
    call_loops        -     runs that ended in one call with changing results, stopped
    runaways          2/2   reader's runaways stopped
    legit             0/1   reader's legitimate runs stopped
    dead_env          -     dead environments stopped
    warned_successes  0/2   successes warned
    warned            4/8   all runs warned
    repetition        1/1   warned where people saw steps repeated
    no_repetition     0/1   warned where people saw none repeated
    abuse             1/1   warned where people saw resources abused
    no_abuse          0/1   warned where people saw none abused
    repeat            1/1   call.repeat where people saw steps repeated, no results recorded
    no_repeat         -     call.repeat where people saw none repeated, no results recorded
    echo              1/1   flow.echo where one agent repeats its message
    no_echo           0/1   flow.echo in other runs with messages
    delay             2     calls from where a loop's stop is due to the stop, median
    saved             4/19  calls after a stop, in runs that are no success

    SOURCE  RUNS  FALSE  LOOPS  RUNAWAYS  LEGIT  WARNED  ECHO  NO ECHO  DELAY  SAVED
    shop    5     0/2    2/2    2/2       0/1    0/2     -     -        2      4/12
    talk    3     -      -      -         -      -       1/1   0/1      -      0/7

    FAMILY    RUNS  FALSE  LOOPS  RUNAWAYS  LEGIT  WARNED  ECHO  NO ECHO  DELAY  SAVED
    call      8     0/2    0/2    0/2       0/1    0/2     0/1   0/1      -      0/19
    flow      8     0/2    0/2    0/2       0/1    0/2     1/1   0/1      -      0/19
    progress  8     0/2    2/2    2/2       0/1    0/2     0/1   0/1      2      4/19

    note: 1 line is not an event and was skipped: runs/shop.jsonl:75: tool: an id must not be empty
    ");
}

#[test]
fn two_policies_stand_side_by_side() {
    let sandbox = with_runs();
    sandbox.file("strict.toml", "access.deny = ['*']");
    insta::assert_snapshot!(sandbox.run(&["eval", "runs", "--compare", "strict.toml", "--leave-one-out"]), @"
    exit 0
    --- stdout
    8 runs from 2 sources
    left the policy, right strict.toml

    METRIC            RUNS          WHAT
    false_stops       0/2 | 2/2     successes stopped before their last call
    loops             2/2 | 2/2     terminal loops stopped
    loops_saved       2/2 | 2/2     terminal loops stopped before their last call
    long_loops        - | -         terminal loops of 20 repetitions and more, stopped
    call_loops        - | -         runs that ended in one call with changing results, stopped
    runaways          2/2 | 2/2     reader's runaways stopped
    legit             0/1 | 1/1     reader's legitimate runs stopped
    dead_env          - | -         dead environments stopped
    warned_successes  0/2 | 2/2     successes warned
    warned            4/8 | 7/8     all runs warned
    repetition        1/1 | 1/1     warned where people saw steps repeated
    no_repetition     0/1 | 0/1     warned where people saw none repeated
    abuse             1/1 | 1/1     warned where people saw resources abused
    no_abuse          0/1 | 1/1     warned where people saw none abused
    repeat            1/1 | 0/1     call.repeat where people saw steps repeated, no results recorded
    no_repeat         - | -         call.repeat where people saw none repeated, no results recorded
    echo              1/1 | 1/1     flow.echo where one agent repeats its message
    no_echo           0/1 | 0/1     flow.echo in other runs with messages
    delay             2 | -3.5      calls from where a loop's stop is due to the stop, median
    saved             4/19 | 16/19  calls after a stop, in runs that are no success

    SOURCE  RUNS  FALSE      LOOPS      RUNAWAYS   LEGIT      WARNED     ECHO       NO ECHO    DELAY     SAVED
    shop    5     0/2 | 2/2  2/2 | 2/2  2/2 | 2/2  0/1 | 1/1  0/2 | 2/2  - | -      - | -      2 | -3.5  4/12 | 10/12
    talk    3     - | -      - | -      - | -      - | -      - | -      1/1 | 1/1  0/1 | 0/1  - | -     0/7 | 6/7

    FAMILY    RUNS  FALSE      LOOPS      RUNAWAYS   LEGIT      WARNED     ECHO       NO ECHO    DELAY     SAVED
    access    8     - | 2/2    - | 2/2    - | 2/2    - | 1/1    - | 2/2    - | 0/1    - | 0/1    - | -3.5  - | 16/19
    call      8     0/2 | -    0/2 | -    0/2 | -    0/1 | -    0/2 | -    0/1 | -    0/1 | -    - | -     0/19 | -
    flow      8     0/2 | 0/2  0/2 | 0/2  0/2 | 0/2  0/1 | 0/1  0/2 | 0/2  1/1 | 1/1  0/1 | 0/1  - | -     0/19 | 0/19
    progress  8     0/2 | -    2/2 | -    2/2 | -    0/1 | -    0/2 | -    0/1 | -    0/1 | -    2 | -     4/19 | -
    session   8     - | 0/2    - | 2/2    - | 2/2    - | 0/1    - | 0/2    - | 0/1    - | 0/1    - | 5.5   - | 0/19

    WITHOUT  RUNS  FALSE      LOOPS      RUNAWAYS   LEGIT      WARNED     ECHO       NO ECHO    DELAY     SAVED
    shop     3     - | -      - | -      - | -      - | -      - | -      1/1 | 1/1  0/1 | 0/1  - | -     0/7 | 6/7
    talk     5     0/2 | 2/2  2/2 | 2/2  2/2 | 2/2  0/1 | 1/1  0/2 | 2/2  - | -      - | -      2 | -3.5  4/12 | 10/12

    note: 1 line is not an event and was skipped: runs/shop.jsonl:75: tool: an id must not be empty
    ");
}

#[test]
fn the_runs_behind_a_number_are_listed() {
    insta::assert_snapshot!(with_runs().run(&["eval", "runs/shop.jsonl", "--list", "legit"]), @"
    exit 0
    --- stdout
    5 runs from 1 source

    METRIC            RUNS  WHAT
    false_stops       0/2   successes stopped before their last call
    loops             2/2   terminal loops stopped
    loops_saved       2/2   terminal loops stopped before their last call
    long_loops        -     terminal loops of 20 repetitions and more, stopped
    call_loops        -     runs that ended in one call with changing results, stopped
    runaways          2/2   reader's runaways stopped
    legit             0/1   reader's legitimate runs stopped
    dead_env          -     dead environments stopped
    warned_successes  0/2   successes warned
    warned            2/5   all runs warned
    repetition        -     warned where people saw steps repeated
    no_repetition     -     warned where people saw none repeated
    abuse             -     warned where people saw resources abused
    no_abuse          0/1   warned where people saw none abused
    repeat            -     call.repeat where people saw steps repeated, no results recorded
    no_repeat         -     call.repeat where people saw none repeated, no results recorded
    echo              -     flow.echo where one agent repeats its message
    no_echo           -     flow.echo in other runs with messages
    delay             2     calls from where a loop's stop is due to the stop, median
    saved             4/12  calls after a stop, in runs that are no success

    SOURCE  RUNS  FALSE  LOOPS  RUNAWAYS  LEGIT  WARNED  ECHO  NO ECHO  DELAY  SAVED
    shop    5     0/2    2/2    2/2       0/1    0/2     -     -        2      4/12

    FAMILY    RUNS  FALSE  LOOPS  RUNAWAYS  LEGIT  WARNED  ECHO  NO ECHO  DELAY  SAVED
    progress  5     0/2    2/2    2/2       0/1    0/2     -     -        2      4/12

    legit: reader's legitimate runs stopped
    no shop:waits-for-delivery: 9 calls
        reader: it waits, and the van comes

    note: 1 line is not an event and was skipped: runs/shop.jsonl:75: tool: an id must not be empty
    ");
}

#[test]
fn what_is_on_the_wrong_side_is_listed_with_its_reason() {
    let sandbox = with_runs();
    sandbox.file("strict.toml", "call.max_identical = 2\ncall.window = '5m'");
    let output = sandbox.run(&["eval", "runs", "--policy", "strict.toml", "--verbose"]);
    let (_, list) = output.split_once("On the wrong side").expect("a list");
    insta::assert_snapshot!(list, @"
    false_stops yes shop:waits-for-delivery: 9 calls
        deny at 3 by call.identical: Call rejected: `delivery_status` was called 2 times with the same arguments within 300 s (max 2). Wait 240 s or do something else.
        reader: it waits, and the van comes
    legit yes shop:waits-for-delivery: 9 calls
        deny at 3 by call.identical: Call rejected: `delivery_status` was called 2 times with the same arguments within 300 s (max 2). Wait 240 s or do something else.
        reader: it waits, and the van comes
    warned_successes yes shop:waits-for-delivery: 9 calls
        deny at 3 by call.identical: Call rejected: `delivery_status` was called 2 times with the same arguments within 300 s (max 2). Wait 240 s or do something else.
        reader: it waits, and the van comes
    repeat no talk:asks-again: 7 calls
        deny at 4 by call.identical: Call rejected: `look_up` was called 2 times with the same arguments within 300 s (max 2). Wait 284 s or do something else.

    note: 1 line is not an event and was skipped: runs/shop.jsonl:75: tool: an id must not be empty
    ");
}

#[test]
fn stops_are_written_a_line_a_run() {
    let sandbox = with_runs();
    sandbox.run(&["eval", "runs", "--stops", "stops.jsonl"]);
    insta::assert_snapshot!(sandbox.read("stops.jsonl"), @r#"
    {"trace":"shop:fills-the-shelves","warn_seq":null,"stop_seq":null,"rule":null}
    {"trace":"shop:gave-up","warn_seq":null,"stop_seq":null,"rule":null}
    {"trace":"shop:same-drawer","warn_seq":4,"stop_seq":5,"rule":"progress.stagnation"}
    {"trace":"shop:sold-then-rang","warn_seq":5,"stop_seq":6,"rule":"progress.stagnation"}
    {"trace":"shop:waits-for-delivery","warn_seq":null,"stop_seq":null,"rule":null}
    {"trace":"talk:asks-again","warn_seq":5,"stop_seq":null,"rule":"call.repeat"}
    {"trace":"talk:nods","warn_seq":5,"stop_seq":null,"rule":"flow.echo"}
    {"trace":"talk:plans","warn_seq":null,"stop_seq":null,"rule":null}
    "#);
}

#[test]
fn programs_get_json() {
    let output = with_runs().run(&[
        "eval",
        "runs",
        "--json",
        "--compare",
        "plain",
        "--list",
        "echo",
    ]);
    let json = output
        .strip_prefix("exit 0\n--- stdout\n")
        .expect("a report");
    let report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let names = |value: &serde_json::Value| -> Vec<String> {
        value
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(
        names(&report),
        [
            "all", "compare", "families", "list", "skipped", "sources", "without", "wrong"
        ]
    );
    insta::assert_snapshot!(report["all"]["scores"]["loops"], @r#"{"hits":2,"of":2,"traces":["shop:same-drawer","shop:sold-then-rang"]}"#);
    insta::assert_snapshot!(report["all"]["delay"], @r#"{"all":[2,2],"median":2.0}"#);
    insta::assert_snapshot!(report["all"]["saved"], @r#"{"calls":4,"of":19}"#);
    insta::assert_snapshot!(report["skipped"], @r#"[{"file":"runs/shop.jsonl","line":75,"message":"tool: an id must not be empty"}]"#);
    insta::assert_snapshot!(report["list"], @r#"[{"calls":0,"hit":true,"reader":null,"stop":null,"stuck_seq":null,"trace":"talk:nods","warn":{"message":"session talk:nods#ann sent the same message to session talk:nods#bob 3 times (3/5 before refusal); whether work is done in between is not reported","rule":"flow.echo","seq":5,"verdict":"warn"}}]"#);
    insta::assert_snapshot!(report["wrong"], @"[]");
}

#[test]
fn what_can_not_be_used_is_told() {
    let sandbox = with_runs();
    sandbox
        .file("empty/README.md", "nothing")
        .file("odd/labels.jsonl", "{\"trace\": 1}")
        .file("odd/runs.jsonl", "")
        .file("broken.jsonl.gz", "this is not packed");
    insta::assert_snapshot!(sandbox.run(&["eval", "gone"]), @"
    exit 2
    --- stderr
    error: can't read gone: no such file or directory
    next: check the path; it is relative to where you are
    ");
    insta::assert_snapshot!(sandbox.run(&["eval", "empty"]), @"
    exit 2
    --- stderr
    error: empty holds no *.jsonl or *.jsonl.gz
    next: name a folder of traces, or files; `sprag eval --help` describes the format
    ");
    insta::assert_snapshot!(sandbox.run(&["eval", "odd"]), @"
    exit 2
    --- stderr
    error: odd/labels.jsonl:1: this is not a label: invalid type: integer `1`, expected a string at line 1 column 11
    ");
    insta::assert_snapshot!(sandbox.run(&["eval", "broken.jsonl.gz"]), @"
    exit 2
    --- stderr
    error: can't read broken.jsonl.gz: invalid gzip header
    ");
    insta::assert_snapshot!(sandbox.run(&["eval", "runs", "--list", "lops"]), @"
    exit 2
    --- stderr
    error: invalid value 'lops' for '--list <METRIC>': there is no metric `lops`; there are false_stops, loops, loops_saved, long_loops, call_loops, runaways, legit, dead_env, warned_successes, warned, repetition, no_repetition, abuse, no_abuse, repeat, no_repeat, echo, no_echo

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["eval", "runs", "--compare", "plane"]), @"
    exit 2
    --- stderr
    error: there is no policy plane
    next: `sprag policy show > plane` creates one from the defaults
    ");
}
