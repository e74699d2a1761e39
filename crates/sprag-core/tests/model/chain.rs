//! A flow: who started it, and the chain of messages that runs in it.

use sprag_core::{Id, Message, MessageKind, Millis, Observed, Source, Timestamp};

use super::history::History;
use super::record::Record;

/// An allowed `say` of the chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainMessage<'a> {
    pub(crate) at: Timestamp,
    pub(crate) from: &'a Id,
    pub(crate) to: &'a Id,
    /// It went back to a session on the sender's path.
    pub(crate) returns: bool,
}

/// A flow at a moment.
#[derive(Debug)]
pub(crate) struct Chain<'a> {
    pub(crate) since: Timestamp,
    last_attempt: Timestamp,
    /// When a user last started the flow; none where no user did.
    pub(crate) user_start: Option<Timestamp>,
    pub(crate) said: Vec<ChainMessage<'a>>,
    /// Each member with the one that called it; a root has none.
    members: Vec<(&'a Id, Option<&'a Id>)>,
}

/// Where a message leads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainStep {
    pub(crate) depth: u32,
    pub(crate) returns: bool,
}

impl<'a> History<'a> {
    /// The records since the flow was last forgotten.
    pub(crate) fn flow_life(&self, flow: &Id, now: Timestamp) -> &[Record<'a>] {
        self.life(now, Millis::DAY, |cells| cells.has_flow(Some(flow)))
    }

    /// The flow as its events left it; none where it is new.
    pub(crate) fn chain(&self, flow: &Id, now: Timestamp) -> Option<Chain<'a>> {
        let mut chain = None;
        for record in self.flow_life(flow, now) {
            if record.cells.flow == Some(flow) {
                apply(&mut chain, record);
            }
        }
        chain
    }
}

fn apply<'a>(chain: &mut Option<Chain<'a>>, record: &Record<'a>) {
    // Only messages start a chain; what else names the flow only spends from its budgets.
    let Observed::Message(message) = record.what else {
        return;
    };
    let Some(from) = &message.from else {
        if record.facts.accepted {
            start(chain, message.source, record.now);
        }
        return;
    };
    if let Some(max_duration) = record.facts.attempt {
        let chain = chain.get_or_insert_with(|| Chain::new(record.now));
        chain.attempt(record.now, max_duration);
        if record.facts.accepted {
            chain.write(from, message, record.now);
        }
    }
}

/// A message that no agent sent: it starts what is new, and a user starts anew what is there.
fn start(chain: &mut Option<Chain<'_>>, source: Source, now: Timestamp) {
    let chain = chain.get_or_insert_with(|| Chain::new(now));
    if source == Source::User {
        chain.user_start = Some(now);
        chain.since = now;
        chain.last_attempt = now;
    }
}

impl<'a> Chain<'a> {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            since: now,
            last_attempt: now,
            user_start: None,
            said: Vec::new(),
            members: Vec::new(),
        }
    }

    /// One more attempt: after a silence of `max_duration` the chain starts afresh.
    pub(crate) fn attempt(&mut self, now: Timestamp, max_duration: Millis) {
        if now.since(self.last_attempt) >= max_duration {
            self.since = now;
            self.said.clear();
            self.members.clear();
        }
        self.last_attempt = now;
    }

    /// The session and those that led to it, root first.
    fn path(&self, session: &'a Id) -> Vec<&'a Id> {
        let mut path = vec![session];
        let mut at = session;
        while let Some(parent) = self.parent(at) {
            path.insert(0, parent);
            at = parent;
        }
        path
    }

    fn parent(&self, session: &Id) -> Option<&'a Id> {
        let (_, parent) = self.members.iter().find(|(member, _)| *member == session)?;
        *parent
    }

    /// A receiver on the sender's path is returned to; any other comes after the sender.
    pub(crate) fn place(&self, from: &'a Id, to: &Id) -> ChainStep {
        let path = self.path(from);
        let on_path = path.iter().position(|member| *member == to);
        let before = on_path.unwrap_or(path.len());
        ChainStep {
            depth: u32::try_from(before + 1).expect("histories are short"),
            returns: on_path.is_some(),
        }
    }

    fn write(&mut self, from: &'a Id, message: &'a Message, now: Timestamp) {
        let to = &message.to;
        let returns = self.place(from, to).returns;
        if !self.members.iter().any(|(member, _)| *member == from) {
            self.members.push((from, None));
        }
        if !returns {
            self.members.retain(|(member, _)| *member != to);
            self.members.push((to, Some(from)));
        }
        if message.kind == MessageKind::Say {
            self.said.push(ChainMessage {
                at: now,
                from,
                to,
                returns,
            });
        }
    }
}
