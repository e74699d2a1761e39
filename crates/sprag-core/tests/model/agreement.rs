//! The engine against the model on random histories.

use std::thread;

use sprag_core::{Decision, Observation};

use super::coverage::Coverage;
use super::engine::{Answer, CasePolicy, Engine, Start, divergence, model};
use super::generator::{Habits, history};
use super::judge::Model;
use super::policies;
use super::random::Dice;
use super::shrink::Case;
use super::stock::Stock;

/// How many histories in a row are judged under one policy.
const HISTORIES_PER_POLICY: u64 = 64;

/// The policy of the histories from this seed on.
pub(crate) fn policy_of(seed: u64) -> CasePolicy {
    let block = seed / HISTORIES_PER_POLICY;
    CasePolicy::new(policies::policy(&mut Dice::new(!block)))
}

/// Calls `visit` with every seed below `count` and its policy, on two threads.
pub(crate) fn each_seed<T: Send>(
    count: u64,
    visit: impl Fn(&mut T, u64, &CasePolicy, &Stock) + Sync,
    start: impl Fn() -> T + Sync,
) -> [T; 2] {
    let work = |first: u64| {
        let stock = Stock::new();
        let mut state = start();
        let blocks = (first..count.div_ceil(HISTORIES_PER_POLICY)).step_by(2);
        for block in blocks {
            let seeds =
                block * HISTORIES_PER_POLICY..((block + 1) * HISTORIES_PER_POLICY).min(count);
            let policy = policy_of(seeds.start);
            for seed in seeds {
                visit(&mut state, seed, &policy, &stock);
            }
        }
        state
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| work(1));
        let one = work(0);
        [one, other.join().expect("the other half")]
    })
}

/// Holds an engine against the model on this many histories and tells the first divergence.
fn hold(engine: Start, count: u64) -> Option<String> {
    let engines = (model as Start, engine);
    let found = each_seed(
        count,
        |found: &mut Option<String>, seed, policy, stock| {
            if found.is_some() {
                return;
            }
            let events = history(seed, stock, Habits::ALL);
            if divergence(engines, policy, &events).is_some() {
                let case = Case {
                    policy: policy.written.clone(),
                    events,
                };
                let told = case.shrink(engines).tell(engines);
                *found = Some(format!("seed {seed}\n{told}"));
            }
        },
        || None,
    );
    found.into_iter().flatten().next()
}

#[test]
fn random_histories_make_every_rule_say_all_it_can() {
    let [mut coverage, other] = each_seed(
        20_000,
        |coverage: &mut Coverage, seed, policy, stock| {
            let events = history(seed, stock, Habits::ALL);
            let mut model = Model::new(&policy.limits);
            for event in &events {
                if let Ok(verdict) = model.check(event) {
                    coverage.add(&verdict);
                }
            }
        },
        Coverage::default,
    );
    coverage.merge(other);
    let rare = coverage.rare(80);
    assert!(rare.is_empty(), "said too rarely:\n{}", rare.join("\n"));
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
            model: Model::new(&policy.limits),
            last: u64::MAX - 3_600_000,
        })
    };
    let told = hold(faulty, 5_000).expect("the fault is found");
    let events = told.lines().filter(|line| line.starts_with('{')).count();
    assert!(events <= 4, "not small:\n{told}");
    assert!(told.contains("\n    model  "), "not told:\n{told}");
}
