//! The engine as something that can be held against the model.

use sprag_core::{
    CellMap, EngineError, FlowCounter, Observation, Observed, Policy, Verdict, resolve,
};

use super::engine::{Answer, CasePolicy, Engine};
use super::record::{ModelError, ModelVerdict};

struct RealEngine<'a> {
    policy: &'a Policy,
    cells: CellMap,
    flows: FlowCounter,
}

/// The engine under a policy, with nothing in its past.
pub(crate) fn real_engine(policy: &CasePolicy) -> Box<dyn Engine<'_> + '_> {
    Box::new(RealEngine {
        policy: &policy.policy,
        cells: CellMap::default(),
        flows: FlowCounter::default(),
    })
}

impl<'a> Engine<'a> for RealEngine<'a> {
    fn check(&mut self, event: &'a Observation) -> Answer {
        let mut event = event.clone();
        let open = event.clone();
        let resolved = resolve(&mut event, &self.cells, || self.flows.draw());
        resolved.unwrap_or_else(|error| panic!("nobody owns a session here: {error}"));
        match self.cells.fold(self.policy, &event) {
            Ok((verdict, _)) => Ok(told(verdict, &open)),
            Err(EngineError::FutureGeneration { .. }) => Err(ModelError::NewerGeneration),
            Err(EngineError::Answer { .. }) => Err(ModelError::NotOpen),
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
        approval: verdict.approval,
    }
}
