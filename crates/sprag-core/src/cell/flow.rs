//! What is remembered of one flow: who started it, who is in it and who called whom.
//!
//! The call stack is kept as a tree: each member knows who called it last from outside its own
//! path. The path from a member to the root is its stack, so parallel branches each have their own
//! and a call back up the path is a return.

use super::spent::Spending;
use super::starts::OpenStarts;
use super::window::Window;
use crate::id::Id;
use crate::observation::Source;
use crate::time::{Millis, Timestamp};

/// At most this many sessions are remembered in a flow.
pub(crate) const MAX_MEMBERS: usize = 256;

/// Who started a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowStarter {
    Agent,
    Outside(Source),
}

/// One session in a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlowMember {
    pub(crate) id: Id,
    pub(crate) parent: Option<Id>,
    pub(crate) last: Timestamp,
    /// Took part in a message other than a sub-agent's start.
    pub(crate) counted: bool,
    pub(crate) revisits: u32,
}

/// Everything caused by one user action.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowCell {
    pub(crate) touched: Timestamp,
    pub(crate) started: Option<(FlowStarter, Timestamp)>,
    pub(crate) chain_since: Timestamp,
    pub(crate) last_attempt: Timestamp,
    pub(crate) members: Vec<FlowMember>,
    pub(crate) calls: Window,
    pub(crate) total: u32,
    pub(crate) spent: Spending,
    /// Sub-agents that have not returned. They outlive the chain.
    pub(crate) starts: OpenStarts,
}

/// The path that a call from one member to another takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    /// The collapsed stack after the call, root first.
    pub(crate) chain: Vec<Id>,
    /// The receiver was already on it.
    pub(crate) is_return: bool,
}

impl Path {
    pub(crate) fn depth(&self) -> u32 {
        u32::try_from(self.chain.len()).unwrap_or(u32::MAX)
    }
}

impl FlowCell {
    pub(crate) fn expire(&mut self, now: Timestamp) {
        if now.since(self.touched) >= Millis::DAY {
            *self = Self::default();
        }
    }

    /// An agent's message names the flow: after a long silence its chain starts afresh.
    pub(crate) fn attempt(&mut self, now: Timestamp, max_duration: Millis) {
        if self.started.is_none() {
            self.start(FlowStarter::Agent, now);
        } else if now.since(self.last_attempt) >= max_duration {
            self.members.clear();
            self.calls.clear();
            self.total = 0;
            self.chain_since = now;
        }
        self.last_attempt = now;
    }

    /// A message from outside names the flow.
    pub(crate) fn start_from_outside(&mut self, source: Source, now: Timestamp) {
        if self.started.is_none() || source == Source::User {
            self.start(FlowStarter::Outside(source), now);
        }
    }

    fn start(&mut self, starter: FlowStarter, now: Timestamp) {
        self.started = Some((starter, now));
        self.chain_since = now;
        self.last_attempt = now;
    }

    /// When a user started it, if a user did.
    pub(crate) fn user_start(&self) -> Option<Timestamp> {
        match self.started {
            Some((FlowStarter::Outside(Source::User), at)) => Some(at),
            _ => None,
        }
    }

    pub(crate) fn member(&self, id: &Id) -> Option<&FlowMember> {
        self.members.iter().find(|member| member.id == *id)
    }

    fn member_mut(&mut self, id: &Id) -> Option<&mut FlowMember> {
        self.members.iter_mut().find(|member| member.id == *id)
    }

    /// The stack that a call from `from` to `to` leads to.
    pub(crate) fn path(&self, from: &Id, to: &Id) -> Path {
        let mut chain = vec![from.clone()];
        let mut at = self.member(from);
        while let Some(parent) = at.and_then(|member| member.parent.as_ref()) {
            chain.push(parent.clone());
            at = self.member(parent);
        }
        chain.reverse();
        if let Some(place) = chain.iter().position(|id| id == to) {
            chain.truncate(place + 1);
            return Path {
                chain,
                is_return: true,
            };
        }
        chain.push(to.clone());
        Path {
            chain,
            is_return: false,
        }
    }

    /// Sessions that took part in a message, with `from` and `to`.
    pub(crate) fn sessions_with(&self, from: &Id, to: &Id) -> u32 {
        let counted = |id: &Id| self.member(id).is_some_and(|member| member.counted);
        let held = self.members.iter().filter(|member| member.counted).count();
        let new = usize::from(!counted(from)) + usize::from(from != to && !counted(to));
        u32::try_from(held + new).unwrap_or(u32::MAX)
    }

    /// Writes an allowed call into the tree.
    pub(crate) fn enter(
        &mut self,
        from: &Id,
        to: &Id,
        is_return: bool,
        counted: bool,
        now: Timestamp,
    ) {
        for id in [from, to] {
            if self.member(id).is_none() {
                self.make_room();
                self.members.push(FlowMember {
                    id: id.clone(),
                    parent: None,
                    last: now,
                    counted: false,
                    revisits: 0,
                });
            }
            if let Some(member) = self.member_mut(id) {
                member.last = now;
                member.counted |= counted;
            }
        }
        if let Some(member) = self.member_mut(to) {
            if !is_return {
                member.parent = Some(from.clone());
            } else if counted {
                member.revisits = member.revisits.saturating_add(1);
            }
        }
    }

    /// Forgets the longest idle member that nobody was called by.
    fn make_room(&mut self) {
        if self.members.len() < MAX_MEMBERS {
            return;
        }
        let is_leaf = |id: &Id| {
            !self
                .members
                .iter()
                .any(|member| member.parent.as_ref() == Some(id))
        };
        let oldest = self
            .members
            .iter()
            .enumerate()
            .filter(|(_, member)| is_leaf(&member.id))
            .min_by_key(|(_, member)| member.last)
            .map(|(at, _)| at);
        if let Some(at) = oldest {
            self.members.remove(at);
        }
    }
}
