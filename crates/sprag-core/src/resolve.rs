//! Resolving: what an event leaves open is looked up before it is judged, and written into it.
//!
//! The flow that a message inherits, the agent that sticks to a session, the session that a tool
//! use belongs to: all of them come from state. Once they stand in the observation, the log holds
//! everything a replay needs, and the fold looks nothing up.

use crate::id::Id;
use crate::observation::{MessageKind, Observation, Observed};
use crate::time::Timestamp;

/// What a store knows when an event arrives.
pub trait Known {
    /// The agent that stuck to a session.
    fn agent_of(&self, session: &Id) -> Option<Id>;
    /// The flow of the latest dispatch that runs in a session at a time.
    fn running_flow(&self, session: &Id, at: Timestamp) -> Option<Id>;
    /// The session that the first sighting of a tool use named, if that is not too long ago.
    fn session_of_use(&self, use_id: &Id, at: Timestamp) -> Option<Id>;
}

/// Draws `flow-1`, `flow-2` and so on: the flow ids of a fold that must come out the same each time.
#[derive(Debug, Clone, Default)]
pub struct FlowCounter(u64);

impl FlowCounter {
    /// The next flow id.
    pub fn draw(&mut self) -> Option<Id> {
        self.0 += 1;
        Id::new(&format!("flow-{}", self.0)).ok()
    }
}

/// Fills in what `observation` leaves open; `draw` makes a fresh flow id.
pub fn resolve(
    observation: &mut Observation,
    known: &impl Known,
    draw: impl FnOnce() -> Option<Id>,
) {
    let at = observation.at;
    match &mut observation.what {
        Observed::Message(message) => {
            match &message.from {
                None if message.flow.is_none() => message.flow = draw(),
                Some(from) if message.flow.is_none() && message.kind != MessageKind::Return => {
                    message.flow = known.running_flow(from, at);
                }
                _ => {}
            }
            if let Some(from) = &message.from {
                resolve_agent(&mut message.agent, from, known);
            }
            resolve_agent(&mut message.to_agent, &message.to, known);
        }
        Observed::Call(call) => {
            resolve_session(&mut call.session, call.use_id.as_ref(), at, known);
            resolve_agent(&mut call.agent, &call.session, known);
        }
        Observed::Step(step) => {
            resolve_session(&mut step.session, step.use_id.as_ref(), at, known);
            resolve_agent(&mut step.agent, &step.session, known);
        }
        Observed::Usage(usage) => resolve_agent(&mut usage.agent, &usage.session, known),
        Observed::Kill(_)
        | Observed::Reset(_)
        | Observed::DispatchStart(_)
        | Observed::DispatchEnd(_) => {}
    }
}

/// The agent that stuck to the session overrides the one that the event names.
fn resolve_agent(agent: &mut Option<Id>, session: &Id, known: &impl Known) {
    if let Some(sticky) = known.agent_of(session) {
        *agent = Some(sticky);
    }
}

fn resolve_session(session: &mut Id, use_id: Option<&Id>, at: Timestamp, known: &impl Known) {
    if let Some(first) = use_id.and_then(|use_id| known.session_of_use(use_id, at)) {
        *session = first;
    }
}
