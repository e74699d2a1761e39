//! Payloads as the real clients sent them (Cursor's by its documentation), and the events they make.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sprag::Verdict;
use sprag_hooks::{Client, HookOptions, answer};

/// A line of a fixture: what the hook was registered for, and what it was given.
#[derive(Deserialize)]
pub(crate) struct Recorded {
    pub(crate) event: Option<String>,
    pub(crate) payload: Box<RawValue>,
}

pub(crate) fn recorded(fixture: &str) -> Vec<Recorded> {
    let path = format!(
        "{}/tests/hooks/fixtures/{fixture}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The events that a fixture makes, each after the name of its hook.
fn told(client: Client, fixture: &str) -> String {
    let mut text = String::new();
    for recorded in recorded(fixture) {
        let options = HookOptions {
            event: recorded.event.as_deref(),
            ..HookOptions::default()
        };
        let payload: Value = serde_json::from_str(recorded.payload.get()).unwrap();
        let name = recorded.event.as_deref().or(payload["event"].as_str());
        text += &format!("# {}\n", name.unwrap_or_default());
        let answered = answer(
            client,
            recorded.payload.get().as_bytes(),
            &options,
            |role, event| {
                text += &format!("{role} {}\n", serde_json::to_string(&event).unwrap());
                Ok(Verdict::default())
            },
        );
        assert!(answered.problem.is_none(), "{:?}", answered.problem);
        assert_eq!(
            answered.answer.stdout, "",
            "an allowed event is answered with nothing"
        );
    }
    text
}

#[test]
fn claude_payloads_become_events() {
    insta::assert_snapshot!(told(Client::Claude, "claude"));
}

#[test]
fn codex_payloads_become_events() {
    insta::assert_snapshot!(told(Client::Codex, "codex"));
}

#[test]
fn gemini_payloads_become_events() {
    insta::assert_snapshot!(told(Client::Gemini, "gemini"));
}

#[test]
fn copilot_payloads_become_events() {
    insta::assert_snapshot!(told(Client::Copilot, "copilot"));
}

#[test]
fn cursor_payloads_become_events() {
    insta::assert_snapshot!(told(Client::Cursor, "cursor"));
}

#[test]
fn opencode_payloads_become_events() {
    insta::assert_snapshot!(told(Client::Opencode, "opencode"));
}

/// Copilot runs Claude's hooks; what it tells them is the same as what it tells its own, but for the tools'
/// names, which it translates.
#[test]
fn a_hook_of_claude_that_copilot_runs_speaks_for_copilot() {
    let text = told(Client::Claude, "copilot_claude");
    assert!(text.contains(r#""to_agent":"copilot""#));
    assert!(!text.contains(r#""agent":"claude""#));
    insta::assert_snapshot!(text);
}

#[test]
fn the_project_of_claude_comes_from_the_environment_of_its_hooks_and_not_from_where_it_went() {
    let payload = br#"{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"t","cwd":"/srv/app/src","tool_name":"Bash","tool_input":{"command":"rm -rf ../data"}}"#;
    let options = HookOptions {
        project: Some("/srv/app"),
        ..HookOptions::default()
    };
    let mut told = None;
    answer(Client::Claude, payload, &options, |_, event| {
        told = Some(serde_json::to_value(&event).unwrap());
        Ok(Verdict::default())
    });
    let told = told.unwrap();
    assert_eq!(
        (&told["root"], &told["cwd"]),
        (&"/srv/app".into(), &"/srv/app/src".into())
    );
}
