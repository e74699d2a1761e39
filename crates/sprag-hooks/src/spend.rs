//! What an agent CLI spent, from the transcript that it keeps itself.
//!
//! Hooks say nothing about tokens. The client's transcript does: one line for each answer of the model, or
//! several that repeat it. A hook reads what is new in it and reports that as `usage`, before the event that
//! the hook is for is judged. So a budget that is used up refuses the next call.
//!
//! This module knows what lines mean. Which part of which file is new is [`SpendReader`]'s, because it needs
//! files and a place to remember. An answer has a key: lines with the same key are one answer, and the last
//! one counts.

mod lines;

use sprag::{Event, EventError};
use sprag_core::{Id, Timestamp, Tokens};

use crate::client::Client;
use crate::parsed_hook::{Actor, name};

pub use lines::spent_in;

/// The most reports that one hook makes: one for each agent and model.
const MAX_REPORTS: usize = 16;
/// The longest name of a model, in bytes.
const MAX_MODEL: usize = 128;

/// Where a client wrote down what it spent.
#[derive(Debug, Clone)]
pub struct SpendSource {
    /// The client.
    pub client: Client,
    /// Its session, as it names it.
    pub session: String,
    /// The transcript, if the client names it: the session's, or inside a sub-agent that one's own.
    pub transcript: Option<String>,
    /// Of a sub-agent, the transcript of its session.
    pub of_session: Option<String>,
    /// The session starts with this hook, or goes on after a pause: what stands there was spent before.
    pub starts: bool,
    /// A turn ends with this hook: the client may be about to write down its last answer.
    pub ends: bool,
}

/// A line of a transcript that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptLine {
    /// The model of the answers that follow.
    Model(String),
    /// What the model is to answer next.
    Asked,
    /// An answer of the model.
    Spent(SpentLine),
}

/// One answer of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpentLine {
    /// What is the same in all lines about this answer.
    pub key: String,
    /// When it was given.
    pub at: Option<Timestamp>,
    /// The sub-agent that it was given to.
    pub sub: Option<String>,
    /// The model, if the line names it.
    pub model: Option<String>,
    /// What it used.
    pub tokens: Tokens,
    /// Newer versions of the client write the same in another line: this one counts only without that.
    pub is_copy: bool,
}

/// Reads what is new in transcripts, each part once.
pub trait SpendReader: std::fmt::Debug {
    /// The answers since the last time; nothing if there is no transcript, or if somebody else reads it now.
    fn read(&self, source: &SpendSource) -> Vec<SpentLine>;
    /// What was read has been reported.
    fn keep(&self);
}

/// Who spends, and where that is written down.
#[derive(Debug)]
pub(crate) struct HookSpender {
    pub(crate) actor: Actor,
    pub(crate) source: SpendSource,
    /// The model that the hook names.
    pub(crate) model: Option<String>,
}

impl HookSpender {
    /// What `lines` come to, added up for each agent and model.
    pub(crate) fn usage(&self, lines: Vec<SpentLine>) -> Result<Vec<Event>, EventError> {
        let mut sums: Vec<SpentLine> = Vec::new();
        for mut line in lines {
            line.model = line.model.or_else(|| self.model.clone());
            let same = |sum: &SpentLine| sum.sub == line.sub && sum.model == line.model;
            // So many agents and models at once: what is left goes to the last.
            let full = sums.len() >= MAX_REPORTS;
            let last = full.then(|| sums.len().saturating_sub(1));
            match sums
                .iter()
                .position(same)
                .or(last)
                .and_then(|at| sums.get_mut(at))
            {
                Some(sum) => sum.tokens = added(sum.tokens, line.tokens),
                None => sums.push(line),
            }
        }
        sums.iter().map(|sum| self.report(sum)).collect()
    }

    fn report(&self, sum: &SpentLine) -> Result<Event, EventError> {
        let sub = sum.sub.clone().or_else(|| self.actor.sub.clone());
        let agent = match sub == self.actor.sub {
            true => self.actor.agent.clone(),
            false => self.source.client.as_str().to_owned(),
        };
        let actor = Actor {
            agent,
            sub,
            ..self.actor.clone()
        };
        usage(&actor, sum.model.as_deref(), sum.tokens)
    }
}

/// What `actor` spent.
pub(crate) fn usage(
    actor: &Actor,
    model: Option<&str>,
    tokens: Tokens,
) -> Result<Event, EventError> {
    let mut event = Event::usage(&actor.session())?
        .agent(&name(&actor.agent))?
        .flow(&name(&actor.flow))?
        .tokens(tokens.input, tokens.output)
        .cache(tokens.cache_read, tokens.cache_write);
    event.model = model.map(|model| Id::reduced(model, MAX_MODEL));
    Ok(event.into())
}

fn added(one: Tokens, other: Tokens) -> Tokens {
    Tokens {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
    }
}
