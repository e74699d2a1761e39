//! Every cell in memory: what a replay folds into, and what a store that owns its data works on.
//!
//! The map holds no policy, because each record of a log names its own, and it knows nothing about
//! capacity: which cells a store forgets is the store's decision.

mod above;
mod by_key;

use std::collections::HashMap;
use std::hash::Hash;

pub use above::{Above, MAX_STARTERS};

use crate::cell::{
    AgentCell, AliasCell, CLOCK_TOLERANCE, CellKeys, Cells, ConversationCell, EarlierRun, FlowCell,
    InboxCell, InboxKey, PairCell, SessionAbove, SessionCell, SpentAbove, TaskCell,
};
use crate::engine::{EngineError, fold};
use crate::id::Id;
use crate::observation::Observation;
use crate::policy::Policy;
use crate::resolve::{Family, Known};
use crate::sender::Owner;
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// Every cell, by what it concerns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellMap {
    /// One cell per session.
    pub sessions: HashMap<Id, Box<SessionCell>>,
    /// One cell per flow.
    pub flows: HashMap<Id, Box<FlowCell>>,
    /// One cell per two sessions that talk, in the order of their ids.
    pub pairs: HashMap<(Id, Id), Box<PairCell>>,
    /// One cell per inbox.
    pub inboxes: HashMap<InboxKey, Box<InboxCell>>,
    /// One cell per tracked conversation.
    pub conversations: HashMap<Id, Box<ConversationCell>>,
    /// One cell per agent.
    pub agents: HashMap<Id, Box<AgentCell>>,
    /// One cell per tool-use id.
    pub aliases: HashMap<Id, Box<AliasCell>>,
    /// One cell per task.
    pub tasks: HashMap<Id, Box<TaskCell>>,
}

/// Moves a cell out of its map, or makes a new one. Nothing is copied.
fn take<K: Hash + Eq, C: Default>(map: &mut HashMap<K, Box<C>>, key: Option<&K>) -> Option<Box<C>> {
    key.map(|key| map.remove(key).unwrap_or_default())
}

fn copy<K: Hash + Eq, C: Default + Clone>(
    map: &HashMap<K, Box<C>>,
    key: Option<&K>,
) -> Option<Box<C>> {
    key.map(|key| map.get(key).cloned().unwrap_or_default())
}

/// Moves a cell back. After an input that was refused, a cell that is still new is left out, so
/// that the map equals the one before.
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

/// The cells that `$keys` name, each as `$get` gets it from its map.
macro_rules! cells {
    ($self:ident, $keys:ident, $get:ident(&$($mut:tt)?), |$id:ident| $above:expr) => {{
        let (above, peer_above) = $self.above_both($keys);
        Cells {
            killed_above: above.killed,
            peer_killed_above: peer_above.killed,
            stale_above: above.stale,
            peer_stale_above: peer_above.stale,
            starters: above.starters,
            spent_above: $self.spent_above($keys),
            above: $keys
                .above
                .iter()
                .filter_map(|$id| Some(SessionAbove::new($id.clone(), $above?)))
                .collect(),
            session: $get(&$($mut)? $self.sessions, $keys.session.as_ref()),
            peer: $get(&$($mut)? $self.sessions, $keys.peer.as_ref()),
            flow: $get(&$($mut)? $self.flows, $keys.flow.as_ref()),
            family: $get(&$($mut)? $self.flows, $keys.family.as_ref()),
            pair: $get(&$($mut)? $self.pairs, $keys.pair.as_ref()),
            inbox: $get(&$($mut)? $self.inboxes, $keys.inbox.as_ref()),
            conversation: $get(&$($mut)? $self.conversations, $keys.conversation.as_ref()),
            agent: $get(&$($mut)? $self.agents, $keys.agent.as_ref()),
            alias: $get(&$($mut)? $self.aliases, $keys.alias.as_ref()),
            runs: $self.runs($keys.task.as_ref()),
            task: $get(&$($mut)? $self.tasks, $keys.task.as_ref()),
        }
    }};
}

impl CellMap {
    /// Folds a resolved observation, and returns the cells it touched with the verdict.
    ///
    /// # Errors
    /// Returns an error if the engine refuses the input. Then nothing is changed.
    pub fn fold(
        &mut self,
        policy: &Policy,
        observation: &Observation,
    ) -> Result<(Verdict, CellKeys), EngineError> {
        let mut keys = CellKeys::of(observation, policy);
        let mut cells = self.take(&keys);
        let verdict = fold(policy, observation, &mut cells);
        let counted = cells.above.iter().filter(|above| above.is_counted);
        keys.above = counted.map(|above| above.id.clone()).collect();
        self.put(&keys, cells, verdict.is_ok());
        Ok((verdict?, keys))
    }

    /// Whether a cell that `keys` name is so far ahead of `at` that its windows would not slide on.
    #[must_use]
    pub fn are_ahead(&self, keys: &CellKeys, at: Timestamp) -> bool {
        let limit = at.plus(CLOCK_TOLERANCE);
        macro_rules! any_ahead {
            ($($map:ident $slot:ident),+) => {
                false $(|| {
                    let cell = keys.$slot.as_ref().and_then(|key| self.$map.get(key));
                    cell.is_some_and(|cell| cell.touched() > limit)
                })+
            };
        }
        let above = keys.above.iter().filter_map(|id| self.sessions.get(id));
        above
            .map(|cell| cell.touched())
            .any(|touched| touched > limit)
            || any_ahead!(
                sessions session, sessions peer, flows flow, flows family, tasks task, pairs pair, inboxes inbox,
                conversations conversation, agents agent, aliases alias
            )
    }

    /// A copy of the cells that `keys` name; new cells for those that are missing.
    #[must_use]
    pub fn copy(&self, keys: &CellKeys) -> Cells {
        cells!(self, keys, copy(&), |id| self.sessions.get(id).cloned())
    }

    /// The cell of a session, if it is known.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&SessionCell> {
        self.sessions.get(id).map(|cell| &**cell)
    }

    /// What the sessions above have spent, unless the event takes them along.
    fn spent_above(&self, keys: &CellKeys) -> Vec<SpentAbove> {
        let Some(session) = keys.session.as_ref().filter(|_| keys.above.is_empty()) else {
            return Vec::new();
        };
        session
            .parents()
            .filter_map(|id| SpentAbove::of(id, self.session(id)?))
            .collect()
    }

    /// What the runs of a task did, as far as their sessions are known.
    fn runs(&self, task: Option<&Id>) -> Vec<EarlierRun> {
        let task = task.and_then(|task| self.tasks.get(task));
        let runs = task.into_iter().flat_map(|task| &task.runs);
        let known = runs.filter_map(|run| {
            let cell = self.sessions.get(&run.session)?;
            (cell.generation == run.generation).then_some(EarlierRun {
                trace: cell.held.run,
                opened: run.at,
                touched: cell.touched,
            })
        });
        known.collect()
    }

    fn take(&mut self, keys: &CellKeys) -> Cells {
        cells!(self, keys, take(&mut), |id| self.sessions.remove(id))
    }

    fn put(&mut self, keys: &CellKeys, cells: Cells, changed: bool) {
        for above in cells.above {
            self.sessions.insert(above.id, above.cell);
        }
        macro_rules! put {
            ($($slot:ident into $map:ident),+) => {
                $(put(&mut self.$map, keys.$slot.as_ref(), cells.$slot, changed);)+
            };
        }
        put!(
            session into sessions,
            peer into sessions,
            flow into flows,
            family into flows,
            pair into pairs,
            inbox into inboxes,
            conversation into conversations,
            agent into agents,
            alias into aliases,
            task into tasks
        );
    }
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

    fn family_of(&self, session: &Id) -> Option<Family> {
        let cell = self.sessions.get(session)?;
        Some(Family {
            flow: cell.family()?.clone(),
            is_sub_agent: cell.starter().is_some(),
        })
    }

    fn is_opened(&self, session: &Id, at: Timestamp) -> bool {
        let cell = self.sessions.get(session);
        cell.is_some_and(|cell| cell.is_opened(at))
    }

    fn owner_of(&self, session: &str) -> Option<&Owner> {
        self.session(session)?.owner()
    }
}
