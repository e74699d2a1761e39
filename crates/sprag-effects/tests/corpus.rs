//! The corpus: every command and statement has exactly the effects that stand beside it.

#![cfg(test)]

use sprag_core::{CallText, Effect, EffectReader, Effects, Hints, Reach, Verb};
use sprag_effects::{CommandReader, of_command, of_sql};

const PLACE: &str = "/home/user/app";

struct Case {
    expected: Vec<String>,
    text: String,
}

fn cases(file: &str) -> Vec<Case> {
    file.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            let (expected, text) = line.split_once('\t').expect("a tab");
            let mut expected: Vec<String> = if expected == "-" {
                Vec::new()
            } else {
                expected.split(" + ").map(str::to_owned).collect()
            };
            expected.sort();
            Case {
                expected,
                text: text.replace('⏎', "\n"),
            }
        })
        .collect()
}

fn effects(text: &str) -> Effects {
    if let Some(sql) = text.strip_prefix("sql:") {
        return of_sql(sql);
    }
    let Some(call) = text.strip_prefix("tool:") else {
        return of_command(text, Some(PLACE), Some(PLACE));
    };
    let call: serde_json::Value = serde_json::from_str(call).expect("JSON");
    CommandReader.effects(&CallText {
        server: call["server"].as_str(),
        tool: call["tool"].as_str().expect("a tool"),
        args: &call["args"].to_string(),
        hints: Hints::default(),
        cwd: Some(PLACE),
        root: Some(PLACE),
    })
}

fn described(effect: &Effect) -> String {
    let verb = match effect.verb {
        Verb::Delete => "delete",
        Verb::Reset => "reset",
        Verb::Drop => "drop",
        Verb::Destroy => "destroy",
        Verb::Format => "format",
    };
    let vital = if effect.vital { "!" } else { "" };
    format!("{}{vital} {verb} {}", effect.reach.as_str(), effect.target)
        .trim_end()
        .to_owned()
}

/// What is judged, in words.
fn judged(text: &str) -> Vec<String> {
    let mut all: Vec<String> = effects(text)
        .list
        .iter()
        .filter(|effect| effect.reach != Reach::Scratch)
        .map(described)
        .collect();
    all.sort();
    all
}

fn differences(cases: &[Case]) -> Vec<String> {
    let mut different = Vec::new();
    for case in cases {
        let found = judged(&case.text);
        if found != case.expected {
            different.push(format!(
                "{}\n    expected {:?}\n    found    {found:?}",
                case.text, case.expected
            ));
        }
    }
    different
}

#[test]
fn innocent_commands_have_no_effect_beyond_what_is_written_beside_them() {
    let cases = cases(include_str!("innocent.tsv"));
    assert!(cases.len() >= 200, "{} innocent commands", cases.len());
    let different = differences(&cases);
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn innocent_commands_are_all_parsed() {
    let unparsed: Vec<String> = cases(include_str!("innocent.tsv"))
        .into_iter()
        .filter(|case| effects(&case.text).unparsed)
        .map(|case| case.text)
        .collect();
    assert!(unparsed.is_empty(), "{}", unparsed.join("\n"));
}

#[test]
fn destructive_commands_are_seen_with_their_target_and_reach() {
    let cases = cases(include_str!("destructive.tsv"));
    assert!(cases.len() >= 200, "{} destructive commands", cases.len());
    let different = differences(&cases);
    assert!(different.is_empty(), "{}", different.join("\n"));
}
