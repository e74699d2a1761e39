//! What is broken, cut off, foreign or of tomorrow is skipped with a word. Nothing makes a scan fail.

use std::fs;

use proptest::prelude::*;
use serde_json::json;

use crate::recorded::{LINES, brief, fixture, scanned, scanned_text};

#[test]
fn a_transcript_that_is_cut_off_anywhere_tells_what_it_has() {
    for client in LINES {
        let whole = fs::read(fixture(client, "loop")).unwrap();
        for end in (0..whole.len()).step_by(1_499) {
            let report = scanned_text("cut.jsonl", &whole[..end]);
            assert!(report.total.calls <= 8, "{client} {end}");
        }
    }
}

#[test]
fn a_broken_line_costs_only_itself() {
    let text = fs::read_to_string(fixture("claude", "loop")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(5, "{\"type\":\"user\",\"message\":");
    lines.insert(9, "\u{0}\u{1}{{{\"type\":\"assistant\"");
    let report = scanned_text("broken.jsonl", lines.join("\n"));
    assert_eq!(brief(&report), brief(&scanned(&fixture("claude", "loop"))));
    let skipped = &report.skipped[0];
    assert_eq!((skipped.line, skipped.count), (Some(6), 2));
    assert_eq!(
        skipped.why,
        "it can't be read: EOF while parsing a value at column 25"
    );
}

#[test]
fn what_is_something_else_is_told_where_it_was_named() {
    for (name, text) in [
        ("photo.jsonl", b"\x89PNG\r\n\x1a\n".as_slice()),
        ("notes.json", b"{\"title\": \"notes\"}"),
        ("empty.jsonl", b""),
        ("list.json", b"[1, 2, 3]"),
    ] {
        let report = scanned_text(name, text);
        assert_eq!(report.total.sessions, 0, "{name}");
        assert_eq!(report.skipped[0].why, "its format is not known", "{name}");
    }
}

#[test]
fn in_a_folder_other_files_are_only_counted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("package.json"), "{}").unwrap();
    fs::write(folder.path().join("README.md"), "hello").unwrap();
    fs::copy(
        fixture("codex", "loop"),
        folder.path().join("rollout-1.jsonl"),
    )
    .unwrap();
    let report = scanned(folder.path());
    assert_eq!((report.total.loops, report.other_files), (1, 1));
    assert!(report.skipped.is_empty());
}

#[test]
fn a_newer_version_that_is_not_understood_is_told() {
    let line = json!({"parentUuid": null, "type": "turn", "sessionId": "s", "version": "9.0.0", "deeds": []});
    let report = scanned_text("s.jsonl", format!("{line}\n").repeat(3));
    assert_eq!(
        report.skipped[0].why,
        "nothing in it is understood; perhaps a newer version of Claude Code wrote it"
    );
    // New fields and new kinds of lines are no reason to stop reading.
    let text = fs::read_to_string(fixture("claude", "loop")).unwrap();
    let newer: String = text
        .lines()
        .map(|line| {
            format!(
                "{}\n{{\"type\":\"thought\",\"sessionId\":\"s\"}}\n",
                line.replacen('{', "{\"era\":{\"of\":[9]},", 1)
            )
        })
        .collect();
    assert_eq!(
        brief(&scanned_text("newer.jsonl", newer)),
        brief(&scanned(&fixture("claude", "loop")))
    );
}

#[test]
fn a_database_of_somebody_else_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch("CREATE TABLE a (b); INSERT INTO a VALUES (1);")
        .unwrap();
    drop(database);
    let report = scanned(&path);
    assert_eq!(
        report.skipped[0].why,
        "it is not a database of a known version of opencode: no such table: session"
    );
    fs::write(&path, b"SQLite format 3\0 and then nothing").unwrap();
    assert_eq!(scanned(&path).skipped.len(), 1);
}

#[test]
fn deep_and_odd_json_is_no_trouble() {
    let deep = format!(
        "{{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{{\"content\":{}}}}}",
        "[".repeat(100_000)
    );
    let odd = "{\"type\":\"user\",\"sessionId\":\"s\\ud800\",\"message\":{\"content\":\"x\"}}";
    let long = json!({"type": "assistant", "sessionId": "\u{7}".repeat(5_000), "message": {"content": [{"type": "tool_use", "id": "", "name": "\u{0}", "input": {"a": 1}}]}});
    let report = scanned_text("odd.jsonl", format!("{long}\n{odd}\n{deep}\n"));
    assert_eq!(report.total.calls, 1);
    assert_eq!(report.skipped[0].count, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_byte_that_is_changed_makes_a_scan_fail(
        client in proptest::sample::select(&LINES[..]),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let mut bytes = fs::read(fixture(client, "deletes")).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let report = scanned_text("changed.jsonl", bytes);
        prop_assert!(report.total.calls <= 10);
    }

    #[test]
    fn no_bytes_at_all_make_it_fail(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        scanned_text("bytes.json", &bytes);
    }
}
