//! What no client should send, and some day will: the answer is the client's own for "no opinion".

use sprag::FailMode;
use sprag::{Decision, Verdict};
use sprag_hooks::{AnsweredHook, Client, HookOptions, answer};

const GARBAGE: [&[u8]; 7] = [
    b"",
    b"  \n",
    b"not json",
    b"[1,2,3]",
    b"{\"hook_event_name\":",
    b"\xff\xfe\x00",
    b"{\"session_id\":17,\"sessionId\":17,\"conversation_id\":17,\"root\":17}",
];

/// The event that each client asks for before a tool runs.
const BEFORE: [(Client, &str); 6] = [
    (Client::Claude, "PreToolUse"),
    (Client::Codex, "PreToolUse"),
    (Client::Gemini, "BeforeTool"),
    (Client::Copilot, "preToolUse"),
    (Client::Cursor, "preToolUse"),
    (Client::Opencode, "tool.execute.before"),
];

fn told(client: Client, event: Option<&str>, payload: &[u8], fail: FailMode) -> AnsweredHook {
    let options = HookOptions {
        event,
        fail,
        ..HookOptions::default()
    };
    answer(client, payload, &options, |_, _| {
        Ok(Verdict::new(Decision::Allow))
    })
}

#[test]
fn garbage_is_let_through_and_told_to_the_person() {
    for (client, event) in BEFORE {
        for payload in GARBAGE {
            let answered = told(client, Some(event), payload, FailMode::Open);
            let said = &answered.answer.stdout;
            assert_eq!(answered.answer.exit_code, 0);
            assert!(
                !said.contains("deny") && !said.contains("refuse"),
                "{client}: {said}"
            );
            assert!(answered.problem.is_some(), "{client}: {payload:?}");
        }
    }
}

#[test]
fn garbage_is_refused_where_failing_closed_was_asked_for() {
    for (client, event) in BEFORE {
        for payload in GARBAGE {
            let said = told(client, Some(event), payload, FailMode::Closed)
                .answer
                .stdout;
            let refused = said.contains("deny") || said.contains("refuse");
            assert!(refused && said.ends_with('}'), "{client}: {said}");
        }
    }
}

#[test]
fn what_no_version_knows_yet_is_of_no_concern() {
    for (client, _) in BEFORE {
        let payload = br#"{"hook_event_name":"BrandNew","event":"brand.new","session_id":"s","sessionId":"s","timestamp":1,"new":{"deep":[1]}}"#;
        let answered = told(client, Some("BrandNew"), payload, FailMode::Closed);
        assert_eq!(answered.answer.stdout, "", "{client}");
        assert_eq!(answered.problem, None, "{client}");
    }
}

#[test]
fn fifty_megabytes_are_read() {
    let text = "x".repeat(50 * 1024 * 1024);
    let payload = format!(
        r#"{{"hook_event_name":"PostToolUse","session_id":"s","transcript_path":"t","tool_name":"Read","tool_input":{{}},"tool_response":"{text}"}}"#
    );
    let mut asked = 0;
    let options = HookOptions::default();
    let answered = answer(Client::Claude, payload.as_bytes(), &options, |_, _| {
        asked += 1;
        Ok(Verdict::default())
    });
    assert_eq!((asked, answered.problem), (1, None));
}

#[test]
fn a_short_tool_use_id_is_not_taken_for_a_unique_one() {
    for (id, is_unique) in [("call_0", false), ("toolu_01A2b3C4d5E6f7G8h9", true)] {
        let payload = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"t","tool_name":"Bash","tool_use_id":"{id}"}}"#
        );
        let mut event = String::new();
        answer(
            Client::Claude,
            payload.as_bytes(),
            &HookOptions::default(),
            |_, told| {
                event = serde_json::to_string(&told).unwrap();
                Ok(Verdict::default())
            },
        );
        assert_eq!(event.contains("use_id"), is_unique, "{event}");
        assert!(event.contains(&format!(r#""id":"{id}""#)), "{event}");
    }
}
