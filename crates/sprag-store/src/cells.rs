//! All cells in memory: what a replay folds into, and what a store that owns its data works on.
//!
//! Unlike [`sprag_core::World`] it holds no policy, because each record of a log names its own, and it
//! can forget, because a log tells what was evicted.

use std::collections::HashMap;
use std::hash::Hash;

use sprag_core::{
    AgentCell, AliasCell, CellKeys, Cells, ConversationCell, EngineError, FlowCell, Id, InboxCell,
    InboxKey, Known, Observation, PairCell, Policy, SessionCell, Timestamp, Verdict, fold,
};

use crate::cell_key::CellKey;
use crate::note::{Eviction, Noted, Pool};

/// Every cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellMap {
    pub(crate) sessions: HashMap<Id, Box<SessionCell>>,
    pub(crate) flows: HashMap<Id, Box<FlowCell>>,
    pub(crate) pairs: HashMap<(Id, Id), Box<PairCell>>,
    pub(crate) inboxes: HashMap<InboxKey, Box<InboxCell>>,
    pub(crate) conversations: HashMap<Id, Box<ConversationCell>>,
    pub(crate) agents: HashMap<Id, Box<AgentCell>>,
    pub(crate) aliases: HashMap<Id, Box<AliasCell>>,
}

fn take<K: Hash + Eq, C: Default>(map: &mut HashMap<K, Box<C>>, key: Option<&K>) -> Option<Box<C>> {
    key.map(|key| map.remove(key).unwrap_or_default())
}

fn copy<K: Hash + Eq, C: Default + Clone>(
    map: &HashMap<K, Box<C>>,
    key: Option<&K>,
) -> Option<Box<C>> {
    key.map(|key| map.get(key).cloned().unwrap_or_default())
}

/// A cell that is as new need not be there.
fn put<K: Hash + Eq + Clone, C: Default + PartialEq>(
    map: &mut HashMap<K, Box<C>>,
    key: Option<&K>,
    cell: Option<Box<C>>,
    changed: bool,
) {
    if let (Some(key), Some(cell)) = (key, cell)
        && (changed || *cell != C::default())
    {
        map.insert(key.clone(), cell);
    }
}

impl CellMap {
    /// Folds a resolved observation and tells which cells it touched. A refused input changes nothing.
    pub fn fold(
        &mut self,
        policy: &Policy,
        observation: &Observation,
    ) -> Result<(Verdict, CellKeys), EngineError> {
        let keys = CellKeys::of(observation, policy);
        let mut cells = self.take(&keys);
        let verdict = fold(policy, observation, &mut cells);
        self.put(&keys, cells, verdict.is_ok());
        Ok((verdict?, keys))
    }

    /// A copy of the cells that `keys` name, new ones where there are none.
    #[must_use]
    pub fn copy(&self, keys: &CellKeys) -> Cells {
        Cells {
            killed_above: self.killed_above(keys.session.as_ref()),
            peer_killed_above: self.killed_above(keys.peer.as_ref()),
            session: copy(&self.sessions, keys.session.as_ref()),
            peer: copy(&self.sessions, keys.peer.as_ref()),
            flow: copy(&self.flows, keys.flow.as_ref()),
            pair: copy(&self.pairs, keys.pair.as_ref()),
            inbox: copy(&self.inboxes, keys.inbox.as_ref()),
            conversation: copy(&self.conversations, keys.conversation.as_ref()),
            agent: copy(&self.agents, keys.agent.as_ref()),
            alias: copy(&self.aliases, keys.alias.as_ref()),
        }
    }

    /// Does what a note in the log says was done to the cells.
    pub fn apply(&mut self, note: &Noted) {
        if let Noted::Evicted(eviction) = note {
            self.evict(eviction);
        }
    }

    /// Takes in the cells of `part` that `is_new` says are not here.
    pub(crate) fn take_in(&mut self, part: Self, mut is_new: impl FnMut(CellKey) -> bool) {
        macro_rules! take_in {
            ($($map:ident as $key:path),+) => {$(
                for (id, cell) in part.$map {
                    if is_new($key(id.clone())) {
                        self.$map.insert(id, cell);
                    }
                }
            )+};
        }
        take_in!(
            sessions as CellKey::Session,
            flows as CellKey::Flow,
            conversations as CellKey::Conversation,
            agents as CellKey::Agent,
            aliases as CellKey::Alias
        );
        for (ids, cell) in part.pairs {
            if is_new(CellKey::of_pair(&ids)) {
                self.pairs.insert(ids, cell);
            }
        }
        for (key, cell) in part.inboxes {
            if is_new(CellKey::of_inbox(&key)) {
                self.inboxes.insert(key, cell);
            }
        }
    }

    /// What is remembered of a session.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&SessionCell> {
        self.sessions.get(id).map(|cell| &**cell)
    }

    /// The sessions, in no order.
    pub fn sessions(&self) -> impl Iterator<Item = (&Id, &SessionCell)> {
        self.sessions.iter().map(|(id, cell)| (id, &**cell))
    }

    /// How many cells a pool holds.
    #[must_use]
    pub fn count(&self, pool: Pool) -> usize {
        match pool {
            Pool::Sessions => self.sessions.len(),
            Pool::Others => {
                self.flows.len()
                    + self.pairs.len()
                    + self.inboxes.len()
                    + self.conversations.len()
                    + self.agents.len()
                    + self.aliases.len()
            }
        }
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

    fn put(&mut self, keys: &CellKeys, cells: Cells, changed: bool) {
        put(
            &mut self.sessions,
            keys.session.as_ref(),
            cells.session,
            changed,
        );
        put(&mut self.sessions, keys.peer.as_ref(), cells.peer, changed);
        put(&mut self.flows, keys.flow.as_ref(), cells.flow, changed);
        put(&mut self.pairs, keys.pair.as_ref(), cells.pair, changed);
        put(&mut self.inboxes, keys.inbox.as_ref(), cells.inbox, changed);
        let conversation = keys.conversation.as_ref();
        put(
            &mut self.conversations,
            conversation,
            cells.conversation,
            changed,
        );
        put(&mut self.agents, keys.agent.as_ref(), cells.agent, changed);
        put(&mut self.aliases, keys.alias.as_ref(), cells.alias, changed);
    }

    /// Every cell of a pool that may be forgotten, with its last event.
    fn idle(&self, pool: Pool) -> Vec<(Timestamp, CellKey)> {
        let mut found = Vec::with_capacity(self.count(pool));
        match pool {
            Pool::Sessions => found.extend(
                self.sessions
                    .iter()
                    .filter(|(_, cell)| may_forget(cell))
                    .map(|(id, cell)| (idle_since(cell.touched()), CellKey::Session(id.clone()))),
            ),
            Pool::Others => {
                found.extend(
                    self.flows
                        .iter()
                        .map(|(id, c)| (idle_since(c.touched()), CellKey::Flow(id.clone()))),
                );
                found.extend(
                    self.pairs
                        .iter()
                        .map(|(ids, c)| (idle_since(c.touched()), CellKey::of_pair(ids))),
                );
                found.extend(
                    self.inboxes
                        .iter()
                        .map(|(key, c)| (idle_since(c.touched()), CellKey::of_inbox(key))),
                );
                found.extend(
                    self.conversations.iter().map(|(id, c)| {
                        (idle_since(c.touched()), CellKey::Conversation(id.clone()))
                    }),
                );
                found.extend(
                    self.agents
                        .iter()
                        .map(|(id, c)| (idle_since(c.touched()), CellKey::Agent(id.clone()))),
                );
                found.extend(
                    self.aliases
                        .iter()
                        .map(|(id, c)| (idle_since(c.touched()), CellKey::Alias(id.clone()))),
                );
            }
        }
        found
    }

    /// Which cells of a pool must go so that at most `keep` stay: the longest idle ones.
    #[must_use]
    pub(crate) fn to_evict(&self, pool: Pool, keep: usize) -> Option<Eviction> {
        let excess = self.count(pool).checked_sub(keep).filter(|n| *n > 0)?;
        let mut idle = self.idle(pool);
        let last = excess.min(idle.len()).checked_sub(1)?;
        let (_, (touched, key), _) = idle.select_nth_unstable(last);
        Some(Eviction {
            pool,
            touched: *touched,
            last: key.clone(),
            cells: u64::try_from(last + 1).unwrap_or(u64::MAX),
        })
    }

    /// Forgets what an eviction names.
    pub(crate) fn evict(&mut self, eviction: &Eviction) {
        let goes = |at, key| (idle_since(at), key) <= (eviction.touched, eviction.last.clone());
        match eviction.pool {
            Pool::Sessions => self.sessions.retain(|id, cell| {
                !(may_forget(cell) && goes(cell.touched(), CellKey::Session(id.clone())))
            }),
            Pool::Others => {
                self.flows
                    .retain(|id, c| !goes(c.touched(), CellKey::Flow(id.clone())));
                self.pairs
                    .retain(|ids, c| !goes(c.touched(), CellKey::of_pair(ids)));
                self.inboxes
                    .retain(|key, c| !goes(c.touched(), CellKey::of_inbox(key)));
                self.conversations
                    .retain(|id, c| !goes(c.touched(), CellKey::Conversation(id.clone())));
                self.agents
                    .retain(|id, c| !goes(c.touched(), CellKey::Agent(id.clone())));
                self.aliases
                    .retain(|id, c| !goes(c.touched(), CellKey::Alias(id.clone())));
            }
        }
    }
}

/// A kill or block outlives everything but a reset.
fn may_forget(cell: &SessionCell) -> bool {
    cell.killed().is_none() && cell.blocked().is_none()
}

/// Times beyond what a database holds are one and the same, so that all stores forget alike.
pub(crate) fn idle_since(touched: Timestamp) -> Timestamp {
    Timestamp(touched.0.min(i64::MAX.unsigned_abs()))
}

impl Known for CellMap {
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
