//! Random policies: small limits, so that short histories reach them, but never all at once, so
//! that no rule hides behind another.

use serde_json::{Map, Value, json};
use sprag_core::RuleId;

use super::random::Dice;

/// A policy as a person would write it.
pub(crate) fn policy(dice: &mut Dice) -> Value {
    let mut policy = sections(dice);
    policy.insert("rules".into(), Value::Object(rules(dice)));
    let overrides: Vec<Value> = (0..dice.weighted(&[(60, 0), (25, 1), (15, 3)]))
        .map(|_| an_override(dice))
        .collect();
    policy.insert("override".into(), Value::Array(overrides));
    let mut policy = Value::Object(policy);
    if dice.chance(15) {
        judge_no_steps(&mut policy);
    }
    policy
}

/// The default classifier, which the model does not know, with its rules off: whatever else there
/// is must not depend on how steps are judged.
fn judge_no_steps(policy: &mut Value) {
    silence_progress(policy);
    for one in policy["override"].as_array_mut().into_iter().flatten() {
        silence_progress(one);
    }
    policy["progress"] = json!({"classifier": "informed"});
    policy["rules"]["progress.*"] = json!("off");
}

fn silence_progress(policy: &mut Value) {
    if let Some(Value::Object(rules)) = policy.get_mut("rules") {
        rules.retain(|rule, _| !rule.starts_with("progress."));
    }
}

fn an_override(dice: &mut Dice) -> Value {
    let mut keys = sections(dice);
    keys.retain(|_, _| dice.chance(40));
    // How steps are judged is the same for all: the model knows one classifier.
    keys.remove("progress");
    let (whom, name) = *dice.pick(&[
        ("agent", "w"),
        ("agent", "bulk-*"),
        ("agent", "*"),
        ("session", "a"),
        ("session", "a/*"),
        ("session", "b"),
    ]);
    keys.insert(whom.into(), name.into());
    if dice.chance(30) {
        keys.insert("rules".into(), Value::Object(some_modes(dice, 10)));
    }
    Value::Object(keys)
}

/// How strict the policy is in all: most enforce most rules, some only watch.
fn rules(dice: &mut Dice) -> Map<String, Value> {
    let mut rules = match dice.below(10) {
        0..5 => Map::new(),
        5..8 => some_modes(dice, 30),
        8 => some_modes(dice, 80),
        _ => [("*".to_owned(), Value::from("shadow"))]
            .into_iter()
            .collect(),
    };
    // Off unless asked for.
    if dice.chance(60) {
        let mode = *dice.pick(&["enforce", "shadow"]);
        rules.insert("flow.revisits".into(), mode.into());
    }
    rules
}

fn some_modes(dice: &mut Dice, percent: usize) -> Map<String, Value> {
    let mut modes = Map::new();
    for rule in RuleId::ALL {
        if *rule != RuleId::SessionKilled && dice.chance(percent) {
            let mode = dice.weighted(&[(50, "shadow"), (40, "off"), (10, "enforce")]);
            modes.insert(rule.as_str().to_owned(), mode.into());
        }
    }
    modes
}

/// Each limit small in one of two policies, as it comes in the other.
fn sections(dice: &mut Dice) -> Map<String, Value> {
    let mut all = Map::new();
    for (section, keys) in [
        ("flow", flow(dice)),
        ("inbox", inbox(dice)),
        ("conversation", json!({"max_messages": dice.within(1, 3)})),
        ("access", access(dice)),
        ("call", call(dice)),
        ("destructive", destructive(dice)),
        ("session", session(dice)),
        ("budget", budget(dice)),
    ] {
        let Value::Object(mut keys) = keys else {
            continue;
        };
        keys.retain(|_, _| dice.chance(50));
        all.insert(section.into(), Value::Object(keys));
    }
    all.insert("progress".into(), progress(dice));
    all
}

fn flow(dice: &mut Dice) -> Value {
    let warn = dice.within(2, 3);
    json!({
        "max_depth": dice.within(2, 4),
        "max_sessions": dice.within(2, 4),
        "max_duration": dice.pick(&["2s", "30s", "60s", "5m", "2h"]),
        "max_calls_per_minute": dice.within(1, 5),
        "max_calls": dice.within(2, 6),
        "max_revisits": dice.within(1, 2),
        "chatter": dice.within(2, 4),
        "echo": {"warn": warn, "deny": warn + dice.within(0, 2)},
        "max_unattended": dice.within(1, 4),
    })
}

fn inbox(dice: &mut Dice) -> Value {
    json!({
        "max_messages_per_minute": dice.within(1, 4),
        "scope": dice.pick(&["session", "agent"]),
    })
}

fn access(dice: &mut Dice) -> Value {
    let allow: &[&str] = if dice.chance(20) {
        &["read", "db/*", "delete_*"]
    } else {
        &[]
    };
    json!({"deny": ["rm_*", "shell/*"], "allow": allow})
}

fn call(dice: &mut Dice) -> Value {
    json!({
        "max_identical": dice.within(1, 4),
        "window": dice.pick(&["2s", "10s", "60s"]),
        "repeat": dice.within(2, 4),
    })
}

fn destructive(dice: &mut Dice) -> Value {
    json!({
        "max_calls": dice.within(1, 5),
        "max_same_target": dice.within(1, 3),
        "window": dice.pick(&["2s", "10s", "60s"]),
        "scope": dice.pick(&["session", "agent"]),
        "trust_hints": dice.chance(50),
    })
}

fn session(dice: &mut Dice) -> Value {
    json!({"max_refused": dice.within(1, 3), "human_unblocks": dice.chance(50)})
}

fn progress(dice: &mut Dice) -> Value {
    let stagnation = dice.within(1, 2);
    let stuck = dice.within(1, 2);
    json!({
        "classifier": "plain",
        "stagnation": {"warn": stagnation, "block": stagnation + dice.within(1, 2)},
        "stuck": {"warn": stuck, "block": stuck + dice.within(1, 2)},
    })
}

fn budget(dice: &mut Dice) -> Value {
    let mut budget = json!({"actions": dice.within(1, 6), "strict": dice.chance(50)});
    for (key, amounts) in [
        ("tokens", [json!(25), json!(50), json!(100)]),
        ("cost_usd", [json!(0.0001), json!(0.00025), json!(0.0005)]),
        ("time", [json!("2s"), json!("60s"), json!("3h")]),
    ] {
        let mut scopes = Map::new();
        for scope in ["session", "flow", "agent_day"] {
            if dice.chance(50) {
                scopes.insert(scope.into(), dice.pick(&amounts).clone());
            }
        }
        if dice.chance(50) {
            budget[key] = Value::Object(scopes);
        }
    }
    budget
}
