//! The engine against the model on random histories.

use sprag_core::{Decision, Observation, Observed};

use super::coverage::Coverage;
use super::engine::{Answer, CasePolicy, Engine, Start, divergence, model};
use super::generator::{Habits, history};
use super::judge::Model;
use super::real_engine::real_engine;
use super::seeds::{asking_policy_of, fold_seeds, policy_of};
use super::shrink::Case;

/// Holds an engine against the model on this many histories and tells the first divergence.
fn hold(
    engine: Start,
    count: u64,
    (policy_of, habits): (fn(u64) -> CasePolicy, Habits),
) -> Option<String> {
    let engines = (model as Start, engine);
    let found = fold_seeds(
        count,
        policy_of,
        |found: &mut Option<String>, seed, policy, samples| {
            if found.is_some() {
                return;
            }
            let events = history(seed, samples, habits);
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
    if let Some(told) = hold(real_engine, histories(), (policy_of, Habits::ALL)) {
        panic!("the engine and the model disagree\n{told}");
    }
}

const ANSWERS: Habits = Habits {
    answers: true,
    ..Habits::ALL
};

#[test]
fn the_engine_agrees_with_the_model_on_questions_and_answers() {
    if let Some(told) = hold(real_engine, histories(), (asking_policy_of, ANSWERS)) {
        panic!("the engine and the model disagree\n{told}");
    }
}

#[test]
fn random_histories_ask_approve_decline_and_let_run() {
    let [first, second] = fold_seeds(
        10_000,
        asking_policy_of,
        |seen: &mut [usize; 5], seed, policy, samples| {
            let events = history(seed, samples, ANSWERS);
            let mut model = Model::new(&policy.policy);
            for event in &events {
                let answer = model.check(event);
                let Ok(verdict) = answer else { continue };
                let place = match (&event.what, verdict.decision, verdict.approval) {
                    (Observed::Call(_), Decision::Ask, _) => 0,
                    (Observed::Call(_), _, Some(_)) => 1,
                    (Observed::Step(_), _, Some(_)) => 2,
                    (Observed::Approve(_), _, _) => 3,
                    (Observed::Decline(_), _, _) => 4,
                    _ => continue,
                };
                seen[place] += 1;
            }
        },
    );
    let seen: Vec<usize> = first
        .iter()
        .zip(second)
        .map(|(one, other)| one + other)
        .collect();
    assert!(seen.iter().all(|count| *count >= 25), "{seen:?}");
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
    let told = hold(faulty, 5_000, (policy_of, Habits::ALL)).expect("the fault is found");
    let events = told.lines().filter(|line| line.starts_with('{')).count();
    assert!(events <= 4, "not small:\n{told}");
    assert!(told.contains("\n    model  "), "not told:\n{told}");
}
