//! What is remembered of one flow: who started it, who is in it and who called whom.
//!
//! The call stack is kept as a tree: each member knows who called it last from outside its own
//! path. The path from a member to the root is its stack, so parallel branches each have their own
//! and a call back up the path is a return.

use super::flow_news::{FlowNews, MessageNews, Statement};
use super::spent::Spending;
use super::starts::OpenStarts;
use super::window::{Weighed, Window};
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
    /// Its step counter when it last took part.
    pub(crate) steps: u64,
    /// It came in with a message that said something new.
    pub(crate) by_news: bool,
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
    /// The times of messages that brought something new.
    pub(crate) new_calls: Window,
    pub(crate) news: FlowNews,
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
            self.new_calls.clear();
            self.news = FlowNews::default();
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
        self.news.repeated = 0;
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

    /// Since when nothing new was said or done in it.
    pub(crate) fn idle_since(&self) -> Timestamp {
        self.chain_since.max(self.news.at.unwrap_or_default())
    }

    /// What a message of `from` to `to` brings, each with its step counter.
    pub(crate) fn news_of(
        &self,
        statement: Option<&Statement>,
        ends: [(&Id, u64); 2],
    ) -> MessageNews {
        let worked = |(id, steps): &(&Id, u64)| {
            let member = self.member(id);
            member.is_some_and(|member| member.steps != *steps)
        };
        MessageNews {
            novelty: self.news.novelty(statement),
            worked: ends.iter().any(worked),
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

    /// Sessions that took part in a message, with `from` and `to`: those that came in with something new
    /// apart from the others.
    pub(crate) fn sessions_with(&self, from: &Id, to: &Id, is_news: bool) -> Weighed {
        let counted = |id: &Id| self.member(id).is_some_and(|member| member.counted);
        let joining = usize::from(!counted(from)) + usize::from(from != to && !counted(to));
        let mut sessions = self.sessions();
        match is_news {
            true => sessions.new += joining,
            false => sessions.plain += joining,
        }
        sessions
    }

    /// Sessions that took part in a message.
    pub(crate) fn sessions(&self) -> Weighed {
        let held = || self.members.iter().filter(|member| member.counted);
        let new = held().filter(|member| member.by_news).count();
        Weighed {
            plain: held().count() - new,
            new,
        }
    }

    /// Writes an allowed call into the tree; what a `say` brings is known.
    pub(crate) fn enter(
        &mut self,
        ends: [(&Id, u64); 2],
        is_return: bool,
        counted: Option<MessageNews>,
        now: Timestamp,
    ) {
        let [(from, _), (to, _)] = ends;
        for (id, steps) in ends {
            if self.member(id).is_none() {
                self.make_room();
                self.members.push(FlowMember {
                    id: id.clone(),
                    parent: None,
                    last: now,
                    counted: false,
                    revisits: 0,
                    steps,
                    by_news: false,
                });
            }
            if let Some(member) = self.member_mut(id) {
                member.last = now;
                member.steps = steps;
                if let Some(news) = counted.filter(|_| !member.counted) {
                    member.counted = true;
                    member.by_news = news.is_news();
                }
            }
        }
        if let Some(member) = self.member_mut(to) {
            if !is_return {
                member.parent = Some(from.clone());
            } else if counted.is_some() {
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
