//! What is under way with a server: requests without an answer, tasks, and what is owed.
//!
//! Only what concerns tools is kept. An answer is known by the id of its request, so an id that a server
//! chose for a request of its own is never mistaken for one of the client's: such a message has a
//! method. Every list is bounded and forgets its oldest entry; the answer to a forgotten call passes
//! unjudged.

use std::hash::{DefaultHasher, Hash, Hasher};

use sprag_core::Id;

use crate::bounded_map::BoundedMap;
use crate::tools::Tool;

/// A call that the guard let happen and that has no result yet.
#[derive(Debug, Clone)]
pub(crate) struct PendingCall {
    pub(crate) session: Id,
    /// Many may stand behind that session.
    pub(crate) shared: bool,
    pub(crate) id: Id,
    pub(crate) use_id: Option<Id>,
    pub(crate) flow: Option<Id>,
    /// What it asks for, to know it again in the next round.
    pub(crate) fingerprint: u64,
    /// How often the server asked back.
    pub(crate) rounds: u32,
    /// What the guard said of the call, for next to its result.
    pub(crate) guidance: Option<String>,
}

/// A request whose answer is looked at.
#[derive(Debug)]
pub(crate) enum PendingRequest {
    /// A call of a tool.
    Call(Box<PendingCall>),
    /// How a task stands, or what it brought.
    Task(String),
    /// The list of tools.
    Tools,
    /// Who the server is.
    Introduction,
}

/// Everything that is under way.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// Calls that became tasks, by the task's id.
    pub(crate) tasks: BoundedMap<String, Box<PendingCall>>,
    /// Calls that wait for the client's answer to the server's question, by what they ask for.
    pub(crate) waiting: BoundedMap<u64, Box<PendingCall>>,
    /// Words that found no result to stand next to, by session.
    pub(crate) owed: BoundedMap<Id, String>,
    /// Sessions that were killed or blocked, as far as this proxy heard.
    pub(crate) stopped: BoundedMap<Id, ()>,
    /// The tools that the server listed, by their names.
    pub(crate) tools: BoundedMap<String, Tool>,
    pub(crate) server: Option<Id>,
}

/// What a call asks for, as a number: who asks, the tool and its arguments.
pub(crate) fn fingerprint(session: &Id, tool: &str, args: Option<&str>) -> u64 {
    hash((session.as_str(), tool, args))
}

/// What the next round of that call asks for: the same, with the state that the server gave along.
pub(crate) fn next_round(fingerprint: u64, state: Option<&str>) -> u64 {
    hash((fingerprint, state))
}

/// What that call asks for when its client sends it again, because the stream with its answer was cut.
pub(crate) fn after_cut(fingerprint: u64) -> u64 {
    hash((fingerprint, "cut"))
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
