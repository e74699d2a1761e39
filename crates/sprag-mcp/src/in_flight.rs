//! What is in flight with a server: calls without a result, tasks, and guidance still to be delivered.
//!
//! Only what concerns tools is kept. Every map is bounded and forgets its oldest entry; the result of a
//! forgotten call passes unjudged.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use sprag_core::{Id, Sender};

use crate::bounded_map::BoundedMap;
use crate::gate::HeldCall;
use crate::tools::Tool;

/// A call that the guard allowed and that has no result yet.
#[derive(Debug, Clone)]
pub(crate) struct InFlightCall {
    pub(crate) session: Id,
    /// Who named that session; none if the proxy chose it.
    pub(crate) sender: Option<Arc<Sender>>,
    /// Several conversations may share that session.
    pub(crate) shared: bool,
    pub(crate) id: Id,
    pub(crate) use_id: Option<Id>,
    pub(crate) flow: Option<Id>,
    /// Recognises the call in its next round.
    pub(crate) fingerprint: u64,
    /// How often the server asked for input.
    pub(crate) rounds: u32,
    /// The guard's guidance on the call, to be delivered with its result.
    pub(crate) guidance: Option<String>,
}

/// A request whose response is inspected.
#[derive(Debug)]
pub(crate) enum PendingRequest {
    /// A call of a tool.
    Call(Box<InFlightCall>),
    /// The status or the result of the task with this id.
    Task(String),
    /// The list of tools.
    Tools,
    /// The server's name.
    Introduction,
}

/// Everything that is in flight with one server.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// Calls that became tasks, by the task's id.
    pub(crate) tasks: BoundedMap<String, Box<InFlightCall>>,
    /// Calls that the client will send again, by the fingerprint that the next round has: with the input
    /// that the server asked for, or because the response was cut off.
    pub(crate) waiting: BoundedMap<u64, Box<InFlightCall>>,
    /// Guidance that found no result to stand next to, by session.
    pub(crate) owed: BoundedMap<Id, String>,
    /// Sessions that were killed or blocked, as far as this proxy knows.
    pub(crate) stopped: BoundedMap<Id, ()>,
    /// The generation in which a session was killed, as far as this proxy knows.
    pub(crate) killed: BoundedMap<Id, u32>,
    /// The generation in which this run of a session began, as far as this proxy knows.
    pub(crate) begun: BoundedMap<Id, u32>,
    /// The tools that the server listed, by name.
    pub(crate) tools: BoundedMap<String, Tool>,
    /// Calls that wait for a person, by the id of the question.
    pub(crate) held: BoundedMap<String, HeldCall>,
    pub(crate) server: Option<Id>,
}

/// The fingerprint of a call: session, tool and arguments.
pub(crate) fn fingerprint(session: &Id, tool: &str, args: Option<&str>) -> u64 {
    hash((session.as_str(), tool, args))
}

/// The fingerprint of a call's next round, which brings back the state that the server gave along.
pub(crate) fn next_round(fingerprint: u64, state: Option<&str>) -> u64 {
    hash((fingerprint, state))
}

/// The fingerprint of a call that is sent again because the stream with its response was cut.
pub(crate) fn after_cut(fingerprint: u64) -> u64 {
    hash((fingerprint, "cut"))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
