//! The sub-agents of one flow that were started and have not returned.
//!
//! A client asks before it starts a sub-agent, when the new session has no id yet. So a start is first known
//! by the call that makes it; the sub-agent's `spawn` takes its place, and the call's result ends one that was
//! never announced. What nobody reports as ended stops counting after half an hour without an event.

use std::collections::VecDeque;

use super::hash::hash_bytes;
use super::window::inside;
use crate::id::Id;
use crate::time::{Millis, Timestamp};

/// At most this many are kept. Past that the longest idle one is forgotten.
pub(crate) const MAX_OPEN_STARTS: usize = 256;
/// A sub-agent without an event for this long counts as ended.
pub(crate) const IDLE: Millis = Millis(30 * Millis::MINUTE.0);

/// A session that starts another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Starter {
    pub(crate) by: Id,
    /// The starter's generation then.
    pub(crate) generation: u32,
}

/// A sub-agent that has not returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenStart {
    /// Its session; none until it is known.
    pub(crate) child: Option<Id>,
    /// The call that starts it, by the hash of its id; 0 if it was announced without one.
    pub(crate) call: u64,
    pub(crate) starter: Starter,
    /// Its last event.
    pub(crate) last: Timestamp,
}

/// The open sub-agents of a flow, and who lately started some.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OpenStarts {
    /// In the order of their starts.
    pub(crate) list: Vec<OpenStart>,
    /// Starts by sub-agents: the hash of the starter and the time, oldest first.
    pub(crate) by_sub_agents: VecDeque<(u64, Timestamp)>,
}

/// A `spawn` as it arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Announced<'a> {
    pub(crate) from: &'a Id,
    pub(crate) to: &'a Id,
    /// The hash of the call's id, if the message names the call.
    pub(crate) call: Option<u64>,
}

impl OpenStarts {
    /// How many are open at `now`.
    pub(crate) fn count(&self, now: Timestamp) -> u32 {
        let open = self.list.iter().filter(|one| inside(one.last, now, IDLE));
        u32::try_from(open.count()).unwrap_or(u32::MAX)
    }

    /// Forgets what is idle, and what `starter` started before its last reset with all that followed from it.
    pub(crate) fn clean(&mut self, starter: &Id, generation: u32, now: Timestamp) {
        self.list.retain(|one| inside(one.last, now, IDLE));
        let mut gone: Vec<Id> = Vec::new();
        let void =
            |one: &OpenStart| one.starter.by == *starter && one.starter.generation < generation;
        loop {
            let before = self.list.len();
            let mut now_gone = Vec::new();
            self.list.retain(|one| {
                let is_void = void(one) || gone.contains(&one.starter.by);
                if is_void {
                    now_gone.extend(one.child.clone());
                }
                !is_void
            });
            gone.append(&mut now_gone);
            if self.list.len() == before {
                return;
            }
        }
    }

    /// The start that `spawn` is about, if it was counted before: the sub-agent itself, else the call that it
    /// names, else the oldest call of its starter. A client that does not know whose child it is names the
    /// session at the top; then it may be the call of any other.
    pub(crate) fn announced(&self, spawn: Announced<'_>) -> Option<usize> {
        let at = |is: &dyn Fn(&OpenStart) -> bool| self.list.iter().position(is);
        if let Some(known) = at(&|one| one.child.as_ref() == Some(spawn.to)) {
            return Some(known);
        }
        let unnamed = |one: &OpenStart| one.child.is_none();
        if let Some(call) = spawn.call {
            return at(&|one| unnamed(one) && one.call == call);
        }
        let own = at(&|one| unnamed(one) && one.starter.by == *spawn.from);
        let is_below = spawn.to.parents().next() == Some(spawn.from.as_str());
        own.or_else(|| is_below.then(|| at(&unnamed)).flatten())
    }

    /// Adds one that was let through.
    pub(crate) fn push(&mut self, start: OpenStart) {
        if self.list.len() >= MAX_OPEN_STARTS {
            let oldest = self.list.iter().enumerate().min_by_key(|(_, one)| one.last);
            if let Some((at, _)) = oldest {
                self.list.remove(at);
            }
        }
        self.list.push(start);
    }

    /// Remembers that a sub-agent started another; the latest `keep` are enough.
    pub(crate) fn push_by_sub_agent(&mut self, starter: &Id, now: Timestamp, keep: u32) {
        let recent = &mut self.by_sub_agents;
        recent.retain(|(_, at)| inside(*at, now, Millis::MINUTE));
        while recent.len() >= keep as usize {
            recent.pop_front();
        }
        recent.push_back((hash_bytes(starter.as_str().as_bytes()), now));
    }

    /// An event of `session`: it is still there.
    pub(crate) fn saw(&mut self, session: &Id, now: Timestamp) {
        // One that was idle for too long has ended, whatever comes later.
        let is_it = |one: &&mut OpenStart| {
            one.child.as_ref() == Some(session) && inside(one.last, now, IDLE)
        };
        if let Some(one) = self.list.iter_mut().find(is_it) {
            one.last = now;
        }
    }

    /// `session` returned.
    pub(crate) fn returned(&mut self, session: &Id) {
        self.list.retain(|one| one.child.as_ref() != Some(session));
    }

    /// The call of `session` by which it started one has its result. A sub-agent that was announced says itself
    /// when it ends: some clients answer the call at once and let it run on.
    pub(crate) fn answered(&mut self, session: &Id, call: u64) {
        let is_it =
            |one: &OpenStart| one.child.is_none() && one.call == call && one.starter.by == *session;
        if let Some(at) = self.list.iter().position(is_it) {
            self.list.remove(at);
        }
    }
}
