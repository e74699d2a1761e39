//! `sprag log` and `sprag verify`.

use crate::mask::mask;
use crate::sandbox::Sandbox;

const EVENTS: &str = r#"{"type":"call","session":"s1","agent":"cleaner","tool":"delete_asset","args":{"id":"a"}}
{"type":"call","session":"s2","tool":"read","args":{"id":"b"}}
{"type":"call","session":"s1","tool":"delete_asset","args":{"id":"b"}}
{"type":"call","session":"s1","tool":"delete_asset","args":{"id":"c"}}
"#;

/// A store with a few records.
fn filled() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run_with(&["check"], EVENTS);
    sandbox
}

#[test]
fn tail_shows_the_latest_records() {
    let sandbox = filled();
    insta::assert_snapshot!(mask(&sandbox.run(&["log", "tail"])), @"
    exit 0
    --- stdout
         1  <time>  note      policy_loaded
         2  <time>  call      s1            delete_asset      allow
         3  <time>  call      s2            read              allow
         4  <time>  call      s1            delete_asset      warn   destructive.volume: 2 deletes in <n>s (a, b): one more within 60s kills this session. If these deletes are meant, stop and ask for the limit to be raised.
         5  <time>  call      s1            delete_asset      kill   destructive.volume: session_killed: loop_detected, 3 deletes in <n>s (a, b, c)
    ");
    insta::assert_snapshot!(mask(&sandbox.run(&["log", "tail", "-n", "1"])), @"
    exit 0
    --- stdout
         5  <time>  call      s1            delete_asset      kill   destructive.volume: session_killed: loop_detected, 3 deletes in <n>s (a, b, c)
    ");
    insta::assert_snapshot!(mask(&sandbox.run(&["log", "tail", "--session", "s2"])), @"
    exit 0
    --- stdout
         3  <time>  call      s2            read              allow
    ");
    let json = sandbox.run(&["log", "tail", "-n", "1", "--json"]);
    insta::assert_snapshot!(mask(&json).split("\"evidence\"").next().unwrap_or_default(), @r#"
    exit 0
    --- stdout
    {"at":<ms>,"event":{"agent":"cleaner","approach":{"about":{"controls":true,"form":<number>,"thing":<number>},"aims":true,"argument":<number>,"exact":"<hex>","fields":[{"digest":"<hex>","name":"id","text":"c"}],"kind":"change","normal":"<hex>","tool":"delete_asset"},"session":"s1","type":"call"},"hash":"<hex>","policy":"<hex>","prev":"<hex>","rules_version":2,"sender":{"role":"agent"},"seq":5,"verdict":{"also":[],"code":null,"depth":null,
    "#);
}

#[test]
fn a_message_of_a_user_reads_as_one() {
    let sandbox = Sandbox::new();
    let events = r#"{"type":"message","to":"s1","content":"go on"}
{"type":"message","from":"s1","to":"s2","content":"help me"}
"#;
    sandbox.run_with(&["check", "--as", "relay"], events);
    insta::assert_snapshot!(mask(&sandbox.run(&["log", "tail"])), @"
    exit 0
    --- stdout
         1  <time>  note      policy_loaded
         2  <time>  message   (user)        s1                allow
         3  <time>  message   s1            s2                deny   flow.correlation: Agent call rejected: correlation ID required for agent-initiated calls
    ");
}

#[test]
fn follow_shows_what_comes() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let sandbox = filled();
    let mut child = sandbox
        .command(&["log", "tail", "-n", "1", "-f"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("kill"), "it started: {line}");
    sandbox.run_with(
        &["check"],
        r#"{"type":"call","session":"s3","tool":"look"}"#,
    );
    line.clear();
    output.read_line(&mut line).unwrap();
    assert!(line.contains("s3") && line.contains("look"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn show_tells_everything_about_one_record() {
    let sandbox = filled();
    let shown = mask(&sandbox.run(&["log", "show", "5"]));
    let steady: String = shown
        .lines()
        .filter(|line| !line.starts_with("evidence"))
        .map(|line| format!("{line}\n"))
        .collect();
    insta::assert_snapshot!(steady, @r#"
    exit 0
    --- stdout
    record 5  <time>
    event     {"type":"call","session":"s1","agent":"cleaner","approach":{"tool":"delete_asset","exact":"<hex>","normal":"<hex>","kind":"change","aims":true,"argument":<number>,"about":{"form":<number>,"thing":<number>,"controls":true},"fields":[{"name":"id","digest":"<hex>","text":"c"}]}}
    sender    agent without a token
    verdict   kill   destructive.volume: session_killed: loop_detected, 3 deletes in <n>s (a, b, c)
    policy    <hex>
    rules     version 2
    before    <hex>
    hash      <hex>
    "#);
    insta::assert_snapshot!(mask(&sandbox.run(&["log", "show", "1", "--json"])), @r#"
    exit 0
    --- stdout
    {
      "at": <ms>,
      "hash": "<hex>",
      "note": {
        "note": "policy_loaded"
      },
      "policy": "<hex>",
      "prev": "<hex>",
      "rules_version": 2,
      "seq": 1
    }
    "#);
    insta::assert_snapshot!(sandbox.run(&["log", "show", "9"]), @"
    exit 2
    --- stderr
    error: there is no record 9
    next: the log holds records 1 to 5
    ");
}

#[test]
fn export_prints_cloud_events() {
    let sandbox = filled();
    let lines = sandbox.run(&["log", "export", "--session", "s2", "--source", "urn:test"]);
    insta::assert_snapshot!(mask(&lines), @r#"
    exit 0
    --- stdout
    {"data":{"at":<ms>,"event":{"approach":{"about":{"controls":true,"form":<number>,"thing":<number>},"aims":true,"argument":<number>,"exact":"<hex>","fields":[{"digest":"<hex>","name":"id"}],"kind":"read","normal":"<hex>","tool":"read"},"session":"s2","type":"call"},"hash":"<hex>","policy":"<hex>","prev":"<hex>","rules_version":2,"sender":{"role":"agent"},"seq":3,"verdict":{"also":[],"code":null,"depth":null,"evidence":null,"flow":null,"generation":1,"hint":null,"message":null,"retry_after_ms":null,"rule":null,"verdict":"allow","would":null}},"datacontenttype":"application/json","id":"3-<hex>","source":"urn:test","specversion":"1.0","subject":"s2","time":"<time>","type":"dev.sprag.call"}
    "#);
    let all = sandbox.run(&["log", "export", "--after", "3"]);
    assert_eq!(all.lines().filter(|line| line.starts_with('{')).count(), 2);
}

#[test]
fn verify_says_that_a_sound_log_is_sound_and_where_another_is_broken() {
    let sandbox = filled();
    insta::assert_snapshot!(sandbox.run(&["verify"]), @"
    exit 0
    --- stdout
    sound: records 1 to 5: 4 verdicts came out the same again, 1 note
    ");
    insta::assert_snapshot!(sandbox.run(&["log", "verify", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "bad": null,
      "checkpoint": 5,
      "first": 1,
      "last": 5,
      "not_recomputed": {},
      "notes": 1,
      "recomputed": 4,
      "sound": true
    }
    "#);
    let connection =
        rusqlite::Connection::open(sandbox.path().join(".local/state/sprag/sprag.db")).unwrap();
    connection
        .execute(
            "UPDATE log SET body = CAST(body || x'00' AS BLOB) WHERE seq = 4",
            [],
        )
        .unwrap();
    drop(connection);
    insta::assert_snapshot!(sandbox.run(&["log", "verify"]), @"
    exit 1
    --- stdout
    broken: record 4: its hash does not fit: it, its number or the record before was changed
    records 1 to 3 are sound
    ");
    assert!(
        sandbox
            .run(&["verify", "--json"])
            .contains("\"sound\": false")
    );
}

#[test]
fn prune_removes_what_is_old_and_the_rest_verifies() {
    let sandbox = filled();
    insta::assert_snapshot!(sandbox.run(&["log", "prune"]), @"
    exit 0
    --- stdout
    nothing to remove: every record is young enough and there is room
    ");
    insta::assert_snapshot!(sandbox.run(&["log", "prune", "--max-bytes", "0"]), @"
    exit 0
    --- stdout
    5 records removed; the log starts at record 6 and still verifies
    ");
    insta::assert_snapshot!(sandbox.run(&["verify"]), @"
    exit 0
    --- stdout
    sound: records 6 to 7: 0 verdicts came out the same again, 2 notes
    ");
    insta::assert_snapshot!(sandbox.run(&["log", "show", "1"]), @"
    exit 2
    --- stderr
    error: there is no record 1
    next: the log holds records 6 to 7
    ");
    insta::assert_snapshot!(sandbox.run(&["log", "prune", "--max-bytes", "many"]), @"
    exit 2
    --- stderr
    error: invalid value 'many' for '--max-bytes <BYTES>': a size is written like 1048576, 64K, 256M or 2G

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["log", "prune", "--max-age", "5 days"]), @r#"
    exit 2
    --- stderr
    error: invalid value '5 days' for '--max-age <DURATION>': a duration is written like "5m", "60s" or "1h30m", not "5 days"

    For more information, try '--help'.
    "#);
}

#[test]
fn without_a_store_there_is_nothing_to_show() {
    let sandbox = Sandbox::new();
    for command in [
        &["log", "tail"][..],
        &["verify"],
        &["sessions", "list"],
        &["replay"],
        &["resume"],
        &["log", "prune"],
    ] {
        let output = sandbox.run(command);
        assert!(
            output.starts_with(
                "exit 2\n--- stderr\nerror: there is no store ~/.local/state/sprag/sprag.db"
            ),
            "{output}"
        );
    }
    assert!(!sandbox.path().join(".local").exists());
}

#[test]
fn the_log_goes_into_a_spreadsheet_and_no_cell_is_a_formula() {
    let sandbox = Sandbox::new();
    let call = r#"{"type":"call","session":"=cmd()","agent":"a,b","tool":"read"}"#;
    let usage = r#"{"type":"usage","session":"s","input_tokens":5,"cost_usd":0.25}"#;
    sandbox.run_with(&["check"], format!("{call}\n{usage}"));
    let shown = sandbox.run(&["log", "export", "--format", "csv"]);
    let mut lines = shown.lines().skip_while(|line| !line.starts_with("seq,"));
    assert_eq!(
        lines.next(),
        Some("seq,time,type,session,agent,flow,tool,verdict,rule,message,tokens,cost_usd,by,why")
    );
    let rows: Vec<&str> = lines.collect();
    assert!(
        rows.iter()
            .any(|row| row.contains(r#",call,'=cmd(),"a,b",,read,allow,"#)),
        "{shown}"
    );
    assert!(
        rows.iter()
            .any(|row| row.contains(",usage,s,,,,allow,,,5,0.250000,,")),
        "{shown}"
    );
}
