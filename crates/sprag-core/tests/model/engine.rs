//! What can be held against the model, and what it means to agree with it.

use serde_json::Value;
use sprag_core::{Observation, Policy};

use super::judge::Model;
use super::real_engine::real_engine;
use super::record::{ModelError, ModelVerdict};

/// What an event gets.
pub(crate) type Answer = Result<ModelVerdict, ModelError>;

/// Something that answers events one after the other.
pub(crate) trait Engine<'a> {
    fn check(&mut self, event: &'a Observation) -> Answer;
}

impl<'a> Engine<'a> for Model<'a> {
    fn check(&mut self, event: &'a Observation) -> Answer {
        Model::check(self, event)
    }
}

/// A policy as written and as every engine wants it.
pub(crate) struct CasePolicy {
    pub(crate) written: Value,
    pub(crate) policy: Policy,
}

impl CasePolicy {
    pub(crate) fn new(written: Value) -> Self {
        Self {
            policy: Policy::from_value(&written).expect("a sound policy"),
            written,
        }
    }
}

/// Starts an engine under a policy.
pub(crate) type Start = for<'a> fn(&'a CasePolicy) -> Box<dyn Engine<'a> + 'a>;

/// The model itself as an engine.
pub(crate) fn model(policy: &CasePolicy) -> Box<dyn Engine<'_> + '_> {
    Box::new(Model::new(&policy.policy))
}

/// Everything that properties must hold of.
pub(crate) const ENGINES: &[Start] = &[model, real_engine];

/// The answers to a whole history.
pub(crate) fn answers(start: Start, policy: &CasePolicy, events: &[Observation]) -> Vec<Answer> {
    let mut engine = start(policy);
    events.iter().map(|event| engine.check(event)).collect()
}

/// Where two engines first disagree.
pub(crate) fn divergence(
    (one, other): (Start, Start),
    policy: &CasePolicy,
    events: &[Observation],
) -> Option<usize> {
    let (mut one, mut other) = (one(policy), other(policy));
    events
        .iter()
        .position(|event| one.check(event) != other.check(event))
}
