//! The vectors: the model must be right itself before anything is held against it.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use sprag_core::{Decision, DigestKey, Digester, Event, Observation, Policy};

use sprag_effects::CommandReader;

use super::engine::{CasePolicy, ENGINES, Start, answers};
use super::record::ModelVerdict;

#[derive(Deserialize)]
struct Scenario {
    name: String,
    policy: Value,
    events: Vec<Expected>,
    #[serde(default)]
    overall: Overall,
}

#[derive(Deserialize)]
struct Expected {
    event: Value,
    expect: Value,
}

/// What must hold of a scenario as a whole; events are counted from 1.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Overall {
    #[serde(default)]
    silent: bool,
    stop_by: Option<usize>,
    not_before: Option<usize>,
}

#[test]
fn model_and_engine_pass_the_vectors_of_calls() {
    pass(include_str!("../vectors/calls.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_flows() {
    pass(include_str!("../vectors/flow.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_inboxes() {
    pass(include_str!("../vectors/inbox.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_steps() {
    pass(include_str!("../vectors/steps.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_approvals() {
    pass(include_str!("../vectors/approvals.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_spend() {
    pass(include_str!("../vectors/spend.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_news_and_of_deletes_with_a_user() {
    pass(include_str!("../vectors/news.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_storms() {
    pass(include_str!("../vectors/storms.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_effects() {
    pass(include_str!("../vectors/effects.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_outputs() {
    pass(include_str!("../vectors/outputs.json"));
}

#[test]
fn model_and_engine_pass_the_vectors_of_reruns() {
    pass(include_str!("../vectors/reruns.json"));
}

fn pass(vectors: &str) {
    let scenarios: Vec<Scenario> = serde_json::from_str(vectors).expect("scenarios");
    for engine in ENGINES {
        let failures: Vec<String> = scenarios
            .iter()
            .flat_map(|scenario| failures(*engine, scenario))
            .collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}

fn observe(event: &Value, policy: &Policy) -> Observation {
    let event = Event::from_value(event).expect("an event");
    let at = event.at().expect("a time");
    let digester = Digester::new(DigestKey::fixed()).with_effects(Arc::new(CommandReader));
    digester
        .observe(&event, at, policy)
        .expect("an observation")
}

fn failures(engine: Start, scenario: &Scenario) -> Vec<String> {
    let policy = CasePolicy::new(scenario.policy.clone());
    let digested = Policy::from_value(&scenario.policy).expect("a policy");
    let events = scenario.events.iter();
    let events: Vec<Observation> = events.map(|e| observe(&e.event, &digested)).collect();
    let told: Vec<ModelVerdict> = answers(engine, &policy, &events)
        .into_iter()
        .map(|answer| answer.expect("no event is an error"))
        .collect();
    let wrong = |(at, (told, expected)): (usize, (&ModelVerdict, &Expected))| {
        let missed = missed(told, &expected.expect)?;
        let number = at + 1;
        Some(format!(
            "{}: event {number}: {missed} in {told:?}",
            scenario.name
        ))
    };
    let pairs = told.iter().zip(&scenario.events).enumerate();
    pairs
        .filter_map(wrong)
        .chain(missed_overall(scenario, &told))
        .collect()
}

/// The first expected field that was told differently. Texts and evidence are not the model's.
fn missed(told: &ModelVerdict, expect: &Value) -> Option<String> {
    let would = told.would;
    let wire = serde_json::json!({
        "verdict": told.decision, "rule": told.rule, "code": told.code, "flow": told.flow,
        "depth": told.depth, "generation": told.generation, "approval": told.approval,
    });
    let would =
        would.map(|(decision, rule)| serde_json::json!({"verdict": decision, "rule": rule}));
    let fields = expect.as_object().expect("what is expected is an object");
    fields
        .iter()
        .find(|(key, value)| match key.as_str() {
            "message" | "evidence" => false,
            "would" => would.as_ref() != Some(value),
            key => wire.get(key).expect("a field of a verdict") != *value,
        })
        .map(|(key, value)| format!("expected {key} {value}"))
}

fn missed_overall(scenario: &Scenario, told: &[ModelVerdict]) -> Option<String> {
    let first = |least: Decision| {
        let at = told.iter().position(|verdict| verdict.decision >= least);
        at.map_or(usize::MAX, |at| at + 1)
    };
    let Overall {
        silent,
        stop_by,
        not_before,
    } = scenario.overall;
    let is_late = stop_by.is_some_and(|by| first(Decision::Deny) > by);
    let is_early = not_before.is_some_and(|at| first(Decision::Warn) < at);
    let is_loud = silent && first(Decision::Warn) != usize::MAX;
    (is_late || is_early || is_loud)
        .then(|| format!("{}: stopped too late or too early", scenario.name))
}
