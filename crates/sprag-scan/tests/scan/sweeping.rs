//! Commands that take a whole place at once are listed, and are not loops.

use serde_json::json;
use sprag_core::Decision;

use crate::recorded::scanned_text;

/// Lines of Claude Code: one call for each command.
fn session(commands: &[&str]) -> String {
    let mut text = String::new();
    for (n, command) in commands.iter().enumerate() {
        let input = json!({"command": command});
        let call =
            json!([{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": input}]);
        let result = json!([{"type": "tool_result", "tool_use_id": format!("t{n}"), "content": format!("done {n}")}]);
        for (second, kind, content) in [(2 * n, "assistant", call), (2 * n + 1, "user", result)] {
            let line = json!({
                "type": kind, "message": {"content": content}, "sessionId": "s", "parentUuid": null,
                "cwd": "/home/user/app", "timestamp": format!("2026-11-16T02:00:{second:02}.000Z"),
            });
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

#[test]
fn sweeping_commands_are_listed_the_latest_first_and_are_not_loops() {
    let report = scanned_text(
        "s.jsonl",
        session(&[
            "rm -rf .",
            "rm -rf build",
            "PGPASSWORD=hunter22 dropdb shop",
            "rm -rf ~",
            "ls",
        ]),
    );
    let listed: Vec<_> = report
        .sweeping
        .iter()
        .map(|command| {
            (
                command.call,
                command.what.as_str(),
                command.effects.join(", "),
                command.verdict,
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            (
                4,
                "Bash: rm -rf ~",
                "removes `/home/user` (sweeping)".to_owned(),
                Decision::Deny
            ),
            (
                3,
                "Bash: PGPASSWORD=[redacted] dropdb shop",
                "drops `database shop` (sweeping)".to_owned(),
                Decision::Ask
            ),
            (
                1,
                "Bash: rm -rf .",
                "removes `.` (sweeping)".to_owned(),
                Decision::Ask
            ),
        ]
    );
    assert_eq!((report.total.sweeping, report.total.loops), (3, 0));
}

#[test]
fn a_session_in_two_files_lists_a_command_once() {
    let text = session(&["dropdb shop"]);
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.jsonl", "b.jsonl"] {
        std::fs::write(folder.path().join(name), &text).expect("written");
    }
    let report = crate::recorded::scanned(folder.path());
    assert_eq!((report.sweeping.len(), report.total.sweeping), (1, 1));
}
