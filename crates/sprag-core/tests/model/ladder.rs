//! The ladder ends: who makes no progress is blocked, who defies is killed, and between two words of
//! a user only so much happens.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sprag_core::{
    Approach, Decision, Id, Identity, MessageKind, Observation, Observed, Outcome, RuleId, Source,
    Step, Timestamp, Tone,
};

use super::engine::{CasePolicy, ENGINES, answers};
use super::generator::{Habits, history};
use super::marks::actor;
use super::real_engine::real_engine;
use super::record::ModelVerdict;
use super::rng::Rng;
use super::samples::{Samples, call, id, outcome, program};
use super::seeds::{each_seed, policy_of};

#[test]
fn an_agent_of_few_approaches_whose_outcomes_are_never_new_is_blocked() {
    let samples = Samples::new();
    let policy = CasePolicy::new(json!({"progress": {"classifier": "plain"}}));
    for engine in ENGINES {
        for seed in 0..2_000 {
            let mut rng = Rng::new(seed);
            let approaches = rng.within(1, samples.programs.len());
            // Each new approach may undo a streak of four once.
            let bound = 5 * (approaches + 1);
            let events: Vec<Observation> = (0..bound)
                .map(|_| step(&samples, rng.below(approaches)))
                .collect();
            let told = answers(*engine, &policy, &events);
            let is_blocked = told
                .iter()
                .flatten()
                .any(|told| told.decision == Decision::Block);
            assert!(is_blocked, "seed {seed}: {told:?}");
        }
    }
}

#[test]
fn an_agent_that_always_meets_the_same_failure_is_blocked_by_the_default_classifier() {
    let policy = CasePolicy::new(json!({}));
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let (known, newness) = (rng.within(1, 9), *rng.pick(&[0, 10, 50, 90, 100]));
        let events: Vec<Observation> = (0..40)
            .map(|at| {
                let number = match rng.chance(newness) {
                    true => 100 + at,
                    false => rng.below(known),
                };
                let failure = Outcome {
                    is_error: true,
                    tone: Tone::Failure,
                    ..outcome("same")
                };
                step_with(at, program(&format!("print({number})")), failure)
            })
            .collect();
        let told = answers(real_engine, &policy, &events);
        let mut decisions = told.iter().flatten().map(|told| told.decision);
        assert!(
            decisions.any(|told| told == Decision::Block),
            "seed {seed}: {told:?}"
        );
    }
}

#[test]
fn an_agent_that_mixes_known_long_answers_is_blocked_by_the_default_classifier() {
    let policy = CasePolicy::new(json!({}));
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let answers_known = rng.within(2, 9);
        let newness = *rng.pick(&[0, 50, 100]);
        let events: Vec<Observation> = (0..420)
            .map(|at| {
                let number = match rng.chance(newness) {
                    true => 100 + at,
                    false => rng.below(9),
                };
                let answer = Outcome {
                    long: true,
                    ..outcome(&format!("answer {}", rng.below(answers_known)))
                };
                step_with(at, program(&format!("print({number})")), answer)
            })
            .collect();
        let told = answers(real_engine, &policy, &events);
        let mut decisions = told.iter().flatten().map(|told| told.decision);
        assert!(
            decisions.any(|told| told == Decision::Block),
            "seed {seed}: {told:?}"
        );
    }
}

fn step(samples: &Samples, approach: usize) -> Observation {
    step_of(0, samples.programs[approach].clone())
}

/// The step that ends in the same way, as many seconds after the first.
fn step_of(seconds: usize, approach: Approach) -> Observation {
    step_with(seconds, approach, outcome("same"))
}

fn step_with(seconds: usize, approach: Approach, outcome: Outcome) -> Observation {
    let step = Step {
        session: id("s"),
        agent: None,
        flow: None,
        id: None,
        use_id: None,
        approach: Some(approach),
        outcome,
        generation: None,
        identity: Identity::Exact,
        via: sprag_core::Via::default(),
        family: None,
    };
    Observation::new(Timestamp(1_000 * seconds as u64), Observed::Step(step))
}

#[test]
fn an_agent_that_goes_on_against_refusals_is_blocked_and_then_killed() {
    for engine in ENGINES {
        for seed in 0..2_000 {
            let mut rng = Rng::new(seed);
            let max = rng.within(1, 10);
            let policy = CasePolicy::new(json!({
                "access": {"deny": ["rm_*"]}, "session": {"max_refused": max},
            }));
            let mut at = 0;
            let events: Vec<Observation> = (0..2 * max)
                .map(|_| {
                    at += *rng.pick(&[1_000, 1_001, 60_000, 3_600_000]);
                    let args = [("n", *rng.pick(&["1", "2"]))];
                    let tool = *rng.pick(&["rm_all", "rm_x"]);
                    refused_call(at, tool, &args)
                })
                .collect();
            let told: Vec<Decision> = answers(*engine, &policy, &events)
                .into_iter()
                .map(|answer| answer.expect("an answer").decision)
                .collect();
            let expected = |count| match count {
                _ if count == 2 * max => Decision::Kill,
                _ if count == max => Decision::Block,
                _ => Decision::Deny,
            };
            let expected: Vec<Decision> = (1..=2 * max).map(expected).collect();
            assert_eq!(told, expected, "seed {seed}");
        }
    }
}

fn refused_call(at: u64, tool: &str, args: &[(&str, &str)]) -> Observation {
    let call = sprag_core::Call {
        session: id("s"),
        agent: None,
        flow: None,
        id: None,
        use_id: None,
        approach: call(None, tool, args),
        hints: sprag_core::Hints::default(),
        turn: None,
        effects: Vec::new(),
        unparsed: false,
        orders_guard: false,
        path_reach: None,
        root: None,
        dialog: false,
        generation: None,
        identity: Identity::Exact,
        via: sprag_core::Via::default(),
        family: None,
    };
    Observation::new(Timestamp(at), Observed::Call(call))
}

/// What one session did since a user was last heard there.
#[derive(Debug, Default)]
struct UserGap {
    heard: Option<Timestamp>,
    actions: usize,
}

/// Follows the words of users through a history and counts what happens in between.
#[derive(Debug, Default)]
struct UserGaps {
    started: BTreeMap<Id, Timestamp>,
    stretches: BTreeMap<Id, UserGap>,
}

impl UserGaps {
    /// The most actions that any session has made since its user's last word, where it counts.
    fn most(&self, is_strict: bool) -> usize {
        let bounded = self.stretches.values();
        bounded
            .filter(|stretch| is_strict || stretch.heard.is_some())
            .map(|stretch| stretch.actions)
            .max()
            .unwrap_or(0)
    }

    fn see(&mut self, event: &Observation, verdict: &ModelVerdict) {
        let is_gated = verdict.rule == Some(RuleId::SessionKilled)
            && verdict.decision == Decision::Kill
            || verdict.rule == Some(RuleId::SessionPanic);
        let is_usage = matches!(event.what, Observed::Usage(_) | Observed::Output(_));
        if let Some((session, _)) = actor(event).filter(|_| !is_gated && !is_usage) {
            self.stretches.entry(session.clone()).or_default().actions += 1;
        }
        match &event.what {
            Observed::Reset(order) => drop(self.stretches.remove(&order.session)),
            Observed::Message(message) if !verdict.decision.refuses() => {
                let is_user = message.from.is_none() && message.source == Source::User;
                if is_user {
                    let flows = message.flow.iter().cloned();
                    self.started.extend(flows.map(|flow| (flow, event.at)));
                    self.stretches.remove(&message.to);
                    self.hear(&message.to, event.at);
                } else if message.from.is_some() && message.kind != MessageKind::Return {
                    let flow = verdict.flow.as_ref();
                    let started = flow.and_then(|flow| self.started.get(flow)).copied();
                    started
                        .into_iter()
                        .for_each(|at| self.hear(&message.to, at));
                }
            }
            _ => {}
        }
    }

    fn hear(&mut self, session: &Id, at: Timestamp) {
        let stretch = self.stretches.entry(session.clone()).or_default();
        if stretch.heard < Some(at) {
            *stretch = UserGap {
                heard: Some(at),
                actions: 0,
            };
        }
    }
}

/// The policy of a seed with one budget for all.
fn policy_with_budget(seed: u64) -> CasePolicy {
    let mut policy = policy_of(seed).written;
    for one in policy["override"].as_array_mut().into_iter().flatten() {
        let keys = one.as_object_mut().expect("an override is an object");
        keys.remove("budget");
        keys.remove("rules");
    }
    let mut rng = Rng::new(seed);
    policy["budget"] = json!({"actions": rng.within(1, 5), "strict": rng.chance(50)});
    policy["rules"]["budget.actions"] = Value::from("enforce");
    CasePolicy::new(policy)
}

#[test]
fn between_two_words_of_a_user_at_most_twice_the_budget_and_one_action_happen() {
    let habits = Habits {
        shared: 0,
        ..Habits::SHORT
    };
    each_seed(10_000, policy_with_budget, |seed, policy, samples| {
        let budget = policy.policy.limits_for(None, "a").budget.clone();
        let events = history(seed, samples, habits);
        for engine in ENGINES {
            let mut watch = UserGaps::default();
            for (event, answer) in events.iter().zip(answers(*engine, policy, &events)) {
                answer.iter().for_each(|verdict| watch.see(event, verdict));
                let most = watch.most(budget.strict);
                let bound = 2 * budget.actions as usize + 1;
                assert!(most <= bound, "seed {seed}: {most} actions at {event:?}");
            }
        }
    });
}
