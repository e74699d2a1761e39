//! Every format: the loops that were scripted are found, and nothing is found in work.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sprag_scan::TranscriptSource;

use crate::recorded::{
    LINES, LOOPS, WORK, brief, fixture, rows, scanned, scanned_text, transcript,
};

fn clients() -> impl Iterator<Item = &'static str> {
    LINES.into_iter().chain(["opencode"])
}

#[test]
fn the_loops_that_were_scripted_are_found_in_the_transcripts_of_every_client() {
    let mut told = String::new();
    for client in clients() {
        for script in LOOPS {
            let folder = tempfile::tempdir().unwrap();
            let report = scanned(&transcript(client, script, folder.path()));
            assert_eq!(report.skipped, [], "{client} {script}");
            assert_eq!(report.sources[0].client.as_str(), client);
            // A loop that ends soon after its warning is only counted.
            let found = report.total.loops + report.total.warned;
            assert!(found >= 1, "{client} {script}");
            told += &format!("{client}, {script}\n{}\n", brief(&report));
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn nothing_is_found_in_work() {
    for client in clients() {
        for script in WORK {
            let folder = tempfile::tempdir().unwrap();
            let report = scanned(&transcript(client, script, folder.path()));
            assert_eq!(brief(&report), "", "{client} {script}");
            assert_eq!(report.skipped, [], "{client} {script}");
            assert!(
                report.total.calls >= 8,
                "{client} {script}: {}",
                report.total.calls
            );
        }
    }
}

#[test]
fn sub_agents_are_sessions_of_their_own() {
    for (client, script) in [
        ("claude", "sub-agents-1"),
        ("codex", "sub-agents-1"),
        ("gemini", "sub-agents-1"),
    ] {
        let report = scanned(&fixture(client, script));
        assert_eq!(
            (report.total.sessions, report.total.calls),
            (1, 1),
            "{client}"
        );
    }
    assert_eq!(
        scanned(&fixture("copilot", "sub-agents")).total.sessions,
        13
    );
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        scanned(&transcript("opencode", "sub-agents", folder.path()))
            .total
            .sessions,
        3
    );
}

/// The document that older versions of Gemini CLI wrote: the same messages, once each.
#[test]
fn an_older_document_of_gemini_tells_the_same() {
    let text = fs::read_to_string(fixture("gemini", "loop")).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let messages: Vec<&Value> = lines
        .iter()
        .filter(|line| line.get("type").is_some())
        .collect();
    let messages = json!(messages);
    let document = |messages: String| {
        format!(
            "{{\"sessionId\": \"s\", \"projectHash\": \"h\", \"startTime\": \"t\", \"messages\": {messages}}}"
        )
    };
    for text in [
        document(messages.to_string()),
        document(serde_json::to_string_pretty(&messages).unwrap()),
    ] {
        let report = scanned_text("session-1.json", text);
        assert_eq!(brief(&report), brief(&scanned(&fixture("gemini", "loop"))));
        assert_eq!(report.loops[0].session, "s");
    }
}

/// Older versions of opencode kept each message and part in a file.
#[test]
fn an_older_folder_of_opencode_tells_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &Path, value: &Value| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    let storage = folder.path().join("opencode/storage");
    for row in rows("loop") {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let data = || serde_json::from_str::<Value>(row["data"].as_str().unwrap()).unwrap();
        let name = format!("{}.json", text("id"));
        match row["table"].as_str().unwrap() {
            "session" => put(
                &storage.join("session/global").join(name),
                &json!({"id": text("id"), "directory": text("directory")}),
            ),
            "message" => put(
                &storage.join("message").join(text("session_id")).join(name),
                &data(),
            ),
            _ => put(
                &storage.join("part").join(text("message_id")).join(name),
                &data(),
            ),
        }
    }
    let report = scanned(folder.path());
    let database = scanned(&transcript("opencode", "loop", folder.path()));
    assert_eq!(brief(&report), brief(&database));
    assert_eq!(
        report.loops[0].project.as_deref(),
        Some("/home/user/project")
    );
}

fn completions() -> Vec<Value> {
    let turn = |n: u32| {
        [
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("call_{n}"), "type": "function", "function": {"name": "read_page", "arguments": "{\"job\": 17}"}}]}),
            json!({"role": "tool", "tool_call_id": format!("call_{n}"), "content": "job 17 is queued"}),
        ]
    };
    let mut messages = vec![
        json!({"role": "system", "content": "You help."}),
        json!({"role": "user", "content": "Wait for job 17."}),
    ];
    messages.extend((0..8).flat_map(turn));
    messages.push(json!({"role": "assistant", "content": "It is queued."}));
    messages
}

#[test]
fn chat_logs_are_read_in_every_common_shape() {
    let messages = completions();
    let line = |value: &Value| format!("{value}\n");
    let expected = "progress.stagnation block: calls 1-8, warned 4, stopped 5, saved 3, about 58 tokens; read_page: {\"job\":17} → job 17 is queued";
    for (name, text) in [
        ("array.json", json!(messages).to_string()),
        (
            "pretty.json",
            serde_json::to_string_pretty(&json!(messages)).unwrap(),
        ),
        (
            "object.json",
            json!({"model": "m", "messages": messages}).to_string(),
        ),
        ("lines.jsonl", messages.iter().map(line).collect()),
        (
            "many.jsonl",
            line(&json!({"id": "c1", "messages": messages})),
        ),
    ] {
        let report = scanned_text(name, text);
        assert_eq!(report.sources[0].client, TranscriptSource::Chat, "{name}");
        assert_eq!(brief(&report), expected, "{name}");
        assert_eq!(report.loops[0].seconds, None, "there are no times in it");
    }
}

#[test]
fn blocks_of_the_messages_api_are_read_too() {
    let turn = |n: u32| {
        [
            json!({"role": "assistant", "content": [{"type": "text", "text": "Again."}, {"type": "tool_use", "id": format!("t{n}"), "name": "read_page", "input": {"job": 17}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{n}"), "content": [{"type": "text", "text": "three rows"}]}]}),
        ]
    };
    let messages: Vec<Value> = (0..8).flat_map(turn).collect();
    let report = scanned_text("chat.json", json!(messages).to_string());
    assert_eq!(report.total.loops, 1);
    assert_eq!(report.loops[0].calls, 8);
}

#[test]
fn logs_of_sprag_itself_are_read() {
    let event = |n: u64| {
        let call = json!({"type": "call", "at": 1_760_000_000_000_u64 + n * 1_000, "session": "s1", "id": format!("t{n}"), "tool": "read_log", "args": {"process": 7}});
        let step = json!({"type": "step", "at": 1_760_000_000_500_u64 + n * 1_000, "session": "s1", "id": format!("t{n}"), "result": "nothing yet"});
        format!("{call}\n{step}\n")
    };
    let report = scanned_text("events.jsonl", (0..30).map(event).collect::<String>());
    assert_eq!(report.sources[0].client, TranscriptSource::Sprag);
    assert_eq!(report.loops[0].calls, 30);
    assert_eq!(report.loops[0].seconds, Some(29));
    // Two agents that say the same to each other.
    let talk = |n: u64| {
        let (from, to) = if n.is_multiple_of(2) {
            ("a", "b")
        } else {
            ("b", "a")
        };
        let message = json!({"type": "message", "at": 1_760_000_000_000_u64 + n * 1_000, "from": from, "to": to, "flow": "f", "content": "are you done?"});
        format!("{message}\n")
    };
    let report = scanned_text("talk.jsonl", (0..40).map(talk).collect::<String>());
    assert!(report.total.loops >= 1, "{}", brief(&report));
}
