//! What is under way with a server: requests without an answer, tasks, and what is owed.
//!
//! Only what concerns tools is kept. An answer is known by the id of its request, so an id that a server
//! chose for a request of its own is never mistaken for one of the client's: such a message has a
//! method. Every list is bounded and forgets its oldest entry; the answer to a forgotten call passes
//! unjudged.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use sprag_core::Id;

use crate::tools::Tool;

/// Requests, tasks and sessions that are kept, each.
const MAX_KEPT: usize = 4096;

/// A call that the guard let happen and that has no result yet.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) session: Id,
    /// Many may stand behind that session.
    pub(crate) shared: bool,
    pub(crate) id: Id,
    pub(crate) use_id: Option<Id>,
    pub(crate) flow: Option<Id>,
    /// What it asks for, to know it again in the next round.
    pub(crate) what: u64,
    /// How often the server asked back.
    pub(crate) rounds: u32,
    /// What the guard said of the call, for next to its result.
    pub(crate) word: Option<String>,
}

/// A request whose answer is looked at.
#[derive(Debug)]
pub(crate) enum Asked {
    /// A call of a tool.
    Call(Box<Call>),
    /// How a task stands, or what it brought.
    Task(String),
    /// The list of tools.
    Tools,
    /// Who the server is.
    Introduction,
}

/// Everything that is under way.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Calls that became tasks, by the task's id.
    pub(crate) tasks: Bounded<String, Box<Call>>,
    /// Calls that wait for the client's answer to the server's question, by what they ask for.
    pub(crate) waiting: Bounded<u64, Box<Call>>,
    /// Words that found no result to stand next to, by session.
    pub(crate) owed: Bounded<Id, String>,
    /// Sessions that were killed or blocked, as far as this proxy heard.
    pub(crate) stopped: Bounded<Id, ()>,
    /// The tools that the server listed, by their names.
    pub(crate) tools: Bounded<String, Tool>,
    pub(crate) server: Option<Id>,
}

/// A map that forgets its oldest entry when it is full.
#[derive(Debug)]
pub(crate) struct Bounded<K, V> {
    held: HashMap<K, (u64, V)>,
    count: u64,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Self {
            held: HashMap::new(),
            count: 0,
        }
    }
}

impl<K: Hash + Eq + Clone, V> Bounded<K, V> {
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.held.len() >= MAX_KEPT && !self.held.contains_key(&key) {
            let oldest = self.held.iter().min_by_key(|(_, (count, _))| *count);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                self.held.remove(&key);
            }
        }
        self.count += 1;
        self.held.insert(key, (self.count, value));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(crate) fn take<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.held.remove(key).map(|(_, value)| value)
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.held.get(key).map(|(_, value)| value)
    }
}

/// What a call asks for, as a number: who asks, the tool and its arguments.
pub(crate) fn what(session: &Id, tool: &str, args: Option<&str>) -> u64 {
    hash((session.as_str(), tool, args))
}

/// What the next round of that call asks for: the same, with the state that the server gave along.
pub(crate) fn next_round(what: u64, state: Option<&str>) -> u64 {
    hash((what, state))
}

/// What that call asks for when its client sends it again, because the stream with its answer was cut.
pub(crate) fn after_cut(what: u64) -> u64 {
    hash((what, "cut"))
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_list_forgets_its_oldest_entry() {
        let mut held = Bounded::default();
        (0..MAX_KEPT).for_each(|n| held.insert(n, n));
        held.insert(0, 0);
        held.insert(MAX_KEPT, 7);
        assert_eq!(held.held.len(), MAX_KEPT);
        assert_eq!(held.get(&1), None);
        assert_eq!(held.take(&0), Some(0));
        assert_eq!(held.take(&MAX_KEPT), Some(7));
    }
}
