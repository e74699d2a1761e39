//! Payloads that a strict reader of JSON refuses, as real clients and odd tools write them: every one is
//! reduced and judged, and none of them frees a session that was stopped.

use serde_json::Value;

use crate::sandbox::{Sandbox, feed};

/// A payload before a call in the format of every client, with a place for what is odd.
const TEMPLATE: &str = r#"{"hook_event_name":"EVENT","event":"EVENT","session_id":"SESSION","conversation_id":"SESSION","root":"SESSION","transcript_path":"t","tool_name":"Bash","toolName":"Bash","tool":"Bash","tool_use_id":"toolu_0000000000000001","tool_input":ARGS,"toolArgs":ARGS,"args":ARGS}"#;

const CLIENTS: [(&str, &str); 6] = [
    ("claude", "PreToolUse"),
    ("codex", "PreToolUse"),
    ("gemini", "BeforeTool"),
    ("copilot", "preToolUse"),
    ("cursor", "preToolUse"),
    ("opencode", "tool.execute.before"),
];

fn with_args(args: &str) -> Vec<u8> {
    TEMPLATE.replace("ARGS", args).into_bytes()
}

fn with(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(with_args(r#"{"command":"ls"}"#)).unwrap();
    assert!(text.contains(from), "{from}");
    text.replace(from, to).into_bytes()
}

/// What is odd, by name.
fn odd() -> Odd {
    let mut all = odd_arguments();
    all.extend(odd_names());
    all.extend(odd_bytes());
    all
}

type Odd = Vec<(&'static str, Vec<u8>)>;

fn odd_arguments() -> Odd {
    let deep = |open: &str, close: &str, levels: usize| {
        format!("{}1{}", open.repeat(levels), close.repeat(levels))
    };
    let digits = format!("{{\"n\":{}}}", "9".repeat(400));
    let args = [
        (
            "a high surrogate alone",
            r#"{"command":"echo \ud83d"}"#.to_owned(),
        ),
        (
            "a low surrogate alone",
            r#"{"command":"echo \ude00"}"#.to_owned(),
        ),
        (
            "surrogates in the wrong order",
            r#"{"command":"\ude00\ud83d"}"#.to_owned(),
        ),
        (
            "a surrogate alone in a key",
            r#"{"\ud83d":"ls"}"#.to_owned(),
        ),
        ("101 levels of arrays", deep("[", "]", 101)),
        ("a thousand levels of objects", deep("{\"a\":", "}", 1000)),
        ("a hundred thousand levels", deep("[", "]", 100_000)),
        ("1e999", r#"{"n":1e999}"#.to_owned()),
        ("a number of 400 digits", digits),
        (
            "NaN and Infinity, as Python writes them",
            r#"{"n":NaN,"m":-Infinity}"#.to_owned(),
        ),
        (
            "a key twice in the arguments",
            r#"{"command":"ls","command":"rm x"}"#.to_owned(),
        ),
    ];
    args.into_iter()
        .map(|(what, args)| (what, with_args(&args)))
        .collect()
}

fn odd_names() -> Odd {
    let twice = r#""tool_use_id":"x","tool_use_id":"#;
    let long = format!("\"{}\"", "t".repeat(300));
    vec![
        (
            "a surrogate alone in the tool's name",
            with("\"Bash\"", r#""Ba\ud83dsh""#),
        ),
        ("a key twice at the top", with("\"tool_use_id\":", twice)),
        (
            "an id of 300 bytes",
            with(
                "toolu_0000000000000001",
                &format!("{}SESSION", "x".repeat(300)),
            ),
        ),
        ("a tool with a name of 300 bytes", with("\"Bash\"", &long)),
        (
            "control characters in the tool's name",
            with("\"Bash\"", r#""Ba\nsh\u0000""#),
        ),
        (
            "a number for an id",
            with("\"toolu_0000000000000001\"", "17"),
        ),
        ("an empty name of a tool", with("\"Bash\"", "\"\"")),
    ]
}

fn odd_bytes() -> Odd {
    let bytes = |text: &[u8]| {
        let mut payload = with_args("{\"command\":\"@\"}");
        let places: Vec<usize> = (0..payload.len())
            .filter(|at| payload[*at] == b'@')
            .collect();
        for at in places.into_iter().rev() {
            payload.splice(at..=at, text.iter().copied());
        }
        payload
    };
    let bom = [b"\xef\xbb\xbf".as_slice(), &with_args("{}")].concat();
    let cut = with_args(r#"{"command":"ls"}"#);
    let cut = cut.get(..cut.len() - 30).unwrap().to_vec();
    vec![
        ("bytes that are not UTF-8", bytes(b"echo \xff\xfe")),
        ("a raw line break in a string", bytes(b"a\nb")),
        ("a mark of the byte order", bom),
        ("a payload that is cut off", cut),
    ]
}

/// `bytes` with `to` in every place of `from`.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest
        .windows(from.len())
        .position(|part| part == from.as_bytes())
    {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to.as_bytes());
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn hook(sandbox: &Sandbox, client: &str, event: &str, session: &str, payload: &[u8]) -> String {
    let payload = replaced(payload, "SESSION", session);
    // Ids of tool uses are unique.
    let id = format!("toolu_{:0>16.20}", session);
    let payload = replaced(&payload, "toolu_0000000000000001", &id);
    let payload = replaced(&payload, "EVENT", event);
    let payload = match client {
        "copilot" => replaced(&payload, "\"session_id\"", "\"sessionId\""),
        _ => payload,
    };
    let command = sandbox.command(&["hook", "--client", client, "--event", event]);
    sandbox.show(&feed(command, &payload))
}

/// The session `s1` is known and was killed.
fn with_a_killed_session() -> Sandbox {
    let sandbox = Sandbox::new();
    hook(&sandbox, "claude", "PreToolUse", "s1", &with_args("{}"));
    sandbox.run(&[
        "sessions",
        "kill",
        "s1",
        "--why",
        "seen enough",
        "--by",
        "ops",
    ]);
    sandbox
}

#[test]
fn no_odd_payload_frees_a_session_that_was_killed() {
    let sandbox = with_a_killed_session();
    for (client, event) in CLIENTS {
        for (what, payload) in odd() {
            let said = hook(&sandbox, client, event, "s1", &payload);
            let refused = said.contains("\"deny\"") || said.contains("\"action\":\"stop\"");
            assert!(
                refused && said.contains("seen enough"),
                "{client}, {what}: {said}"
            );
        }
    }
}

#[test]
fn every_odd_payload_is_judged_as_a_call_of_its_session() {
    let sandbox = Sandbox::new();
    let mut expected = Vec::new();
    for (client, event) in CLIENTS {
        for (at, (what, payload)) in odd().into_iter().enumerate() {
            let session = format!("{client}-{at}");
            let said = hook(&sandbox, client, event, &session, &payload);
            assert!(said.starts_with("exit 0\n"), "{client}, {what}: {said}");
            expected.push((session, client, what));
        }
    }
    let log = sandbox.run(&["log", "tail", "-n", "1000", "--json"]);
    let calls: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|record: &Value| record["event"]["type"] == "call")
        .collect();
    for (session, client, what) in expected {
        let judged = calls
            .iter()
            .filter(|call| call["event"]["session"] == session.as_str());
        assert_eq!(judged.count(), 1, "{client}, {what}");
    }
}

#[test]
fn a_session_with_an_id_of_a_thousand_bytes_is_judged_and_its_sub_agents_with_it() {
    let sandbox = Sandbox::new();
    let session = "s".repeat(1000);
    let payload = with_args("{}");
    hook(&sandbox, "claude", "PreToolUse", &session, &payload);
    let listed = sandbox.run(&["sessions", "list", "--json"]);
    let json: Value = serde_json::from_str(listed.split_once("--- stdout\n").unwrap().1).unwrap();
    let id = json[0]["session"].as_str().unwrap().to_owned();
    sandbox.run(&[
        "sessions",
        "kill",
        &id,
        "--why",
        "seen enough",
        "--by",
        "ops",
    ]);
    for agent in ["", r#""agent_id":"a1","#] {
        let payload = with(
            "\"transcript_path\"",
            &format!("{agent}\"transcript_path\""),
        );
        let said = hook(&sandbox, "claude", "PreToolUse", &session, &payload);
        assert!(
            said.contains("\"deny\"") && said.contains("was killed"),
            "{said}"
        );
    }
}

#[test]
fn a_payload_that_is_too_long_is_no_way_out_either() {
    let sandbox = with_a_killed_session();
    let long = with_args(&format!("{{\"text\":\"{}\"}}", "x".repeat(70 << 20)));
    let said = hook(&sandbox, "claude", "PreToolUse", "s1", &long);
    assert!(said.contains("seen enough"), "{said}");
}
