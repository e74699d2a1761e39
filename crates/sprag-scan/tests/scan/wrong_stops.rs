//! A stop that may have been wrong is told: the agent got out by itself, went on and finished.

use serde_json::{Value, json};

use crate::recorded::scanned_text;

/// Lines of Claude Code: so many equal calls, then so many that differ, then words or none.
fn run(equal: u32, differing: u32, last: &[Value]) -> String {
    let mut lines = vec![json!({"type": "user", "message": {"content": "Go."}})];
    let calls = (0..equal).map(|_| ("cat status.txt".to_owned(), "queued".to_owned()));
    let calls = calls.chain((0..differing).map(|n| {
        (
            format!("make part-{n}"),
            format!("made part {n} of the whole"),
        )
    }));
    for (n, (command, answer)) in calls.enumerate() {
        lines.push(json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": {"command": command}}]}}));
        lines.push(json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": format!("t{n}"), "content": answer}]}}));
    }
    lines.extend_from_slice(last);
    let mut second = 0;
    let dated = lines.into_iter().map(|mut line| {
        second += 1;
        line["sessionId"] = json!("s");
        line["parentUuid"] = Value::Null;
        line["timestamp"] = json!(format!(
            "2026-11-16T02:{:02}:{:02}.000Z",
            second / 60,
            second % 60
        ));
        format!("{line}\n")
    });
    dated.collect()
}

fn words() -> [Value; 1] {
    [json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}})]
}

#[test]
fn an_agent_that_went_on_and_finished_was_perhaps_stopped_wrongly() {
    let report = scanned_text("s.jsonl", run(8, 6, &words()));
    let found = &report.loops[0];
    assert!(found.perhaps_wrong);
    assert_eq!(
        (found.calls, found.calls_after, found.saved.calls),
        (8, 6, 0)
    );
    assert_eq!(report.total.perhaps_wrong, 1);
    assert_eq!(
        report.total.saved_calls, 0,
        "nothing is counted as saved that may have been needed"
    );
}

#[test]
fn one_that_only_reported_back_was_not() {
    let report = scanned_text("s.jsonl", run(8, 0, &words()));
    assert!(!report.loops[0].perhaps_wrong);
    assert_eq!(report.loops[0].saved.calls, 3);
}

#[test]
fn one_that_a_person_had_to_stop_was_not() {
    let stopped = [
        json!({"type": "user", "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}}),
    ];
    let report = scanned_text("s.jsonl", run(8, 6, &stopped));
    assert!(!report.loops[0].perhaps_wrong);
    assert_eq!(report.loops[0].ending, sprag_scan::Ending::Interrupted);
}

#[test]
fn a_persons_word_between_ends_a_loop() {
    let whole = scanned_text("s.jsonl", run(6, 0, &words()));
    assert_eq!(whole.total.loops, 1);
    let half = run(3, 0, &words());
    let report = scanned_text("s.jsonl", format!("{half}{half}"));
    assert_eq!(report.total.loops, 0);
}
