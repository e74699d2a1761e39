//! What would not have happened under another policy, and what nobody can know.

use std::collections::{HashMap, HashSet};

use sprag_core::{Decision, Id, Observation, Observed, Policy, Verdict};

/// The sessions that would have been stopped, and the calls whose results are unknown.
#[derive(Debug, Default)]
pub(super) struct WhatIf {
    stopped: HashMap<Id, Decision>,
    unknown: HashSet<(Id, Id)>,
}

/// What to do with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Fold it.
    Happens,
    /// Its session was stopped before.
    Stopped,
    /// It is the result of a call that was refused and would have run.
    Unknown,
}

impl WhatIf {
    /// Whether an event would have happened.
    pub(super) fn fate(&mut self, observation: &Observation, policy: &Policy) -> Fate {
        match &observation.what {
            Observed::Reset(order) => {
                self.stopped.remove(&order.session);
                return Fate::Happens;
            }
            Observed::Message(message) if message.from.is_none() => {
                let agent = message.to_agent.as_ref().map(Id::as_str);
                let limits = policy.limits_for(agent, message.to.as_str());
                let lifts = message.unblock || limits.session.human_unblocks;
                if lifts && self.stopped.get(&message.to) == Some(&Decision::Block) {
                    self.stopped.remove(&message.to);
                }
                return Fate::Happens;
            }
            Observed::Kill(_) => return Fate::Happens,
            _ => {}
        }
        let session = acting(observation);
        if session.is_some_and(|session| self.is_stopped(session)) {
            return Fate::Stopped;
        }
        match (key(observation), &observation.what) {
            (Some(key), Observed::Step(_)) if self.unknown.remove(&key) => Fate::Unknown,
            _ => Fate::Happens,
        }
    }

    fn is_stopped(&self, session: &Id) -> bool {
        let killed = |parent: &str| self.stopped.get(parent) == Some(&Decision::Kill);
        self.stopped.contains_key(session) || session.parents().any(killed)
    }

    /// Takes note of a verdict; answers whether what follows from it is unknown.
    pub(super) fn note(
        &mut self,
        observation: &Observation,
        verdict: &Verdict,
        recorded: Option<&Verdict>,
    ) -> bool {
        if let (Some(session), true) = (acting(observation), verdict.verdict >= Decision::Block) {
            self.stopped.insert(session.clone(), verdict.verdict);
        }
        let was_refused = recorded.is_some_and(|recorded| recorded.verdict.refuses());
        let acts = matches!(observation.what, Observed::Call(_) | Observed::Message(_));
        let unknown = acts && was_refused && !verdict.verdict.refuses();
        if let (true, Some(key)) = (unknown, key(observation)) {
            self.unknown.insert(key);
        }
        unknown
    }
}

/// The session that acts; none where nobody who could be stopped does.
fn acting(observation: &Observation) -> Option<&Id> {
    match &observation.what {
        Observed::Message(message) => message.from.as_ref(),
        Observed::Call(call) => Some(&call.session),
        Observed::Step(step) => Some(&step.session),
        Observed::Usage(usage) => Some(&usage.session),
        Observed::DispatchStart(work) | Observed::DispatchEnd(work) => Some(&work.session),
        Observed::Kill(_) | Observed::Reset(_) => None,
    }
}

/// What a step names its call by.
fn key(observation: &Observation) -> Option<(Id, Id)> {
    let (session, use_id, id) = match &observation.what {
        Observed::Call(call) => (&call.session, &call.use_id, &call.id),
        Observed::Step(step) => (&step.session, &step.use_id, &step.id),
        _ => return None,
    };
    let id = use_id.as_ref().or(id.as_ref())?;
    Some((session.clone(), id.clone()))
}
