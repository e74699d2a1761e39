//! Calls and results in a line, without secrets.
//!
//! What an agent handled may be anything, and a page of it is shown to colleagues. Everything that leaves this crate as text
//! passes here: secrets are taken out as the log's capture does it, then it is put on one line and cut.

use std::collections::HashMap;

use serde_json::Value;
use sprag::capture::{redact, redact_text};

use crate::recent_calls::{RecentCall, Truncated};

/// How long a line gets, in characters.
const MAX_CHARS: usize = 160;
/// Arguments that say by themselves what a call does.
const TELLING: [&str; 12] = [
    "command",
    "cmd",
    "script",
    "code",
    "file_path",
    "path",
    "filePath",
    "url",
    "query",
    "pattern",
    "asset_id",
    "prompt",
];

/// A call in one line: `Bash: cat status.txt`.
pub(crate) fn call(recent: &RecentCall) -> String {
    let tool = line(&redact_text(&recent.tool));
    let args = arguments(&recent.args);
    if args.is_empty() {
        tool
    } else {
        cut(&format!("{tool}: {args}"))
    }
}

/// What came of it; nothing where nobody knows.
pub(crate) fn outcome(recent: &RecentCall) -> String {
    recent.answer.as_ref().map(answer).unwrap_or_default()
}

/// Any text, without secrets, on one line.
pub(crate) fn text(text: &str) -> String {
    cut(&line(&redact_text(text)))
}

/// Excerpts of the calls of one loop. A loop says the same again and again, and looking for secrets is most of the
/// work of a scan, so it is done once for each text.
#[derive(Default)]
pub(crate) struct Excerpts<'c> {
    calls: HashMap<(&'c str, &'c str), String>,
    outcomes: HashMap<(&'c str, bool), String>,
}

impl<'c> Excerpts<'c> {
    /// The same as [`call`].
    pub(crate) fn call(&mut self, recent: &'c RecentCall) -> String {
        let known = self.calls.entry((&recent.tool, &recent.args));
        known.or_insert_with(|| call(recent)).clone()
    }

    /// The same as [`outcome`].
    pub(crate) fn outcome(&mut self, recent: &'c RecentCall) -> String {
        let Some(kept) = &recent.answer else {
            return String::new();
        };
        let known = self.outcomes.entry((&kept.text, kept.is_json));
        known.or_insert_with(|| answer(kept)).clone()
    }
}

fn arguments(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => value_text(&redact(value)),
        Err(_) => half(json),
    }
}

/// JSON that was cut off. Quotes and escapes stand between a word that announces a secret and the secret, so it is looked
/// at with them and without.
fn half(json: &str) -> String {
    let open = redact_text(&open_json(json));
    let bare = open
        .replace("\\n", " ")
        .replace("\\t", " ")
        .replace('"', " ");
    text(&bare)
}

fn value_text(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let telling = TELLING
                .iter()
                .find_map(|name| fields.get(*name).filter(|value| !value.is_null()));
            match telling {
                Some(Value::Array(words)) => {
                    let words: Vec<String> = words.iter().map(value_text).collect();
                    words.join(" ")
                }
                Some(value) => value_text(value),
                None if fields.is_empty() => String::new(),
                None => value.to_string(),
            }
        }
        other => other.to_string(),
    };
    cut(&line(&text))
}

fn answer(kept: &Truncated) -> String {
    if !kept.is_json {
        return text(&kept.text);
    }
    match serde_json::from_str::<Value>(&kept.text) {
        Ok(value) => value_text(&redact(value)),
        Err(_) => half(&kept.text),
    }
}

/// JSON that was cut off, with its escapes resolved where it is a string.
fn open_json(json: &str) -> String {
    let Some(inner) = json.strip_prefix('"') else {
        return json.to_owned();
    };
    // A cut may go through an escape; the longest of them has six characters.
    (0..=6)
        .filter_map(|less| inner.get(..inner.len().checked_sub(less)?))
        .find_map(|inner| serde_json::from_str(&format!("\"{inner}\"")).ok())
        .unwrap_or_else(|| inner.to_owned())
}

/// White space of any kind is one blank; control characters are gone.
fn line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recent_calls::beginning;

    /// Nothing of these may be seen, however they stand there.
    const SECRETS: [&str; 9] = [
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "sk-proj-abcdefghijklmnopqrstuvwxyz",
        "AKIAIOSFODNN7EXAMPLE",
        "Bearer abcdef0123456789abcdef",
        "password=hunter2hunter2",
        "https://me:hunter2hunter2@example.org/x",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "Zx8Kq2Lm9Rt4Wv7Yb1Nc6Pd3Hf5Jg0SaQeXu",
        "--token hunter2hunter2",
    ];
    const GONE: [&str; 9] = [
        "ghp_abcdefghij",
        "sk-proj-abc",
        "AKIAIOSF",
        "abcdef0123456789",
        "hunter2",
        "hunter2",
        "eyJzdWIi",
        "Zx8Kq2Lm9",
        "hunter2",
    ];

    #[test]
    fn secrets_are_seen_in_no_form() {
        for (secret, gone) in SECRETS.iter().zip(GONE) {
            let in_args =
                serde_json::json!({ "command": format!("curl {secret} -o x") }).to_string();
            let nested = serde_json::json!({ "a": { "b": [secret] } }).to_string();
            let cut = format!("{{\"text\":\"{secret}\",\"more\":\"{}", "x".repeat(2_000));
            for text in [
                arguments(&in_args),
                arguments(&nested),
                arguments(beginning(&cut)),
            ] {
                assert!(!text.contains(gone), "{text}");
                assert!(text.contains("[redacted]"), "{text}");
            }
            for is_json in [false, true] {
                let raw = if is_json {
                    format!("\"said\\n{secret}\"")
                } else {
                    format!("said\n{secret}")
                };
                let text = answer(&Truncated::of(&raw, is_json));
                assert!(!text.contains(gone) && text.starts_with("said"), "{text}");
            }
        }
        let private =
            "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA\\n-----END RSA PRIVATE KEY-----";
        assert_eq!(
            answer(&Truncated::of(&format!("\"{private}\""), true)),
            "[redacted]"
        );
        assert_eq!(
            arguments(r#"{"user":"a","password":"x"}"#),
            r#"{"password":"[redacted]","user":"a"}"#
        );
    }

    #[test]
    fn a_call_is_told_by_what_it_does() {
        assert_eq!(
            arguments(r#"{"command":"cat  a\n\tb","description":"run it"}"#),
            "cat a b"
        );
        assert_eq!(arguments(r#"{"cmd":["bash","-lc","ls"]}"#), "bash -lc ls");
        assert_eq!(arguments("{}"), "");
        assert_eq!(arguments(r#"{"n":1}"#), r#"{"n":1}"#);
        assert_eq!(arguments(r#""*** Begin Patch""#), "*** Begin Patch");
        assert_eq!(
            arguments("{\"command\":\"echo \\\"hi\\\"\\u00"),
            "{ command : echo \\ hi\\ \\u00"
        );
        assert_eq!(open_json("\"half an esc\\u00"), "half an esc");
        assert_eq!(cut(&"ä".repeat(200)).chars().count(), MAX_CHARS + 1);
        assert_eq!(text("a\u{1b}[31mred\u{7}"), "a [31mred");
    }
}
