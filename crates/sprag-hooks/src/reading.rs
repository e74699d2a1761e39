//! What a hook's payload says: where in the client's turn it stands, and which events that makes.
//!
//! Every client tells the same few things in its own words. Codecs pick the words; the events are
//! made here, so that a session, a flow and a pair of call and step mean the same for all.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use sprag::{Event, EventError};
use sprag_core::{MessageKind, Payload};

/// Tool-use ids shorter than this are not taken for globally unique. Some model servers count
/// `call_0`, `call_1` in every answer; as a `use_id` that would make all later calls look like the
/// first, and nothing would be counted.
const MIN_UNIQUE_BYTES: usize = 16;

/// Where in a client's turn a hook stands: it decides what an answer can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A person wrote something.
    Prompt,
    /// A tool is about to run.
    Before,
    /// A tool ran, or failed.
    After,
    /// A sub-agent starts.
    Spawn,
    /// A sub-agent ended.
    Return,
    /// Something that is of no concern here.
    Elsewhere,
}

/// What a payload says.
#[derive(Debug)]
pub struct Reading {
    /// Where it stands.
    pub moment: Moment,
    /// The client's own name of the event; some answers must repeat it.
    pub event_name: String,
    /// In which words the answer must be.
    pub dialect: Dialect,
    /// What to ask the guard, in this order.
    pub events: Vec<Event>,
}

/// The words of an answer. There is no output that all clients understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Claude Code.
    Claude,
    /// Codex CLI: like Claude's, but one unknown key and the whole answer is dropped.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI, camelCase events.
    Copilot,
    /// Copilot CLI that runs Claude's hooks: nested decisions, flat context.
    CopilotNested,
    /// Cursor.
    Cursor,
    /// Sprag's own plugin inside opencode.
    Opencode,
}

/// Why a payload can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There was none.
    #[error("the payload is empty")]
    Empty,
    /// It is longer than any event may be.
    #[error("the payload has more than {max} bytes")]
    TooLong {
        /// The most that is read.
        max: usize,
    },
    /// It is no JSON object, or a field is not what it was.
    #[error("the payload can't be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// Something that must be there is not.
    #[error("the payload has no {0}")]
    Missing(&'static str),
    /// It can be read, but makes no event.
    #[error("the payload makes no event: {0}")]
    Event(#[from] EventError),
}

/// Who acts, as the client tells it.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    /// The client's session.
    pub(crate) root: String,
    /// The sub-agent, inside one.
    pub(crate) sub: Option<String>,
    /// The sub-agent's type, else the client's name.
    pub(crate) agent: String,
    /// Everything that one word of the user caused.
    pub(crate) flow: String,
}

/// A tool and what it is called with.
#[derive(Debug, Clone)]
pub(crate) struct Used {
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) args: Option<Payload>,
    /// The client's id of this use, where it has one.
    pub(crate) id: Option<String>,
    /// Whether that id is the same wherever this use is seen.
    pub(crate) is_global: bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) result: Option<Payload>,
    pub(crate) is_error: bool,
}

impl Who {
    pub(crate) fn session(&self) -> String {
        match &self.sub {
            Some(sub) => format!("{}/{sub}", self.root),
            None => self.root.clone(),
        }
    }

    /// A call before it runs.
    pub(crate) fn call(&self, used: &Used) -> Result<Event, EventError> {
        let session = self.session();
        let mut event = Event::call(&session, &used.tool)?
            .agent(&self.agent)?
            .flow(&self.flow)?
            .id(&used.pair())?;
        if let Some(server) = &used.server {
            event = event.server(server)?;
        }
        if let Some(id) = used.use_id() {
            event = event.use_id(id)?;
        }
        if let Some(args) = &used.args {
            event = event.args(args.clone());
        }
        Ok(event.into())
    }

    /// A call after it ran. It says again what was called, for where its call was never seen.
    pub(crate) fn step(&self, used: &Used, outcome: Outcome) -> Result<Event, EventError> {
        let mut event = Event::step(&self.session())?
            .agent(&self.agent)?
            .flow(&self.flow)?
            .id(&used.pair())?
            .tool(&used.tool)?
            .is_error(outcome.is_error);
        if let Some(server) = &used.server {
            event = event.server(server)?;
        }
        if let Some(id) = used.use_id() {
            event = event.use_id(id)?;
        }
        if let Some(args) = &used.args {
            event = event.args(args.clone());
        }
        if let Some(result) = outcome.result {
            event = event.result(result);
        }
        Ok(event.into())
    }

    /// A person's word to the session.
    pub(crate) fn prompt(&self, text: Option<Payload>) -> Result<Event, EventError> {
        let mut event = Event::message(&self.session())?
            .flow(&self.flow)?
            .to_agent(&self.agent)?
            .unblock();
        if let Some(text) = text {
            event = event.content(text);
        }
        Ok(event.into())
    }

    /// A sub-agent of this one starts or ends.
    pub(crate) fn family(
        &self,
        kind: MessageKind,
        child: &str,
        child_agent: &str,
    ) -> Result<Event, EventError> {
        let (parent, child) = (self.session(), format!("{}/{child}", self.root));
        let event = if kind == MessageKind::Return {
            Event::message(&parent)?
                .from(&child)?
                .agent(child_agent)?
                .to_agent(&self.agent)?
        } else {
            Event::message(&child)?
                .from(&parent)?
                .agent(&self.agent)?
                .to_agent(child_agent)?
        };
        Ok(event.flow(&self.flow)?.kind(kind).into())
    }

    /// Whether this one may start another below itself, asked before it does: once a client has
    /// started a sub-agent, no hook can take it back. Only a sub-agent need ask; the one below the
    /// user is never too deep.
    pub(crate) fn may_delegate(&self) -> Result<Option<Event>, EventError> {
        if self.sub.is_none() {
            return Ok(None);
        }
        let session = self.session();
        let event = Event::message(&format!("{session}/next"))?
            .from(&session)?
            .agent(&self.agent)?
            .flow(&self.flow)?
            .kind(MessageKind::Spawn);
        Ok(Some(event.into()))
    }
}

impl Used {
    /// What pairs a call with its step: the client's id, else what was called.
    fn pair(&self) -> String {
        if let Some(id) = &self.id {
            return id.clone();
        }
        let mut hasher = DefaultHasher::new();
        (&self.server, &self.tool).hash(&mut hasher);
        self.args.as_ref().map(Payload::as_json).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn use_id(&self) -> Option<&str> {
        let id = self.id.as_deref().filter(|_| self.is_global);
        id.filter(|id| id.len() >= MIN_UNIQUE_BYTES)
    }
}
