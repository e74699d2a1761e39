//! What was said in a flow, so that a message that says something new can be told from one that repeats.
//!
//! New is a content that the flow has not seen, ids and times apart. One that differs from the last with the
//! same words only by numbers that go up a little counts on: attempt 7, attempt 8. That is neither new nor
//! a repetition. Without a content nothing is known, and neither is with the first one: there is nothing to
//! compare it with.
//!
//! Bounded by: the 64 contents that were said last, each with four numbers.

use std::collections::VecDeque;

use crate::observation::Message;
use crate::time::Timestamp;

/// So many contents are remembered.
const MAX_SAID: usize = 64;
/// A number that goes up by no more than this counts on, in thousandths.
const COUNTS_UP_BY: u64 = 16_000;

/// One content as a flow remembers it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The content without noise.
    pub(crate) content: u64,
    /// The content without numbers too; none if it has neither.
    pub(crate) words: Option<u32>,
    pub(crate) figures: Vec<u64>,
}

impl Statement {
    /// What `message` says, if that is known.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        let exact = message.content?.prefix();
        Some(match &message.wording {
            Some(wording) => Self {
                content: wording.normal.prefix(),
                words: Some(wording.words),
                figures: wording.figures.clone(),
            },
            None => Self {
                content: exact,
                words: None,
                figures: Vec::new(),
            },
        })
    }

    /// Whether it is `earlier` with numbers that went up a little.
    fn counts_on(&self, earlier: &Self) -> bool {
        let mut steps = self.figures.iter().zip(&earlier.figures);
        self.figures != earlier.figures
            && self.figures.len() == earlier.figures.len()
            && steps.all(|(now, then)| now >= then && now - then <= COUNTS_UP_BY)
    }
}

/// How a message stands to what was said before it in its flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MessageNovelty {
    /// Its content is not known, or the first one.
    #[default]
    Unknown,
    New,
    CountsOn,
    Repeats,
}

/// What a message brings to its flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MessageNews {
    pub(crate) novelty: MessageNovelty,
    /// One of the two ends reported a step since it last took part in the flow.
    pub(crate) worked: bool,
}

impl MessageNews {
    /// Whether the flow gets on with it.
    pub(crate) fn is_news(self) -> bool {
        self.worked || self.novelty == MessageNovelty::New
    }

    /// Whether it says again what was said, and nothing was done in between.
    pub(crate) fn repeats(self) -> bool {
        !self.worked && self.novelty == MessageNovelty::Repeats
    }
}

/// What was said in a flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FlowNews {
    /// The latest contents, the most recently said last.
    pub(crate) said: VecDeque<Statement>,
    /// When a message last brought something new.
    pub(crate) at: Option<Timestamp>,
    /// So many messages in a row repeated what had been said.
    pub(crate) repeated: u32,
}

impl FlowNews {
    pub(crate) fn novelty(&self, statement: Option<&Statement>) -> MessageNovelty {
        let Some(statement) = statement.filter(|_| !self.said.is_empty()) else {
            return MessageNovelty::Unknown;
        };
        match self.earlier(statement) {
            None => MessageNovelty::New,
            Some((_, true)) => MessageNovelty::Repeats,
            Some((_, false)) => MessageNovelty::CountsOn,
        }
    }

    /// The place of the statement that this one repeats (true) or counts on from.
    fn earlier(&self, statement: &Statement) -> Option<(usize, bool)> {
        let said = || self.said.iter();
        if let Some(at) = said().position(|held| held.content == statement.content) {
            return Some((at, true));
        }
        let alike = |held: &Statement| held.words.is_some() && held.words == statement.words;
        let last = said().rposition(alike)?;
        let counts_on = |held: &Statement| statement.counts_on(held);
        self.said.get(last).filter(|held| counts_on(held))?;
        Some((last, false))
    }

    /// Remembers a message that was let through.
    pub(crate) fn note(&mut self, statement: Option<Statement>, news: MessageNews, now: Timestamp) {
        if news.is_news() {
            self.at = Some(now);
        }
        self.repeated = match news.repeats() {
            true => self.repeated.saturating_add(1),
            false => 0,
        };
        let Some(statement) = statement else {
            return;
        };
        if let Some((at, true)) = self.earlier(&statement) {
            self.said.remove(at);
        } else if self.said.len() >= MAX_SAID {
            self.said.pop_front();
        }
        self.said.push_back(statement);
    }
}
