//! All cells in memory: the engine as one value, for streams, tests and replays.
//!
//! No clock and no file: what goes in alone decides what comes out. Whoever needs durability or
//! many processes puts a store under the same [`fold`].

use std::collections::HashMap;
use std::hash::Hash;

use crate::cell::{
    AgentCell, AliasCell, CellKeys, Cells, ConversationCell, FlowCell, InboxCell, InboxKey,
    PairCell, SessionCell,
};
use crate::engine::{EngineError, fold};
use crate::id::Id;
use crate::observation::Observation;
use crate::policy::Policy;
use crate::resolve::{Known, resolve};
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// A policy and every cell.
#[derive(Debug, Clone, Default)]
pub struct World {
    policy: Policy,
    sessions: HashMap<Id, Box<SessionCell>>,
    flows: HashMap<Id, Box<FlowCell>>,
    pairs: HashMap<(Id, Id), Box<PairCell>>,
    inboxes: HashMap<InboxKey, Box<InboxCell>>,
    conversations: HashMap<Id, Box<ConversationCell>>,
    agents: HashMap<Id, Box<AgentCell>>,
    aliases: HashMap<Id, Box<AliasCell>>,
    drawn: u64,
}

fn take<K: Hash + Eq, C: Default>(map: &mut HashMap<K, Box<C>>, key: Option<&K>) -> Option<Box<C>> {
    key.map(|key| map.remove(key).unwrap_or_default())
}

fn put<K: Hash + Eq, C>(map: &mut HashMap<K, Box<C>>, key: Option<K>, cell: Option<Box<C>>) {
    if let (Some(key), Some(cell)) = (key, cell) {
        map.insert(key, cell);
    }
}

impl World {
    /// An empty world under `policy`.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Puts another policy in force; the cells stay.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// What is remembered of a session.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&SessionCell> {
        self.sessions.get(id).map(|cell| &**cell)
    }

    /// How many sessions are remembered.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Resolves what `observation` leaves open and folds it. A refused input changes nothing.
    pub fn check(&mut self, mut observation: Observation) -> Result<Verdict, EngineError> {
        let mut drawn = self.drawn;
        resolve(&mut observation, self, || {
            drawn += 1;
            Id::new(&format!("flow-{drawn}")).ok()
        });
        self.drawn = drawn;
        self.fold(&observation)
    }

    /// Folds an observation that leaves nothing open, as one from a log.
    pub fn fold(&mut self, observation: &Observation) -> Result<Verdict, EngineError> {
        let keys = CellKeys::of(observation, &self.policy);
        let mut cells = self.take(&keys);
        let verdict = fold(&self.policy, observation, &mut cells);
        self.put(keys, cells);
        verdict
    }

    fn killed_above(&self, session: Option<&Id>) -> bool {
        session.is_some_and(|session| {
            session.parents().any(|parent| {
                self.session(parent)
                    .is_some_and(|cell| cell.killed().is_some())
            })
        })
    }

    fn take(&mut self, keys: &CellKeys) -> Cells {
        Cells {
            killed_above: self.killed_above(keys.session.as_ref()),
            peer_killed_above: self.killed_above(keys.peer.as_ref()),
            session: take(&mut self.sessions, keys.session.as_ref()),
            peer: take(&mut self.sessions, keys.peer.as_ref()),
            flow: take(&mut self.flows, keys.flow.as_ref()),
            pair: take(&mut self.pairs, keys.pair.as_ref()),
            inbox: take(&mut self.inboxes, keys.inbox.as_ref()),
            conversation: take(&mut self.conversations, keys.conversation.as_ref()),
            agent: take(&mut self.agents, keys.agent.as_ref()),
            alias: take(&mut self.aliases, keys.alias.as_ref()),
        }
    }

    fn put(&mut self, keys: CellKeys, cells: Cells) {
        put(&mut self.sessions, keys.session, cells.session);
        put(&mut self.sessions, keys.peer, cells.peer);
        put(&mut self.flows, keys.flow, cells.flow);
        put(&mut self.pairs, keys.pair, cells.pair);
        put(&mut self.inboxes, keys.inbox, cells.inbox);
        put(
            &mut self.conversations,
            keys.conversation,
            cells.conversation,
        );
        put(&mut self.agents, keys.agent, cells.agent);
        put(&mut self.aliases, keys.alias, cells.alias);
    }
}

impl Known for World {
    fn agent_of(&self, session: &Id) -> Option<Id> {
        self.sessions.get(session)?.agent().cloned()
    }

    fn running_flow(&self, session: &Id, at: Timestamp) -> Option<Id> {
        self.sessions.get(session)?.running_flow(at).cloned()
    }

    fn session_of_use(&self, use_id: &Id, at: Timestamp) -> Option<Id> {
        self.aliases.get(use_id)?.session(at).cloned()
    }
}
