//! Which cells an event touches, and the set of them that the engine works on.

use super::rewind::{CLOCK_TOLERANCE, Rewind as _};
use super::{
    AgentCell, AliasCell, ConversationCell, EarlierRun, FlowCell, InboxCell, PairCell,
    SessionAbove, SessionCell, SpentAbove, TaskCell,
};
use crate::id::Id;
use crate::observation::{Message, MessageKind, Observation, Observed};
use crate::policy::{Policy, Scope};
use crate::time::Timestamp;

/// Whose inbox it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InboxKey {
    /// One session's.
    Session(Id),
    /// All sessions of one agent share it.
    Agent(Id),
}

/// The cells of one event, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellKeys {
    /// The session that acts; none if no agent does.
    pub session: Option<Id>,
    /// The session that a message goes to, if it is another one.
    pub peer: Option<Id>,
    /// The sessions above the acting one, if it reports usage. Once it was folded, only those that it was counted in.
    pub above: Vec<Id>,
    /// The flow.
    pub flow: Option<Id>,
    /// The flow that counts the sub-agents around it, if that is another one.
    pub family: Option<Id>,
    /// Sender and receiver, sorted.
    pub pair: Option<(Id, Id)>,
    /// The receiver's inbox.
    pub inbox: Option<InboxKey>,
    /// The conversation.
    pub conversation: Option<Id>,
    /// The agent, for budgets and `scope = "agent"`.
    pub agent: Option<Id>,
    /// The tool use.
    pub alias: Option<Id>,
    /// The task that a message opens a session with.
    pub task: Option<Id>,
}

impl CellKeys {
    /// The cells that `observation`, already resolved, touches under `policy`.
    #[must_use]
    pub fn of(observation: &Observation, policy: &Policy) -> Self {
        match &observation.what {
            Observed::Message(message) => Self::of_message(message, policy),
            Observed::Call(call) => Self {
                session: Some(call.session.clone()),
                flow: call.flow.clone(),
                family: call.family.clone(),
                agent: counted(call.agent.as_ref(), policy),
                alias: call.use_id.clone(),
                ..Self::default()
            },
            Observed::Step(step) => Self {
                session: Some(step.session.clone()),
                flow: step.flow.clone(),
                family: step.family.clone(),
                agent: counted(step.agent.as_ref(), policy),
                alias: step.use_id.clone(),
                ..Self::default()
            },
            Observed::Usage(usage) => Self {
                session: Some(usage.session.clone()),
                above: usage
                    .session
                    .parents()
                    .filter_map(|id| Id::new(id).ok())
                    .collect(),
                flow: usage.flow.clone(),
                agent: usage.agent.clone(),
                ..Self::default()
            },
            Observed::Output(output) => Self::of_session(&output.session),
            Observed::Kill(order) | Observed::Reset(order) => Self::of_session(&order.session),
            Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
                Self::of_session(&dispatch.session)
            }
            Observed::Approve(answer) | Observed::Decline(answer) => {
                Self::of_session(&answer.session)
            }
        }
    }

    fn of_session(session: &Id) -> Self {
        Self {
            session: Some(session.clone()),
            ..Self::default()
        }
    }

    fn of_message(message: &Message, policy: &Policy) -> Self {
        let mut keys = Self {
            session: message.from.clone(),
            flow: message.flow.clone(),
            family: message.family.clone(),
            task: message.task.clone(),
            conversation: message.conversation.clone(),
            ..Self::default()
        };
        if message.from.as_ref() != Some(&message.to) {
            keys.peer = Some(message.to.clone());
        }
        let Some(from) = &message.from else {
            return keys;
        };
        if message.kind != MessageKind::Say {
            keys.conversation = None;
            return keys;
        }
        let (first, second) = if *from <= message.to {
            (from, &message.to)
        } else {
            (&message.to, from)
        };
        keys.pair = Some((first.clone(), second.clone()));
        let agent = message.to_agent.as_ref();
        let limits = policy.limits_for(agent.map(Id::as_str), message.to.as_str());
        keys.inbox = Some(match (limits.inbox.scope, agent) {
            (Scope::Agent, Some(agent)) => InboxKey::Agent(agent.clone()),
            _ => InboxKey::Session(message.to.clone()),
        });
        keys
    }
}

/// The cell that all sessions of an agent share is only touched if a limit is over all of them:
/// an event that touches it has to wait for the others. What was spent is always added up.
fn counted(agent: Option<&Id>, policy: &Policy) -> Option<Id> {
    agent.filter(|_| policy.counts_agents()).cloned()
}

/// The cells of one event. A slot is filled if [`CellKeys`] names it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    /// The session that acts.
    pub session: Option<Box<SessionCell>>,
    /// The session that a message goes to, if it is another one.
    pub peer: Option<Box<SessionCell>>,
    /// The flow.
    pub flow: Option<Box<FlowCell>>,
    /// The flow that counts the sub-agents around the acting session, if that is another one.
    pub family: Option<Box<FlowCell>>,
    /// Sender and receiver.
    pub pair: Option<Box<PairCell>>,
    /// The receiver's inbox.
    pub inbox: Option<Box<InboxCell>>,
    /// The conversation.
    pub conversation: Option<Box<ConversationCell>>,
    /// The agent.
    pub agent: Option<Box<AgentCell>>,
    /// The tool use.
    pub alias: Option<Box<AliasCell>>,
    /// The task.
    pub task: Option<Box<TaskCell>>,
    /// What the earlier runs of the task did, the latest last.
    pub runs: Vec<EarlierRun>,
    /// The sessions above the acting one that are known, if it reports usage.
    pub above: Vec<SessionAbove>,
    /// What the sessions above the acting one have spent, if it does something else.
    pub spent_above: Vec<SpentAbove>,
    /// The session above the acting one that is killed; of several the nearest.
    pub killed_above: Option<Id>,
    /// The session above the receiving one that is killed; of several the nearest.
    pub peer_killed_above: Option<Id>,
    /// The one above the acting session that was reset since the session, or one between, was started.
    pub stale_above: Option<Id>,
    /// The same of the receiving session.
    pub peer_stale_above: Option<Id>,
    /// How many started the acting session one after the other, as far as they are looked up.
    pub starters: u32,
}

/// Runs `$do` on each slot that is filled. The cells have different types, so this can't be a loop.
macro_rules! each_cell {
    ($cells:expr, $get:ident, $cell:ident => $do:expr) => {
        each_cell!(@ $cells, $get, $cell, $do, session peer flow family pair inbox conversation agent alias task)
    };
    (@ $cells:expr, $get:ident, $cell:ident, $do:expr, $($slot:ident)+) => {
        $(if let Some($cell) = $cells.$slot.$get() {
            $do;
        })+
    };
}

impl Cells {
    /// The later of `at` and the newest time in the cells.
    pub(crate) fn now(&self, at: Timestamp) -> Timestamp {
        let mut now = at;
        each_cell!(self, as_deref, cell => now = now.max(cell.touched));
        let above = self.above.iter().map(|above| above.cell.touched);
        above.fold(now, Timestamp::max)
    }

    /// Takes the cells back to `at` that are too far ahead of it.
    pub(crate) fn rewind(&mut self, at: Timestamp) {
        each_cell!(self, as_deref_mut, cell => if cell.touched > at.plus(CLOCK_TOLERANCE) {
            cell.rewind(at);
        });
        for above in &mut self.above {
            if above.cell.touched > at.plus(CLOCK_TOLERANCE) {
                above.cell.rewind(at);
            }
        }
    }

    /// Turns what was idle for too long into new.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        each_cell!(self, as_deref_mut, cell => cell.expire(now));
    }

    /// The flow that counts the sub-agents around the acting session.
    pub(crate) fn family(&self) -> Option<&FlowCell> {
        self.family.as_deref().or(self.flow.as_deref())
    }

    /// The same, to be changed.
    pub(crate) fn family_mut(&mut self) -> Option<&mut FlowCell> {
        self.family.as_deref_mut().or(self.flow.as_deref_mut())
    }

    /// The flows in which the acting session may be counted as a sub-agent.
    pub(crate) fn flows_mut(&mut self) -> impl Iterator<Item = &mut FlowCell> {
        let flows = self.family.iter_mut().chain(&mut self.flow);
        flows.map(|flow| &mut **flow)
    }

    /// Renews every cell.
    pub(crate) fn touch(&mut self, now: Timestamp) {
        each_cell!(self, as_deref_mut, cell => cell.touched = now);
    }
}
