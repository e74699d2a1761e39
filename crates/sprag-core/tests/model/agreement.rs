//! The engine against the model on random histories.

use sprag_core::{Decision, Observation};

use super::coverage::Coverage;
use super::engine::{Answer, Engine, Start, divergence, model};
use super::generator::{Habits, history};
use super::judge::Model;
use super::real_engine::real_engine;
use super::seeds::{fold_seeds, policy_of};
use super::shrink::Case;

/// Holds an engine against the model on this many histories and tells the first divergence.
fn hold(engine: Start, count: u64) -> Option<String> {
    let engines = (model as Start, engine);
    let found = fold_seeds(
        count,
        policy_of,
        |found: &mut Option<String>, seed, policy, samples| {
            if found.is_some() {
                return;
            }
            let events = history(seed, samples, Habits::ALL);
            if divergence(engines, policy, &events).is_some() {
                let case = Case {
                    policy: policy.written.clone(),
                    events,
                };
                let told = case.shrink(engines).tell(engines);
                *found = Some(format!("seed {seed}\n{told}"));
            }
        },
    );
    found.into_iter().flatten().next()
}

#[test]
fn random_histories_make_every_rule_say_all_it_can() {
    let [mut coverage, other] = fold_seeds(
        20_000,
        policy_of,
        |coverage: &mut Coverage, seed, policy, samples| {
            let events = history(seed, samples, Habits::ALL);
            let mut model = Model::new(&policy.policy);
            for event in &events {
                coverage.add(&model.check(event));
            }
        },
    );
    coverage.merge(other);
    let rare = coverage.rare(25);
    assert!(rare.is_empty(), "said too rarely:\n{}", rare.join("\n"));
}

/// How many histories the engine is held against the model on.
#[expect(
    clippy::disallowed_methods,
    reason = "the soak asks for more histories than a test run"
)]
fn histories() -> u64 {
    match std::env::var("SPRAG_HISTORIES") {
        Ok(count) => count.parse().expect("SPRAG_HISTORIES is a number"),
        Err(_) => 100_000,
    }
}

#[test]
fn the_engine_agrees_with_the_model_on_random_histories() {
    if let Some(told) = hold(real_engine, histories()) {
        panic!("the engine and the model disagree\n{told}");
    }
}

/// A model that overlooks what is due after a pause of an hour.
struct Faulty<'a> {
    model: Model<'a>,
    last: u64,
}

impl<'a> Engine<'a> for Faulty<'a> {
    fn check(&mut self, event: &'a Observation) -> Answer {
        let paused = event.at.0 > self.last + 3_600_000;
        self.last = event.at.0;
        let mut answer = self.model.check(event);
        if let Ok(verdict) = &mut answer
            && paused
            && verdict.decision == Decision::Deny
        {
            verdict.decision = Decision::Allow;
        }
        answer
    }
}

#[test]
fn a_planted_fault_is_found_and_shrunk_to_what_matters() {
    let faulty: Start = |policy| {
        Box::new(Faulty {
            model: Model::new(&policy.policy),
            last: u64::MAX - 3_600_000,
        })
    };
    let told = hold(faulty, 5_000).expect("the fault is found");
    let events = told.lines().filter(|line| line.starts_with('{')).count();
    assert!(events <= 4, "not small:\n{told}");
    assert!(told.contains("\n    model  "), "not told:\n{told}");
}
