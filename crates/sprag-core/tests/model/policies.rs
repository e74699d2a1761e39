//! Random policies: small limits, so that short histories reach them, but never all at once, so
//! that no rule hides behind another.

use serde_json::{Map, Value, json};
use sprag_core::RuleId;

use super::rng::Rng;

/// A policy as a person would write it.
pub(crate) fn policy(rng: &mut Rng) -> Value {
    let mut policy = sections(rng);
    policy.insert("rules".into(), Value::Object(rules(rng)));
    let overrides: Vec<Value> = (0..rng.weighted(&[(60, 0), (25, 1), (15, 3)]))
        .map(|_| an_override(rng))
        .collect();
    policy.insert("override".into(), Value::Array(overrides));
    let mut policy = Value::Object(policy);
    if rng.chance(15) {
        judge_no_steps(&mut policy);
    }
    policy
}

/// A policy under which most rules that can ask do, and some questions expire quickly.
pub(crate) fn policy_that_asks(rng: &mut Rng) -> Value {
    let mut policy = policy(rng);
    for rule in RuleId::ALL {
        if rule.can_ask() && rng.chance(60) {
            policy["rules"][rule.as_str()] = json!("ask");
        }
    }
    policy["ask"] = json!({"expires": rng.pick(&["2s", "30s", "10m", "2h"])});
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

fn an_override(rng: &mut Rng) -> Value {
    let mut keys = sections(rng);
    keys.retain(|_, _| rng.chance(40));
    // How steps are judged is the same for all: the model knows one classifier.
    keys.remove("progress");
    let (whom, name) = *rng.pick(&[
        ("agent", "w"),
        ("agent", "bulk-*"),
        ("agent", "*"),
        ("session", "a"),
        ("session", "a/*"),
        ("session", "b"),
    ]);
    keys.insert(whom.into(), name.into());
    if rng.chance(30) {
        keys.insert("rules".into(), Value::Object(some_modes(rng, 10)));
    }
    Value::Object(keys)
}

/// How strict the policy is in all: most enforce most rules, some only watch.
fn rules(rng: &mut Rng) -> Map<String, Value> {
    let mut rules = match rng.below(10) {
        0..5 => Map::new(),
        5..8 => some_modes(rng, 30),
        8 => some_modes(rng, 80),
        _ => [("*".to_owned(), Value::from("shadow"))]
            .into_iter()
            .collect(),
    };
    // Off unless asked for.
    if rng.chance(60) {
        let mode = *rng.pick(&["enforce", "shadow"]);
        rules.insert("flow.revisits".into(), mode.into());
    }
    rules
}

fn some_modes(rng: &mut Rng, percent: usize) -> Map<String, Value> {
    let mut modes = Map::new();
    for rule in RuleId::ALL {
        if rule.has_mode() && rng.chance(percent) {
            let mode = rng.weighted(&[(50, "shadow"), (40, "off"), (10, "enforce")]);
            modes.insert(rule.as_str().to_owned(), mode.into());
        }
    }
    modes
}

/// Each limit small in one of two policies, as it comes in the other.
fn sections(rng: &mut Rng) -> Map<String, Value> {
    let mut all = Map::new();
    for (section, keys) in [
        ("flow", flow(rng)),
        ("inbox", inbox(rng)),
        ("conversation", json!({"max_messages": rng.within(1, 3)})),
        ("access", access(rng)),
        ("call", call(rng)),
        ("destructive", destructive(rng)),
        ("session", session(rng)),
        ("output", output(rng)),
        ("budget", budget(rng)),
    ] {
        let Value::Object(mut keys) = keys else {
            continue;
        };
        keys.retain(|_, _| rng.chance(50));
        all.insert(section.into(), Value::Object(keys));
    }
    all.insert("progress".into(), progress(rng));
    all
}

fn flow(rng: &mut Rng) -> Value {
    let warn = rng.within(2, 3);
    json!({
        "max_depth": rng.within(2, 4),
        "max_sessions": rng.within(2, 4),
        "max_duration": rng.pick(&["2s", "30s", "60s", "5m", "2h"]),
        "max_calls_per_minute": rng.within(1, 5),
        "max_calls": rng.within(2, 6),
        "max_revisits": rng.within(1, 2),
        "chatter": rng.within(2, 4),
        "echo": {"warn": warn, "deny": warn + rng.within(0, 2)},
        "max_unattended": rng.within(1, 4),
        "spawns": spawns(rng),
    })
}

fn spawns(rng: &mut Rng) -> Value {
    let (warn, root_warn) = (rng.within(1, 2), rng.within(1, 3));
    json!({
        "warn": warn,
        "deny": warn + rng.within(0, 2),
        "root_warn": root_warn,
        "root_deny": root_warn + rng.within(0, 2),
        "per_minute": rng.within(1, 3),
    })
}

fn inbox(rng: &mut Rng) -> Value {
    json!({
        "max_messages_per_minute": rng.within(1, 4),
        "scope": rng.pick(&["session", "agent"]),
    })
}

fn access(rng: &mut Rng) -> Value {
    let allow: &[&str] = if rng.chance(20) {
        &["read", "db/*", "delete_*"]
    } else {
        &[]
    };
    json!({"deny": ["rm_*", "shell/*"], "allow": allow})
}

fn call(rng: &mut Rng) -> Value {
    json!({
        "max_identical": rng.within(1, 4),
        "window": rng.pick(&["2s", "10s", "60s"]),
        "repeat": rng.within(2, 4),
    })
}

fn destructive(rng: &mut Rng) -> Value {
    json!({
        "max_calls": rng.within(1, 5),
        "max_same_target": rng.within(1, 3),
        "window": rng.pick(&["2s", "10s", "60s"]),
        "scope": rng.pick(&["session", "agent"]),
        "trust_hints": rng.chance(50),
    })
}

fn session(rng: &mut Rng) -> Value {
    json!({
        "max_refused": rng.within(1, 3),
        "human_unblocks": rng.chance(50),
        "rerun": rng.within(1, 2),
    })
}

fn output(rng: &mut Rng) -> Value {
    let warn = rng.within(1, 2);
    json!({"repeat": {"warn": warn, "block": warn + rng.within(1, 2)}})
}

fn progress(rng: &mut Rng) -> Value {
    let stagnation = rng.within(1, 2);
    let stuck = rng.within(1, 2);
    json!({
        "classifier": "plain",
        "stagnation": {"warn": stagnation, "block": stagnation + rng.within(1, 2)},
        "stuck": {"warn": stuck, "block": stuck + rng.within(1, 2)},
    })
}

fn budget(rng: &mut Rng) -> Value {
    let mut budget = json!({"actions": rng.within(1, 6), "strict": rng.chance(50)});
    for (key, amounts) in [
        ("tokens", [json!(25), json!(50), json!(100)]),
        ("cost_usd", [json!(0.0001), json!(0.00025), json!(0.0005)]),
        ("time", [json!("2s"), json!("60s"), json!("3h")]),
    ] {
        let mut scopes = Map::new();
        for scope in ["session", "flow", "agent_day"] {
            if rng.chance(50) {
                scopes.insert(scope.into(), rng.pick(&amounts).clone());
            }
        }
        if rng.chance(50) {
            budget[key] = Value::Object(scopes);
        }
    }
    budget
}
