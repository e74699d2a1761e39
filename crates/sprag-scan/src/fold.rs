//! The engine over a transcript: what each item would have been answered.
//!
//! Every rule is put into shadow, so that nothing is refused and the fold goes on to the end of the loop as it really was.
//! Up to the first refusal that is the same fold as a guard's, so if it reports that it *would* have stopped, a guard would have.
//! After that, it shows how long the loop went on.

use sprag::Judge;
use sprag_core::{
    Decision, Event, Observation, Observed, Policy, RuleId, Timestamp, effects_in_words,
};

/// What a rule found on an item.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShadowFinding {
    pub(crate) rule: RuleId,
    pub(crate) decision: Decision,
    /// How many items it counts, if it counts any.
    pub(crate) count: usize,
    /// The message that the agent would have got.
    pub(crate) message: String,
}

/// The verdict on an item.
#[derive(Debug, Default)]
pub(crate) struct FoldedEvent {
    pub(crate) finding: Option<ShadowFinding>,
    /// What is the same for two calls, or two results, that the engine takes for the same.
    pub(crate) key: u64,
    pub(crate) observation: Option<Observation>,
    /// What a sweeping command destroys, in words.
    pub(crate) sweeps: Vec<String>,
}

/// The cells of one file's sessions.
pub(crate) struct Fold(Judge);

impl Fold {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self(Judge::new(policy.clone().with_pause(true)))
    }

    /// What a guard would have answered to `event`, with its observation if `keep` is set. An event that can't be
    /// judged gets an empty answer.
    pub(crate) fn judge(&mut self, event: &Event, at: Timestamp, keep: bool) -> FoldedEvent {
        let Ok(observation) = self.0.observe(event, at) else {
            return FoldedEvent::default();
        };
        let key = key(&observation);
        let effects = match &observation.what {
            Observed::Call(call) => effects_in_words(&call.effects),
            _ => Vec::new(),
        };
        let kept = keep.then(|| observation.clone());
        let Ok(verdict) = self.0.fold(observation) else {
            return FoldedEvent::default();
        };
        let sweeping = |rule: RuleId| rule == RuleId::DestructiveSweeping;
        let swept = verdict
            .would
            .as_ref()
            .is_some_and(|would| sweeping(would.rule));
        let finding = verdict.would.map(|would| {
            let counted = ["streak", "count"]
                .iter()
                .find_map(|name| would.evidence.get(*name));
            let count = counted.and_then(serde_json::Value::as_u64).unwrap_or(1);
            ShadowFinding {
                rule: would.rule,
                decision: would.decision,
                count: usize::try_from(count).unwrap_or(usize::MAX),
                message: would.message,
            }
        });
        FoldedEvent {
            finding,
            key,
            observation: kept,
            sweeps: if swept { effects } else { Vec::new() },
        }
    }
}

fn key(observation: &Observation) -> u64 {
    match &observation.what {
        Observed::Call(call) => call.approach.normal.prefix(),
        Observed::Step(step) => step.outcome.normal.prefix(),
        _ => 0,
    }
}
