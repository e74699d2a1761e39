//! What would not have happened under another policy, and what nobody can know.

use std::collections::{HashMap, HashSet};

use sprag_core::{Decision, Id, Observation, Observed, Policy, Verdict};

/// Sessions that are stopped.
#[derive(Debug, Default)]
struct StoppedSessions(HashMap<Id, Decision>);

impl StoppedSessions {
    /// Lets go whom an order or a user's word lets go.
    fn lift(&mut self, observation: &Observation, policy: &Policy) {
        match &observation.what {
            Observed::Reset(order) => {
                self.0.remove(&order.session);
            }
            Observed::Message(message) if message.from.is_none() => {
                let agent = message.to_agent.as_ref().map(Id::as_str);
                let limits = policy.limits_for(agent, message.to.as_str());
                let lifts = message.unblock || limits.session.human_unblocks;
                if lifts && self.0.get(&message.to) == Some(&Decision::Block) {
                    self.0.remove(&message.to);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, observation: &Observation, verdict: Decision) {
        if let (Some(session), true) = (acting(observation), verdict >= Decision::Block) {
            self.0.insert(session.clone(), verdict);
        }
    }

    fn has(&self, session: &Id) -> bool {
        let killed = |parent: &str| self.0.get(parent) == Some(&Decision::Kill);
        self.0.contains_key(session) || session.parents().any(killed)
    }
}

/// The sessions that would have been stopped, those that were, and the calls whose results are unknown.
#[derive(Debug, Default)]
pub(super) struct WhatIf {
    would: StoppedSessions,
    was: StoppedSessions,
    unknown: HashSet<(Id, Id)>,
}

/// What to do with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Fold it.
    Happens,
    /// Its session was stopped before.
    Stopped,
    /// The same, and it was stopped in the recording too.
    StoppedAnyway,
    /// It is the result of a call that was refused and would have run.
    Unknown,
}

impl WhatIf {
    /// Whether an event would have happened.
    pub(super) fn fate(
        &mut self,
        observation: &Observation,
        policy: &Policy,
        recorded: Option<&Verdict>,
    ) -> Fate {
        self.would.lift(observation, policy);
        self.was.lift(observation, policy);
        let was_stopped = acting(observation).is_some_and(|session| self.was.has(session));
        let recorded = recorded.map(|recorded| recorded.decision);
        if let Some(recorded) = recorded {
            self.was.note(observation, recorded);
        }
        if acting(observation).is_some_and(|session| self.would.has(session)) {
            let refused = recorded.is_some_and(Decision::refuses);
            return match was_stopped || refused {
                true => Fate::StoppedAnyway,
                false => Fate::Stopped,
            };
        }
        match (key(observation), &observation.what) {
            (Some(key), Observed::Step(_)) if self.unknown.remove(&key) => Fate::Unknown,
            _ => Fate::Happens,
        }
    }

    /// Whether a session would be stopped now.
    pub(super) fn has_stopped(&self, session: &Id) -> bool {
        self.would.has(session)
    }

    /// Takes note of a verdict; answers whether what follows from it is unknown.
    pub(super) fn note(
        &mut self,
        observation: &Observation,
        verdict: &Verdict,
        recorded: Option<&Verdict>,
    ) -> bool {
        self.would.note(observation, verdict.decision);
        let was_refused = recorded.is_some_and(|recorded| recorded.decision.refuses());
        let acts = matches!(observation.what, Observed::Call(_) | Observed::Message(_));
        let unknown = acts && was_refused && !verdict.refuses();
        if let (true, Some(key)) = (unknown, key(observation)) {
            self.unknown.insert(key);
        }
        unknown
    }
}

/// The session that acts; none if nobody who could be stopped does.
fn acting(observation: &Observation) -> Option<&Id> {
    match &observation.what {
        Observed::Message(message) => message.from.as_ref(),
        Observed::Call(call) => Some(&call.session),
        Observed::Step(step) => Some(&step.session),
        Observed::Usage(usage) => Some(&usage.session),
        Observed::Output(output) => Some(&output.session),
        Observed::DispatchStart(work) | Observed::DispatchEnd(work) => Some(&work.session),
        Observed::Kill(_) | Observed::Reset(_) | Observed::Approve(_) | Observed::Decline(_) => {
            None
        }
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
