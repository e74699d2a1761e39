//! What only the person is told: how long an agent has waited for nothing.

use serde_json::{Value, json};
use sprag::{Decision, Verdict};

use crate::histories::{history, step, user};
use crate::messages::{judge, policy};

/// Looks `apart` seconds apart, with the same answer but where `news` says another.
fn looks(count: u64, apart: u64, news: &[u64]) -> Vec<Value> {
    let at = |n: u64| 1_760_000_000_000 + n * apart * 1_000;
    (0..count)
        .flat_map(|n| {
            let state = if news.contains(&n) {
                format!("phase {n}")
            } else {
                "the frob is blue".to_owned()
            };
            let mut events = step(n, "zwobulate", json!({"unit": 4}), &state);
            events[0]["at"] = json!(at(n));
            events[1]["at"] = json!(at(n) + 300);
            events
        })
        .collect()
}

fn noticed(verdicts: &[Verdict]) -> Vec<(usize, &str)> {
    let told = verdicts.iter().enumerate();
    told.filter_map(|(n, verdict)| Some((n / 2 + 1, verdict.notice.as_deref()?)))
        .collect()
}

#[test]
fn after_fifty_excused_looks_and_at_each_doubling_the_person_is_told_once() {
    let verdicts = judge(policy(&json!({})), &looks(420, 60, &[]));
    assert!(
        verdicts
            .iter()
            .all(|verdict| verdict.decision == Decision::Allow)
    );
    assert!(verdicts.iter().all(|verdict| verdict.message.is_none()));
    let noticed = noticed(&verdicts);
    // The first look is the one that the others repeat.
    let calls: Vec<usize> = noticed.iter().map(|(call, _)| *call).collect();
    assert_eq!(calls, [51, 101, 201, 401]);
    assert_eq!(
        noticed[1].1,
        "100 looks after a pause brought nothing new in 1 hour, the last by `zwobulate`. The agent waits and is not stopped."
    );
}

#[test]
fn news_a_user_and_a_rule_that_is_off_end_the_count() {
    let calls = |verdicts: &[Verdict]| {
        noticed(verdicts)
            .iter()
            .map(|told| told.0)
            .collect::<Vec<_>>()
    };
    let verdicts = judge(policy(&json!({})), &looks(90, 60, &[40]));
    assert_eq!(calls(&verdicts), Vec::<usize>::new());
    let mut spoken = looks(90, 60, &[]);
    let mut word = user();
    word["at"] = json!(1_760_000_000_000_u64 + 40 * 60_000 + 10_000);
    spoken.insert(82, word);
    assert_eq!(
        calls(&judge(policy(&json!({})), &spoken)),
        Vec::<usize>::new()
    );
    let off = policy(&json!({"rules": {"progress.stagnation": "off"}}));
    assert_eq!(calls(&judge(off, &looks(90, 60, &[]))), Vec::<usize>::new());
}

#[test]
fn of_two_warnings_in_shadow_the_one_about_the_target_is_named() {
    let twice = history("", json!({}), (0..2).map(|_| json!({"type": "call", "session": "s", "tool": "delete_asset", "args": {"asset_id": "a"}})).collect());
    for (target, volume, would, rule) in [
        ("shadow", "shadow", Some("destructive.target"), None),
        ("enforce", "shadow", None, Some("destructive.target")),
        (
            "shadow",
            "enforce",
            Some("destructive.target"),
            Some("destructive.volume"),
        ),
        ("off", "shadow", Some("destructive.volume"), None),
        ("enforce", "enforce", None, Some("destructive.target")),
    ] {
        let rules = json!({"rules": {"destructive.target": target, "destructive.volume": volume}});
        let verdicts = judge(policy(&rules), &twice.events);
        let last = verdicts.last().unwrap();
        let named = last.would.as_ref().map(|would| would.rule.as_str());
        assert_eq!(named, would, "target {target}, volume {volume}");
        let named = last.rule.map(|rule| rule.as_str());
        assert_eq!(named, rule, "target {target}, volume {volume}");
    }
}

#[test]
fn a_refusal_below_several_sessions_names_the_one_to_reset() {
    let kill = |session: &str| json!({"type": "kill", "session": session, "by": "ops@host"});
    let call = json!({"type": "call", "session": "a/b/c", "tool": "Read"});
    for (killed, named) in [
        (vec!["a"], "sprag sessions reset a --why \"…\""),
        (vec!["a/b"], "sprag sessions reset a/b --why \"…\""),
        (vec!["a", "a/b"], "sprag sessions reset a/b --why \"…\""),
        (vec!["a/b/c", "a"], "sprag sessions reset a/b/c --why \"…\""),
    ] {
        let mut events: Vec<Value> = killed.iter().map(|session| kill(session)).collect();
        events.push(call.clone());
        events.push(
            json!({"type": "message", "from": "x", "to": "a/b/c", "flow": "f", "content": "hi"}),
        );
        let verdicts = judge(policy(&json!({})), &events);
        for refusal in &verdicts[killed.len()..] {
            assert_eq!(refusal.hint.as_deref(), Some(named), "{killed:?}");
        }
        // Applied until nothing is left, the hints lift it.
        let mut resets: Vec<Value> = Vec::new();
        loop {
            let all = [
                &events[..killed.len()],
                &resets[..],
                std::slice::from_ref(&call),
            ]
            .concat();
            let verdicts = judge(policy(&json!({})), &all);
            let Some(hint) = verdicts.last().unwrap().hint.clone() else {
                break;
            };
            assert!(resets.len() < killed.len(), "{killed:?}: {hint}");
            let session = hint.split_whitespace().nth(3).unwrap();
            resets.push(json!({"type": "reset", "session": session}));
        }
    }
}
