//! Imports, by what a person gets to read.

use super::*;
use crate::policy::{Mode, Policy};
use crate::rule::RuleId;

fn import(text: &str) -> (Imported, Policy) {
    let imported = from_json(text, None, &ImportScope::Everyone).unwrap();
    let policy = Policy::from_toml(&imported.toml).unwrap();
    (imported, policy)
}

fn told(imported: &Imported) -> Vec<String> {
    imported.notes.iter().map(ToString::to_string).collect()
}

#[test]
fn recursion_limits_become_flow_limits() {
    let (imported, policy) = import(
        r#"{"maxDepth": 4, "maxUniqueSessions": 8, "maxTotalCalls": 50, "maxCallsPerMinute": 15,
            "maxDuration": 600, "maxRevisits": 2, "logLevel": "debug"}"#,
    );
    assert_eq!(imported.kind, ImportKind::RecursionLimits);
    assert_eq!(
        imported.toml,
        "[rules]\n\"flow.revisits\" = \"enforce\"\n\n[flow]\nmax_depth = 4\nmax_sessions = 8\n\
         max_duration = \"10m\"\nmax_calls_per_minute = 15\nmax_calls = 50\nmax_revisits = 2\n"
    );
    assert_eq!(
        told(&imported),
        [
            "logLevel: ignored, a policy has nothing like it",
            "maxCallsPerMinute → flow.max_calls_per_minute = 15",
            "maxDepth → flow.max_depth = 4",
            "maxDuration → flow.max_duration = \"10m\"",
            "maxRevisits → flow.max_revisits = 2",
            "maxTotalCalls → flow.max_calls = 50",
            "maxUniqueSessions → flow.max_sessions = 8",
        ]
    );
    assert_eq!(policy.base().modes.get(RuleId::FlowRevisits), Mode::Enforce);
}

#[test]
fn without_revisits_that_rule_stays_off() {
    let (_, policy) = import(r#"{"maxStackDepth": 4}"#);
    assert_eq!(policy.base().flow.max_depth.get(), 4);
    assert_eq!(policy.base().modes.get(RuleId::FlowRevisits), Mode::Off);
}

#[test]
fn of_two_depths_the_lower_holds() {
    let (imported, policy) = import(r#"{"maxDepth": 4, "maxStackDepth": 3}"#);
    assert_eq!(policy.base().flow.max_depth.get(), 3);
    assert_eq!(
        told(&imported),
        [
            "maxDepth → flow.max_depth, which another key sets lower",
            "maxStackDepth → flow.max_depth = 3"
        ]
    );
    let (imported, policy) = import(r#"{"maxDepth": 4, "maxStackDepth": 9}"#);
    assert_eq!(policy.base().flow.max_depth.get(), 4);
    assert_eq!(
        told(&imported),
        [
            "maxDepth → flow.max_depth = 4",
            "maxStackDepth → flow.max_depth, which another key sets lower"
        ]
    );
}

#[test]
fn protection_settings_are_found_nested_or_dotted() {
    let nested = r#"{"theme": "dark", "protection": {"max_agent_messages_per_minute": 20, "max_chain_depth": 30}}"#;
    let dotted =
        r#"{"protection.max_agent_messages_per_minute": 20, "protection.max_chain_depth": 30}"#;
    for text in [nested, dotted] {
        let (imported, policy) = import(text);
        assert_eq!(imported.kind, ImportKind::Protection);
        assert_eq!(policy.base().inbox.max_messages_per_minute.get(), 20);
        assert_eq!(policy.base().conversation.max_messages.get(), 30);
    }
}

#[test]
fn deletes_in_a_window_become_destructive_limits() {
    let (imported, policy) = import(r#"{"max_deletes": 5, "window_s": 90}"#);
    assert_eq!(imported.kind, ImportKind::Deletes);
    assert_eq!(
        imported.toml,
        "[destructive]\nmax_calls = 5\nwindow = \"90s\"\n"
    );
    assert_eq!(policy.base().destructive.window, Millis(90_000));
}

#[test]
fn what_is_beyond_a_policy_is_lowered_and_told() {
    let (imported, _) = import(r#"{"maxTotalCalls": 100000, "maxDuration": 1000000}"#);
    assert_eq!(
        told(&imported),
        [
            "maxDuration → flow.max_duration = \"1d\", the most it may be, instead of 1000000",
            "maxTotalCalls → flow.max_calls = 4096, the most it may be, instead of 100000",
        ]
    );
}

#[test]
fn a_kind_that_is_given_is_not_guessed() {
    let text = r#"{"maxDepth": 4, "max_deletes": 5}"#;
    assert_eq!(
        from_json(text, None, &ImportScope::Everyone).unwrap().kind,
        ImportKind::RecursionLimits
    );
    let imported = from_json(text, Some(ImportKind::Deletes), &ImportScope::Everyone).unwrap();
    assert_eq!(imported.toml, "[destructive]\nmax_calls = 5\n");
    assert_eq!(
        from_json(text, Some(ImportKind::Protection), &ImportScope::Everyone),
        Err(ImportError::Unknown)
    );
}

#[test]
fn what_can_not_be_imported_is_refused_with_the_reason() {
    for (text, message) in [
        (
            r#"{"maxDepth": 0}"#,
            "maxDepth: must be a whole number from 1, not 0",
        ),
        (
            r#"{"maxDepth": "4"}"#,
            "maxDepth: must be a whole number from 1, not \"4\"",
        ),
        (
            r#"{"window_s": 1.5}"#,
            "window_s: must be a whole number from 1, not 1.5",
        ),
        (
            "{",
            "this is not JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "[]",
            "a file of limits is a JSON object; this one is something else",
        ),
    ] {
        assert_eq!(
            from_json(text, None, &ImportScope::Everyone)
                .unwrap_err()
                .to_string(),
            message,
            "{text}"
        );
    }
    let unknown = from_json(r#"{"depth": 4}"#, None, &ImportScope::Everyone)
        .unwrap_err()
        .to_string();
    assert!(unknown.starts_with("no known limits in this file: it has none of `maxDepth`"));
    assert!(unknown.contains("`protection.max_chain_depth` (settings)"));
}

#[test]
fn limits_for_one_session_or_agent_are_not_imported_for_everyone() {
    let text = r#"{"maxDepth": 2, "maxRevisits": 3}"#;
    let own = |scope| {
        let imported = from_json(text, None, &scope).unwrap();
        let policy = Policy::from_toml(&imported.toml).unwrap();
        (imported.toml, policy)
    };
    let (toml, policy) = own(ImportScope::Session("coder \"1\"".to_owned()));
    assert_eq!(
        toml,
        "[[override]]\nsession = \"coder \\\"1\\\"\"\n\n[override.rules]\n\"flow.revisits\" = \"enforce\"\n\n\
         [override.flow]\nmax_depth = 2\nmax_revisits = 3\n"
    );
    let depth = |agent, session| policy.limits_for(agent, session).flow.max_depth.get();
    assert_eq!(depth(None, "coder \"1\""), 2);
    assert_eq!(depth(None, "another"), 5);
    let (_, policy) = own(ImportScope::Agent("coder-*".to_owned()));
    let depth = |agent, session| policy.limits_for(agent, session).flow.max_depth.get();
    assert_eq!(depth(Some("coder-7"), "s"), 2);
    assert_eq!(depth(Some("reviewer"), "s"), 5);
}
