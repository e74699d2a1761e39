//! Transcripts of sessions that Sprag guarded already.

use serde_json::{Value, json};
use sprag_scan::{Options, ScanReport, named, scan};

/// A session of Claude Code: each call with its result and whether it failed.
fn transcript(calls: &[(&str, &str, bool)]) -> String {
    let line = |kind: &str, n: usize, content: Value| {
        let at = format!("2026-11-16T02:{:02}:{:02}.000Z", n / 60, n % 60);
        let message = json!({ "role": kind, "content": content });
        json!({ "type": kind, "sessionId": "s", "cwd": "/p", "timestamp": at, "message": message })
            .to_string()
    };
    let mut lines = vec![line("user", 0, json!("Watch it"))];
    for (n, (command, result, failed)) in (1..).zip(calls) {
        let id = format!("toolu_{n}");
        let call = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed }]);
        lines.push(line("assistant", 2 * n, call));
        lines.push(line("user", 2 * n + 1, result));
    }
    lines.join("\n") + "\n"
}

fn scanned(text: &str) -> ScanReport {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, text).unwrap();
    scan(&named(&[file]).unwrap(), &Options::default(), &|_| {}).0
}

const STUCK: (&str, &str, bool) = ("cat status.txt", "queued", false);
const REFUSED: (&str, &str, bool) = (
    "cat status.txt",
    "sprag: 6 calls in a row with the same result; session s is blocked",
    true,
);

#[test]
fn refusals_by_sprag_are_not_calls_of_the_loop() {
    let alone = scanned(&transcript(&[STUCK; 7]));
    let guarded = scanned(&transcript(
        &[[STUCK; 7].as_slice(), &[REFUSED; 20]].concat(),
    ));
    let (one, other) = (&alone.loops[0], &guarded.loops[0]);
    assert_eq!((one.calls, one.saved), (other.calls, other.saved));
    assert_eq!(guarded.total.calls, 7);
}

#[test]
fn guarded_sessions_are_marked_so() {
    let guarded = scanned(&transcript(&[[STUCK; 7].as_slice(), &[REFUSED]].concat()));
    assert!(guarded.loops[0].guarded);
    assert_eq!((guarded.total.sessions, guarded.total.guarded), (1, 1));
    let alone = scanned(&transcript(&[STUCK; 7]));
    assert!(!alone.loops[0].guarded);
    assert_eq!(alone.total.guarded, 0);
}

#[test]
fn a_failure_that_is_not_sprags_is_part_of_the_loop() {
    let failing = ("make", "error: no rule to make target `x`", true);
    let report = scanned(&transcript(&[failing; 9]));
    assert_eq!(report.total.calls, 9);
    assert!(report.loops[0].calls >= 7, "{:?}", report.loops);
}
