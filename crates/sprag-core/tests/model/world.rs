//! The engine as something that can be held against the model.

use sprag_core::{EngineError, Observation, Observed, Verdict, World};

use super::engine::{Answer, CasePolicy, Engine};
use super::record::{ModelError, ModelVerdict};

/// The engine under a policy, with nothing in its past.
pub(crate) fn world(policy: &CasePolicy) -> Box<dyn Engine<'_> + '_> {
    Box::new(World::new(policy.policy.clone()))
}

impl<'a> Engine<'a> for World {
    fn check(&mut self, event: &'a Observation) -> Answer {
        match World::check(self, event.clone()) {
            Ok(verdict) => Ok(told(verdict, event)),
            Err(EngineError::FutureGeneration { .. }) => Err(ModelError::NewerGeneration),
            Err(other) => panic!("the generator writes no such event: {other}"),
        }
    }
}

fn told(verdict: Verdict, event: &Observation) -> ModelVerdict {
    // The model draws no ids.
    let is_drawn = matches!(
        &event.what,
        Observed::Message(message) if message.from.is_none() && message.flow.is_none()
    );
    ModelVerdict {
        decision: verdict.decision,
        rule: verdict.rule,
        code: verdict.code,
        also: verdict.also.into_iter().collect(),
        would: verdict.would.map(|would| (would.decision, would.rule)),
        flow: verdict.flow.filter(|_| !is_drawn),
        depth: verdict.depth,
        generation: verdict.generation,
    }
}
