//! The call tree of a flow, from its records.
//!
//! The engine keeps a flow's stack in a cell and forgets it; a person wants to see how it grew. So the records are
//! walked once more in the same way: a call from S extends S's own path to the root, a call to a
//! session on that path is a return, any other makes S its parent. What was refused did not happen and
//! changes nothing. A flow that was silent for long starts its chain afresh; the recorded
//! depth tells when.

use std::collections::HashMap;

use serde::Serialize;
use sprag::{Decision, Id, Record, SessionState, Verdict};
use sprag_core::{Message, MessageKind, Observed};
use utoipa::ToSchema;

use crate::route::sessions::Standing;
use crate::wire;

/// One message of a flow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowCall {
    /// The number of its record.
    seq: u64,
    /// When it was sent.
    at: u64,
    /// The sender; null when no agent sent it.
    #[schema(value_type = Option<String>, required)]
    from: Option<Id>,
    /// The receiver.
    #[schema(value_type = String)]
    to: Id,
    /// What it is for.
    #[schema(value_type = String, example = "say")]
    kind: MessageKind,
    /// What was answered.
    #[schema(value_type = wire::Decision)]
    verdict: Decision,
    /// The rule that decided.
    #[schema(required)]
    rule: Option<String>,
    /// Why it was refused, or warned of.
    #[schema(required)]
    message: Option<String>,
    /// The depth of the stack.
    #[schema(required)]
    depth: Option<u32>,
    /// It went back to a session on the sender's path.
    is_return: bool,
    /// The collapsed stack after it, root first; of a refused one, as it would have been.
    #[schema(value_type = Vec<String>)]
    stack: Vec<Id>,
    /// Which chain of the flow it belongs to: 1, and one more after each long silence.
    chain: u32,
}

/// One session of a flow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowNode {
    /// The session.
    #[schema(value_type = String)]
    session: Id,
    /// Its agent, where a message named it.
    #[schema(value_type = Option<String>, required)]
    agent: Option<Id>,
    /// Who called it first in the last chain; null for the root.
    #[schema(value_type = Option<String>, required)]
    parent: Option<Id>,
    /// Messages that it sent.
    sent: u64,
    /// Messages that reached it.
    received: u64,
    /// Messages and calls of it that were refused.
    refused: u64,
    /// Returns to it.
    returns: u64,
    /// Tool calls that it made in this flow.
    calls: u64,
    /// What it may do now; null where it is forgotten.
    #[schema(required)]
    state: Option<Standing>,
}

impl FlowNode {
    /// The session.
    pub(crate) fn session(&self) -> &Id {
        &self.session
    }

    /// Takes note of what it may do now.
    pub(crate) fn stands(&mut self, state: Option<SessionState>) {
        self.state = state.map(Standing::from);
    }
}

/// A tree that grows.
#[derive(Debug, Default)]
pub(crate) struct FlowTree {
    calls: Vec<FlowCall>,
    nodes: Vec<FlowNode>,
    places: HashMap<Id, usize>,
    chain: u32,
}

impl FlowTree {
    /// How many messages it holds.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Takes a record in.
    pub(crate) fn observe(&mut self, record: &Record) {
        let Some(observation) = record.observation() else {
            return;
        };
        match &observation.what {
            Observed::Message(message) => self.message(record, message),
            Observed::Call(call) => {
                let refused = u64::from(record.verdict.refuses());
                if let Some(node) = self.node(&call.session, call.agent.as_ref()) {
                    node.calls += 1;
                    node.refused += refused;
                }
            }
            _ => {}
        }
    }

    /// The sessions and the messages.
    pub(crate) fn finish(self) -> (Vec<FlowNode>, Vec<FlowCall>) {
        (self.nodes, self.calls)
    }

    fn node(&mut self, session: &Id, agent: Option<&Id>) -> Option<&mut FlowNode> {
        let place = match self.places.get(session) {
            Some(place) => *place,
            None => {
                let place = self.nodes.len();
                self.places.insert(session.clone(), place);
                self.nodes.push(FlowNode {
                    session: session.clone(),
                    agent: None,
                    parent: None,
                    sent: 0,
                    received: 0,
                    refused: 0,
                    returns: 0,
                    calls: 0,
                    state: None,
                });
                place
            }
        };
        let node = self.nodes.get_mut(place)?;
        if node.agent.is_none() {
            node.agent = agent.cloned();
        }
        Some(node)
    }

    /// The path from the root to `session`.
    fn path(&self, session: &Id) -> Vec<Id> {
        let mut path = vec![session.clone()];
        let mut at = session;
        while let Some(parent) = self
            .places
            .get(at)
            .and_then(|place| self.nodes.get(*place)?.parent.as_ref())
        {
            path.push(parent.clone());
            at = parent;
        }
        path.reverse();
        path
    }

    /// The stack after a call, and whether it is a return.
    fn stack(&self, from: &Id, to: &Id) -> (Vec<Id>, bool) {
        let mut path = self.path(from);
        match path.iter().position(|id| id == to) {
            Some(place) => {
                path.truncate(place + 1);
                (path, true)
            }
            None => {
                path.push(to.clone());
                (path, false)
            }
        }
    }

    fn message(&mut self, record: &Record, message: &Message) {
        let verdict = &record.verdict;
        self.chain = self.chain.max(1);
        let (stack, is_return) = match &message.from {
            None => (vec![message.to.clone()], false),
            Some(from) => self.walk(from, message, verdict),
        };
        let refused = verdict.refuses();
        if let Some(from) = &message.from
            && let Some(node) = self.node(from, message.agent.as_ref())
        {
            node.sent += 1;
            node.refused += u64::from(refused);
        }
        if let Some(node) = self.node(&message.to, message.to_agent.as_ref())
            && !refused
        {
            node.received += 1;
            node.returns += u64::from(is_return);
        }
        if let (Some(from), false, false) = (&message.from, is_return, refused)
            && message.kind != MessageKind::Return
            && let Some(node) = self.node(&message.to, None)
        {
            node.parent = Some(from.clone());
        }
        self.calls.push(FlowCall {
            seq: record.seq,
            at: record.at.0,
            from: message.from.clone(),
            to: message.to.clone(),
            kind: message.kind,
            verdict: verdict.decision,
            rule: verdict.rule.map(|rule| rule.to_string()),
            message: verdict.message.clone(),
            depth: verdict.depth,
            is_return,
            stack,
            chain: self.chain,
        });
    }

    /// The stack of an agent's message. Where the log has another depth, the chain started afresh.
    fn walk(&mut self, from: &Id, message: &Message, verdict: &Verdict) -> (Vec<Id>, bool) {
        let walked = self.stack(from, &message.to);
        let depth = u32::try_from(walked.0.len()).ok();
        let is_fresh = message.kind == MessageKind::Say
            && verdict.depth.is_some_and(|told| Some(told) < depth);
        if !is_fresh {
            return walked;
        }
        for node in &mut self.nodes {
            node.parent = None;
        }
        self.chain += 1;
        self.stack(from, &message.to)
    }
}
