//! A hint lifts what it hints at: applied, the same events pass.

use serde_json::{Map, Value};
use sprag::Decision;

use crate::messages::{histories, judge, policy};

/// The words of a command as a shell splits them.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '"'));
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn set(table: &mut Value, path: &str, value: Value) {
    if !table.is_object() {
        *table = Value::Object(Map::new());
    }
    match path.split_once('.') {
        Some((first, rest)) => set(&mut table[first], rest, value),
        None => table[path] = value,
    }
}

/// The policy after the commands of a hint, and whether they reset the session too.
fn apply(hint: &str, document: &Value) -> (Value, bool) {
    let mut document = document.clone();
    let mut resets = false;
    for command in hint.split(" && ") {
        let words = shell_words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["sprag", "policy", "set", key, value, rest @ ..] => {
                let value = value
                    .parse::<u64>()
                    .map_or_else(|_| Value::from(*value), Value::from);
                match rest {
                    ["--agent", agent] => {
                        let mut over = serde_json::json!({ "agent": agent });
                        set(&mut over, key, value);
                        let overrides = &mut document["override"];
                        if !overrides.is_array() {
                            *overrides = Value::Array(Vec::new());
                        }
                        overrides.as_array_mut().unwrap().push(over);
                    }
                    [] => set(&mut document, key, value),
                    other => panic!("{other:?} in {hint}"),
                }
            }
            ["sprag", "sessions", "reset", ..] => resets = true,
            ["sprag", "explain" | "policy", ..] => {}
            other => panic!("{other:?} in {hint}"),
        }
    }
    (document, resets)
}

#[test]
fn a_hint_that_changes_the_policy_lifts_the_refusal_that_it_came_with() {
    let mut lifted = 0;
    for history in histories() {
        let verdicts = judge(policy(&history.policy), &history.events);
        let first = verdicts.iter().position(|verdict| verdict.refuses());
        let Some((at, hint)) = first.and_then(|at| Some((at, verdicts[at].hint.as_deref()?)))
        else {
            continue;
        };
        if !hint.contains("policy set") {
            continue;
        }
        let (document, _) = apply(hint, &history.policy);
        let again = judge(policy(&document), &history.events[..=at]);
        for (event, verdict) in history.events.iter().zip(&again) {
            assert!(
                verdict.decision <= Decision::Warn,
                "{hint}: {event} is still refused: {:?}",
                verdict.message
            );
        }
        lifted += 1;
    }
    assert!(lifted >= 25, "only {lifted} hints were tried");
}

#[test]
fn a_hint_is_one_command_for_a_shell_whatever_an_agent_is_called() {
    for history in histories() {
        for verdict in judge(policy(&history.policy), &history.events) {
            let Some(hint) = verdict.hint else { continue };
            let plain = hint.replace("$'", "'").replace("\\'", "");
            let (_, _) = apply(&plain, &history.policy);
            let hidden = |c: char| {
                c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            };
            assert!(!hint.chars().any(hidden), "{hint:?}");
            let message = verdict.message.unwrap_or_default();
            assert!(!message.chars().any(hidden), "{message:?}");
        }
    }
}
