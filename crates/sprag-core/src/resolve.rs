//! Resolving: what an event leaves open is looked up before it is judged, and written into it.
//!
//! The flow that a message inherits, the agent that sticks to a session, the session that a tool
//! use belongs to: all of them come from state. Once they stand in the observation, the log holds
//! everything a replay needs, and the fold looks nothing up.

use crate::cell::hash::{hash_bytes, mix};
use crate::engine::EngineError;
use crate::id::Id;
use crate::observation::{Call, Identity, Message, MessageKind, Observation, Observed, Via};
use crate::sender::{ForeignSession, Owner, Sender};
use crate::time::Timestamp;

/// What a store knows when an event arrives.
pub trait Known {
    /// The agent that stuck to a session.
    fn agent_of(&self, session: &Id) -> Option<Id>;
    /// The flow of the latest dispatch that runs in a session at a time.
    fn running_flow(&self, session: &Id, at: Timestamp) -> Option<Id>;
    /// The one session that named a tool use, if that is not too long ago.
    fn session_of_use(&self, use_id: &Id, at: Timestamp) -> Option<Id>;
    /// The flow that counts a session's start, else those that it makes.
    fn family_of(&self, session: &Id) -> Option<Family>;
    /// Whether somebody outside spoke to a session before.
    fn is_opened(&self, session: &Id, at: Timestamp) -> bool;
    /// Whom a session belongs to.
    fn owner_of(&self, session: &str) -> Option<&Owner>;
}

/// The flow that counts the sub-agents around a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The flow.
    pub flow: Id,
    /// The session was started as a sub-agent and has not returned.
    pub is_sub_agent: bool,
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
///
/// # Errors
/// Returns an error if its sender acts in a session that belongs to somebody else.
pub fn resolve(
    observation: &mut Observation,
    known: &impl Known,
    draw: impl FnOnce() -> Option<Id>,
) -> Result<(), EngineError> {
    let at = observation.at;
    let owner = observation.sender.as_ref().map(Sender::owner);
    let owner = owner.as_ref();
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
                message.family = family_of_message(message, from, known);
            }
            resolve_agent(&mut message.to_agent, &message.to, known);
            message.task = task_of(message, at, known);
        }
        Observed::Call(call) => {
            if is_weak(call.identity, call.via) {
                let ids = (&mut call.id, &mut call.use_id);
                resolve_session(&mut call.session, ids, owner, at, known);
            }
            resolve_agent(&mut call.agent, &call.session, known);
            call.family =
                family_of_call(call, known).filter(|flow| Some(flow) != call.flow.as_ref());
        }
        Observed::Step(step) => {
            if is_weak(step.identity, step.via) {
                let ids = (&mut step.id, &mut step.use_id);
                resolve_session(&mut step.session, ids, owner, at, known);
            }
            resolve_agent(&mut step.agent, &step.session, known);
            let family = known.family_of(&step.session).map(|family| family.flow);
            step.family = family.filter(|flow| Some(flow) != step.flow.as_ref());
        }
        Observed::Usage(usage) => resolve_agent(&mut usage.agent, &usage.session, known),
        Observed::Output(output) => resolve_agent(&mut output.agent, &output.session, known),
        Observed::Kill(_)
        | Observed::Reset(_)
        | Observed::DispatchStart(_)
        | Observed::DispatchEnd(_)
        | Observed::Approve(_)
        | Observed::Decline(_) => {}
    }
    match (owner, acting_session(&observation.what)) {
        (Some(owner), Some(session)) => Ok(check_owner(session, owner, known)?),
        _ => Ok(()),
    }
}

/// The task that a message opens its session with: the words, by whoever is to do it.
fn task_of(message: &Message, at: Timestamp, known: &impl Known) -> Option<Id> {
    let opens = message.from.is_none() && !known.is_opened(&message.to, at);
    let words = message.content.filter(|_| opens)?;
    let agent = message.to_agent.as_ref().map_or("", Id::as_str);
    let key = mix(hash_bytes(agent.as_bytes()), words.prefix());
    Id::new(&format!("{key:016x}")).ok()
}

/// A sub-agent's events show that it is still there, and its return that it is not. A `spawn` counts in the flow
/// that it names.
fn family_of_message(message: &Message, from: &Id, known: &impl Known) -> Option<Id> {
    let family = known.family_of(from)?;
    let counts = match message.kind {
        MessageKind::Spawn => false,
        MessageKind::Say => family.is_sub_agent,
        MessageKind::Return => true,
    };
    let flow = Some(family.flow).filter(|_| counts)?;
    Some(flow).filter(|flow| Some(flow) != message.flow.as_ref())
}

/// A sub-agent is counted in the flow that it was started in, and so is what it starts. What a session at the top
/// starts is counted in its flow; a client's own session is one flow, whatever its user asks for one after the
/// other, because sub-agents outlive the request.
fn family_of_call(call: &Call, known: &impl Known) -> Option<Id> {
    match known.family_of(&call.session) {
        Some(family) if family.is_sub_agent => Some(family.flow),
        _ if !call.approach.delegates => None,
        _ if matches!(call.via, Via::Hook | Via::Gateway) => Some(call.session.clone()),
        _ => Some(call.flow.as_ref().unwrap_or(&call.session).clone()),
    }
}

/// The session that an event acts in; none if it comes from outside or is an order.
fn acting_session(what: &Observed) -> Option<&Id> {
    match what {
        Observed::Message(message) => message.from.as_ref(),
        Observed::Call(call) => Some(&call.session),
        Observed::Step(step) => Some(&step.session),
        Observed::Usage(usage) => Some(&usage.session),
        Observed::Output(output) => Some(&output.session),
        Observed::Kill(_)
        | Observed::Reset(_)
        | Observed::DispatchStart(_)
        | Observed::DispatchEnd(_)
        | Observed::Approve(_)
        | Observed::Decline(_) => None,
    }
}

/// Refuses an agent that acts in a session of somebody else, or in one below it: what a sub-agent spends counts for
/// those above.
fn check_owner(session: &Id, sender: &Owner, known: &impl Known) -> Result<(), ForeignSession> {
    if *sender == Owner::Adapters {
        return Ok(());
    }
    let mut above = std::iter::once(session.as_str()).chain(session.parents());
    let foreign = above.find_map(|id| {
        let owner = known.owner_of(id).filter(|owner| *owner != sender)?;
        Some((Id::new(id).ok()?, owner.clone()))
    });
    match foreign {
        None => Ok(()),
        Some((session, owner)) => Err(ForeignSession {
            session,
            owner,
            sender: sender.clone(),
        }),
    }
}

/// The agent that stuck to the session overrides the one that the event names.
fn resolve_agent(agent: &mut Option<Id>, session: &Id, known: &impl Known) {
    if let Some(sticky) = known.agent_of(session) {
        *agent = Some(sticky);
    }
}

/// Whether the session is not the client's own. A proxy between a client and its MCP server mostly can't
/// tell the client's session. Everyone else is believed: ids of tool uses are not always unique, and
/// must not move a call into a foreign session.
fn is_weak(identity: Identity, via: Via) -> bool {
    identity == Identity::Shared || via == Via::Mcp
}

/// A tool use belongs to the session that another adapter named for it, unless somebody else saw it there: who claims
/// an id that another will use must not pull the other's call into a session of their own, nor answer it. Such a use
/// still joins a call with its step, by its id alone.
fn resolve_session(
    session: &mut Id,
    (id, use_id): (&mut Option<Id>, &mut Option<Id>),
    owner: Option<&Owner>,
    at: Timestamp,
    known: &impl Known,
) {
    let first = use_id.as_ref().and_then(|id| known.session_of_use(id, at));
    let Some(first) = first else {
        return;
    };
    let whose = known.owner_of(first.as_str());
    let is_own = owner.is_none() || whose.is_none() || whose == owner;
    if is_own {
        *session = first;
    } else {
        let claimed = use_id.take();
        *id = id.take().or(claimed);
    }
}
