//! A flow: who started it, and the chain of messages that runs in it.

use sprag_core::{Digest, Id, Message, MessageKind, Millis, Observed, Source, Timestamp};

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
    pub(crate) is_news: bool,
    message: &'a Message,
}

/// What a content is known by: its digest without noise.
pub(crate) fn content(message: &Message) -> Option<Digest> {
    let normal = message.wording.as_ref().map(|wording| wording.normal);
    message.content.map(|exact| normal.unwrap_or(exact))
}

/// How a message stands to what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    New,
    CountsOn,
    Repeats,
}

/// A flow at a moment.
#[derive(Debug)]
pub(crate) struct Chain<'a> {
    pub(crate) since: Timestamp,
    last_attempt: Timestamp,
    /// When a user last started the flow; none where no user did.
    pub(crate) user_start: Option<Timestamp>,
    pub(crate) said: Vec<ChainMessage<'a>>,
    /// When something new was last said or done.
    pub(crate) news_at: Option<Timestamp>,
    /// Messages in a row that repeated what was said.
    pub(crate) repeated: usize,
    /// How many steps each member had reported when it last took part.
    steps: Vec<(&'a Id, usize)>,
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
            chain.write(from, message, record);
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
        chain.repeated = 0;
    }
}

impl<'a> Chain<'a> {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            since: now,
            last_attempt: now,
            user_start: None,
            said: Vec::new(),
            news_at: None,
            repeated: 0,
            steps: Vec::new(),
            members: Vec::new(),
        }
    }

    /// One more attempt: after a silence of `max_duration` the chain starts afresh.
    pub(crate) fn attempt(&mut self, now: Timestamp, max_duration: Millis) {
        if now.since(self.last_attempt) >= max_duration {
            self.since = now;
            self.said.clear();
            self.news_at = None;
            self.repeated = 0;
            self.steps.clear();
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

    /// How `message` stands to what was said; none if its content is not known, or the first.
    pub(crate) fn novelty(&self, message: &Message) -> Option<Said> {
        let new = content(message)?;
        if !self.said.iter().any(|said| content(said.message).is_some()) {
            return None;
        }
        if self
            .said
            .iter()
            .any(|said| content(said.message) == Some(new))
        {
            return Some(Said::Repeats);
        }
        let wording = message.wording.as_ref();
        let earlier = self.said.iter().rev().find_map(|said| {
            let held = said.message.wording.as_ref();
            held.filter(|held| wording.is_some_and(|wording| wording.words == held.words))
        });
        let Some((now, then)) = wording.zip(earlier) else {
            return Some(Said::New);
        };
        let steps = now.figures.iter().zip(&then.figures);
        let is_small = |(now, then): (&u64, &u64)| (*then..=then + 16_000).contains(now);
        let counts = now.figures.len() == then.figures.len()
            && now.figures != then.figures
            && steps.into_iter().all(is_small);
        Some(if counts { Said::CountsOn } else { Said::New })
    }

    /// Whether `session`, which has reported `steps` by now, did one since it last took part.
    pub(crate) fn worked(&self, session: &Id, steps: usize) -> bool {
        let mut held = self.steps.iter().filter(|(member, _)| *member == session);
        held.next().is_some_and(|(_, held)| *held != steps)
    }

    /// The sessions that took part in a `say`, with whether something new brought them in.
    pub(crate) fn sessions(&self) -> Vec<(&'a Id, bool)> {
        let mut sessions: Vec<(&Id, bool)> = Vec::new();
        for said in &self.said {
            for id in [said.from, said.to] {
                if !sessions.iter().any(|(held, _)| *held == id) {
                    sessions.push((id, said.is_news));
                }
            }
        }
        sessions
    }

    fn write(&mut self, from: &'a Id, message: &'a Message, record: &Record<'a>) {
        let (to, now) = (&message.to, record.now);
        for (id, steps) in [(from, record.facts.steps.0), (to, record.facts.steps.1)] {
            self.steps.retain(|(held, _)| *held != id);
            self.steps.push((id, steps));
        }
        if message.kind == MessageKind::Say {
            if record.facts.is_news {
                self.news_at = Some(now);
            }
            self.repeated = match record.facts.repeats_flow {
                true => self.repeated + 1,
                false => 0,
            };
        }
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
                is_news: record.facts.is_news,
                message,
            });
        }
    }
}
