//! A corpus of made-up secrets goes through a guard in every way there is; none may reach the log.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use sprag::{Capture, Event, Guard, Role};

use crate::corpus::{ANNOUNCED, drawn, plain, shaped};
use crate::place::START;
use crate::secret_kinds::{SecretKind, kinds, known_leaks};

/// Every secret, in a text that holds it.
fn texts() -> Vec<(String, String)> {
    let shaped = shaped().into_iter().flat_map(|secret| {
        let bare = secret.clone();
        let said = format!("use {secret}, please");
        let quoted = format!("key: \"{secret}\";");
        let spread = format!("first line\nKEY={secret}\nlast line");
        [bare, said, quoted, spread].map(|text| (secret.clone(), text))
    });
    let announced = plain().into_iter().flat_map(|secret| {
        ANNOUNCED.map(|pattern| (secret.clone(), pattern.replace("{}", &secret)))
    });
    shaped.chain(announced).collect()
}

/// The ways in which a text gets into an event.
fn events(text: &str) -> Vec<Value> {
    let inside = json!({ "output": text }).to_string();
    let deep = json!([{ "a": [text, { "b": inside }] }]);
    vec![
        json!({"type": "call", "session": "s", "tool": "t", "args": {"command": text}}),
        json!({"type": "call", "session": "s", "tool": "t", "args": text}),
        json!({"type": "call", "session": "s", "tool": "t", "args": deep}),
        json!({"type": "call", "session": "s", "tool": "delete_asset", "args": {"id": text, "path": [text]}}),
        json!({"type": "step", "session": "s", "tool": "t", "args": {"x": text}, "result": inside}),
        json!({"type": "step", "session": "s", "approach": text, "outcome": text, "is_error": true}),
        json!({"type": "message", "to": "s", "content": text}),
        json!({"type": "message", "from": "s", "to": "r", "flow": "f", "content": {"text": text}}),
        json!({"type": "kill", "session": "k", "by": "me", "why": text}),
    ]
}

/// Whether any of the pieces of a secret that would be worth something is in a text.
fn leaks(secret: &str, text: &str) -> bool {
    let mut lines = secret.lines().filter(|line| !line.starts_with("-----"));
    lines.any(|line| text.contains(line))
}

#[test]
fn no_secret_of_the_corpus_gets_into_a_log_in_any_mode() {
    let all = texts();
    for capture in Capture::ALL {
        let guard = Guard::builder().capture(capture).build().unwrap();
        for (n, (secret, text)) in all.iter().enumerate() {
            let at = sprag::Timestamp(START.0 + n as u64 * 100_000);
            for event in events(text) {
                let event = Event::from_value(&event).unwrap();
                let verdict = guard.check_at(Role::Operator, event, at).unwrap();
                let verdict = serde_json::to_string(&verdict).unwrap();
                assert!(!leaks(secret, &verdict), "{verdict}\n{text}");
            }
        }
        let mut log = String::new();
        let store = guard.store();
        let scan = store.scan(0, &mut |row| {
            log.push_str(&String::from_utf8_lossy(row.body));
            ControlFlow::Continue(())
        });
        scan.unwrap();
        assert!(log.contains("\"args\":") == (capture != Capture::Digest));
        for (secret, text) in &all {
            // In JSON a key block has its line ends escaped; its lines are looked for one by one.
            assert!(!leaks(secret, &log), "{capture:?} leaks {secret} of {text}");
        }
    }
}

#[test]
fn values_under_secret_names_are_gone_whatever_they_are() {
    let secret = drawn(77, 9);
    let named = json!({
        "password": secret, "apiKey": secret, "credentials": {"user": secret, "list": [secret, 5]},
        "headers": [{"name": "Authorization", "value": secret}, ["Cookie", secret]],
        "argv": ["tool", "--token", secret, "-u", format!("me:{secret}"), "--verbose"],
        "pin": 1234, "token": 77,
    });
    let text = sprag::capture::redact(named).to_string();
    assert!(!text.contains(&secret), "{text}");
    assert!(!text.contains("1234") && !text.contains("77"), "{text}");
}

#[test]
fn what_is_no_secret_stays_readable() {
    let plain = json!({
        "command": "cargo test -p sprag --lib -- --nocapture 2>&1 | tail -20",
        "path": "/home/user/project/src/main.rs:17:5",
        "url": "https://example.org/a/b?page=2#top",
        "sha": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "usage": {"max_tokens": 4096, "total_tokens": 77},
        "when": "2026-01-02T03:04:05Z",
        "author": "Grace Hopper <grace@example.org>",
        "sql": "SELECT id, name FROM users WHERE id = 'a:b'",
        "error": "TypeError: can't read property 'length' of undefined at Object.<anonymous> (a.js:1:2)",
    });
    assert_eq!(sprag::capture::redact(plain.clone()), plain);
}

/// Whether a secret, or the end of a long one, is still in `text`.
fn is_seen(kind: &SecretKind, text: &str) -> bool {
    let lines = kind
        .secret
        .lines()
        .filter(|line| !line.starts_with("-----"));
    let mut parts = lines.map(|line| line.get(line.len().saturating_sub(12)..).unwrap_or(line));
    parts.any(|part| text.contains(part))
}

#[test]
fn no_kind_of_secret_leaks_but_those_that_the_docs_name() {
    let kinds = kinds();
    assert!(kinds.len() >= 150, "{}", kinds.len());
    let leaked: Vec<String> = kinds
        .iter()
        .filter(|kind| {
            let inside = json!({ "output": kind.text, "list": [kind.text] });
            is_seen(kind, &sprag::capture::redact_text(&kind.text))
                || is_seen(kind, &sprag::capture::redact(inside).to_string())
        })
        .map(|kind| format!("{}: {}", kind.name, kind.text))
        .collect();
    assert!(leaked.is_empty(), "{}", leaked.join("\n"));

    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/capture.md");
    let docs = std::fs::read_to_string(docs).unwrap().replace('\n', " ");
    let known = known_leaks();
    assert!(known.len() <= 5);
    for kind in known {
        // A kind that is found by now is to be taken out of the docs.
        let text = sprag::capture::redact_text(&kind.text);
        assert!(is_seen(&kind, &text), "{} is found: {text}", kind.name);
        assert!(docs.contains(&kind.name), "docs do not name: {}", kind.name);
    }
}

#[test]
fn hashes_pictures_and_talk_of_tokens_stay_readable() {
    for line in include_str!("honest_text.txt").lines() {
        assert_eq!(sprag::capture::redact_text(line), line);
        let value = json!({ "command": line });
        assert_eq!(sprag::capture::redact(value.clone()), value);
    }
}

#[test]
fn no_text_makes_it_slow() {
    // Each of these once took time that grows with the square of its length.
    for piece in [
        "cookie:",
        "://",
        "://a:b",
        "-----BEGIN PRIVATE KEY-----",
        "hooks.slack.com/",
        "a-",
        "password=\"",
        "password='",
        "--token ",
        "x:y=",
        "{\"token\":",
        "Bearer ",
        "\\\"secret\\\": ",
        "sha256-a ",
        "h1:",
        "?key=",
        "://a?key=",
        "$2b$",
        "(\"token\",\"",
        "<token>",
        "token:|\n ",
        "mysql -p ",
        "a:5432:b:c:d\n",
        "kind: Secret\ndata:\n a: b\n",
    ] {
        let text = piece.repeat(250_000 / piece.len());
        let taken = sprag::capture::redact_text(&text);
        assert!(taken.len() <= text.len() * 12, "{piece}");
    }
}
