//! What agent CLIs send to their hooks, write into their transcripts and keep in their settings.

use serde_json::Value;
use sprag::{Decision, FailMode, Verdict};
use sprag_hooks::install::{self, HookCommand};
use sprag_hooks::{Client, HookOptions, answer, spent_in};

/// The client that the first byte names, and the rest.
fn client(data: &[u8]) -> Option<(Client, &[u8])> {
    let (first, rest) = data.split_first()?;
    let client = match first {
        b'x' => Client::Codex,
        b'g' => Client::Gemini,
        b'p' => Client::Copilot,
        b'u' => Client::Cursor,
        b'o' => Client::Opencode,
        _ => Client::Claude,
    };
    Some((client, rest))
}

/// Any payload gets an answer that its client can read, whatever the guard says: nothing or JSON, and exit code 0.
pub(crate) fn hook_payload(data: &[u8]) {
    let Some((client, payload)) = client(data) else {
        return;
    };
    let decisions = [
        Decision::Allow,
        Decision::Warn,
        Decision::Deny,
        Decision::Block,
        Decision::Kill,
    ];
    for event in [
        None,
        Some("PreToolUse"),
        Some("BeforeTool"),
        Some("preToolUse"),
    ] {
        let options = HookOptions {
            event,
            fail: FailMode::Closed,
            ..HookOptions::default()
        };
        for decision in decisions {
            let verdict = Verdict::new(decision).with_message("stop \"it\"");
            let answered = answer(client, payload, &options, |_, _| Ok(verdict.clone()));
            readable(&answered.answer.stdout, answered.answer.exit_code);
        }
        let answered = answer(client, payload, &options, |_, _| Err("away".to_owned()));
        readable(&answered.answer.stdout, answered.answer.exit_code);
    }
}

fn readable(stdout: &str, exit_code: u8) {
    assert_eq!(exit_code, 0);
    if !stdout.is_empty() {
        serde_json::from_str::<Value>(stdout).expect("an answer is JSON");
    }
}

/// A line of a transcript says what was spent, or nothing.
pub(crate) fn spent_line(data: &[u8]) {
    let Some((client, rest)) = client(data) else {
        return;
    };
    for line in String::from_utf8_lossy(rest).lines() {
        let _ = spent_in(client, line);
    }
}

/// Hooks that were put into settings are found there, putting them in again changes nothing, and taking them out
/// gives settings of the same meaning as before.
pub(crate) fn hook_settings(data: &[u8]) {
    let Some((client, text)) = client(data) else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let command = HookCommand {
        binary: "/usr/bin/sprag".to_owned(),
        project: false,
        shadow: false,
        fail: FailMode::Open,
        server: None,
    };
    let Ok(installed) = install::install(client, Some(text), &command) else {
        return;
    };
    let found = install::installed_hooks(client, &installed).expect("what was written can be read");
    assert!(!found.is_empty());
    let again = install::install(client, Some(&installed), &command);
    assert_eq!(again.expect("it can be put in again"), installed);
    let removed = install::uninstall(client, &installed, Some(text));
    let removed = removed.expect("what was put in can be taken out");
    let left = install::installed_hooks(client, removed.as_deref().unwrap_or("{}"));
    assert!(left.expect("what is left can be read").is_empty());
}
