//! What a hook's payload reports: the phase of the client's turn, and the events it makes.
//!
//! Every client reports the same few things in its own format. Codecs parse the format; the events are
//! built here, so that a session, a flow and a pair of call and step mean the same for all of them.
//!
//! Clients choose names freely, so names that are not valid ids are reduced to ids: a call whose tool
//! has an odd name must still be judged.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use sprag::{Event, EventError, Id};
use sprag_core::{MAX_ID_BYTES, MessageEvent, MessageKind, Payload};

use crate::client::Client;
use crate::spend::HookSpender;

/// Tool-use ids shorter than this are not taken for globally unique. Some model servers count
/// `call_0`, `call_1` in every answer; as a `use_id` that would make all later calls look like the
/// first, and nothing would be counted.
const MIN_UNIQUE_BYTES: usize = 16;
/// Whether `payload` is about a tool use whose id is not taken for unique: two hooks that report it would have it
/// counted twice.
#[must_use]
pub fn has_loose_id(payload: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct ToolUseId {
        tool_use_id: Option<String>,
    }
    let read = serde_json::from_slice(payload).ok();
    let id = read.and_then(|read: ToolUseId| read.tool_use_id);
    id.is_some_and(|id| id.len() < MIN_UNIQUE_BYTES)
}

/// The longest part of a session id that names the client's session.
const MAX_ROOT_BYTES: usize = 160;
/// The longest part of a session id that names a sub-agent. Both parts, a slash and the name that a
/// sub-agent's sub-agent is asked for under must fit into an id.
const MAX_SUB_BYTES: usize = 80;

/// The phase of a client's turn in which a hook runs. It decides what an answer can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookPhase {
    /// A person wrote something.
    Prompt,
    /// A tool is about to run.
    Before,
    /// A tool ran, or failed.
    After,
    /// All tools of one answer of the model ended.
    Batch,
    /// A sub-agent starts.
    Spawn,
    /// A sub-agent ended.
    Return,
    /// A session starts.
    Start,
    /// Nothing that the guard judges.
    Ignored,
}

/// A payload, parsed.
#[derive(Debug)]
pub struct ParsedHook {
    /// The phase in which the hook runs.
    pub phase: HookPhase,
    /// The client's own name of the event; some answers must repeat it.
    pub event_name: String,
    /// The format of the answer.
    pub dialect: Dialect,
    /// What to ask the guard, in this order.
    pub events: Vec<Event>,
    /// What the client gives to the model as the result of a failed tool, if an answer can only replace
    /// it and not add to it.
    pub replaced_result: Option<String>,
    /// Whether the client really asks its user if a hook tells it to, in the mode that it is in. If not, a
    /// call that needs approval is refused.
    pub can_ask: bool,
    /// Who spends, if the client keeps a transcript.
    pub(crate) spender: Option<HookSpender>,
}

impl ParsedHook {
    /// A hook that reports nothing yet.
    pub(crate) fn new(phase: HookPhase, event_name: &str, dialect: Dialect) -> Self {
        Self {
            phase,
            event_name: event_name.to_owned(),
            dialect,
            events: Vec::new(),
            replaced_result: None,
            can_ask: matches!(
                dialect,
                Dialect::Copilot | Dialect::CopilotNested | Dialect::Cursor
            ),
            spender: None,
        }
    }
}

/// The format of an answer. There is no output that all clients understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Claude Code.
    Claude,
    /// Codex CLI: like Claude's, but it drops an answer that has one unknown key.
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
    /// It is not a JSON object, or a field has another type than expected.
    #[error("the payload can't be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// A field that must be there is missing.
    #[error("the payload has no {0}")]
    Missing(&'static str),
    /// It can be read, but makes no event.
    #[error("the payload makes no event: {0}")]
    Event(#[from] EventError),
}

/// Who acts, as the client reports it.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
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
pub(crate) struct ToolUse {
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) args: Option<Payload>,
    /// The client's id of this use, if it has one.
    pub(crate) id: Option<String>,
    /// Whether that id is the same wherever this use is seen.
    pub(crate) is_global: bool,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolOutcome {
    pub(crate) result: Option<Payload>,
    pub(crate) is_error: bool,
}

/// A name as an id.
pub(crate) fn name(text: &str) -> String {
    Id::reduced(text, MAX_ID_BYTES).as_str().to_owned()
}

/// The session id of `root`, or of its sub-agent `sub`.
fn session_id(root: &str, sub: Option<&str>) -> String {
    let root = Id::reduced(root, MAX_ROOT_BYTES);
    match sub {
        Some(sub) => format!("{root}/{}", Id::reduced(sub, MAX_SUB_BYTES)),
        None => root.as_str().to_owned(),
    }
}

impl Actor {
    pub(crate) fn session(&self) -> String {
        session_id(&self.root, self.sub.as_deref())
    }

    /// A call before it runs.
    pub(crate) fn call(&self, used: &ToolUse) -> Result<Event, EventError> {
        let session = self.session();
        let mut event = Event::call(&session, &name(&used.tool))?
            .agent(&name(&self.agent))?
            .flow(&name(&self.flow))?
            .id(&name(&used.pairing_id()))?;
        if let Some(server) = &used.server {
            event = event.server(&name(server))?;
        }
        if let Some(id) = used.use_id() {
            event = event.use_id(&name(id))?;
        }
        if let Some(args) = &used.args {
            event = event.args(args.clone());
        }
        Ok(event.into())
    }

    /// A call after it ran. It repeats what was called, in case the call itself was never seen.
    pub(crate) fn step(&self, used: &ToolUse, outcome: ToolOutcome) -> Result<Event, EventError> {
        let mut event = Event::step(&self.session())?
            .agent(&name(&self.agent))?
            .flow(&name(&self.flow))?
            .id(&name(&used.pairing_id()))?
            .tool(&name(&used.tool))?
            .is_error(outcome.is_error);
        if let Some(server) = &used.server {
            event = event.server(&name(server))?;
        }
        if let Some(id) = used.use_id() {
            event = event.use_id(&name(id))?;
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
            .flow(&name(&self.flow))?
            .to_agent(&name(&self.agent))?
            .unblock();
        if let Some(text) = text {
            event = event.content(text);
        }
        Ok(event.into())
    }

    /// A sub-agent of this one starts or ends. The question whether it may start was the call of the client's
    /// tool that starts it: once a client has started one, no hook can undo it.
    pub(crate) fn sub_agent_message(
        &self,
        kind: MessageKind,
        child: &str,
        child_agent: &str,
    ) -> Result<Event, EventError> {
        Ok(self.family_message(kind, child, child_agent)?.into())
    }

    /// The sub-agent `child`, which is this one, starts or ends, as its parent in `client` says it.
    pub(crate) fn of_parent(
        &self,
        client: Client,
        phase: HookPhase,
        child: &str,
    ) -> Result<Event, EventError> {
        let parent = Self {
            sub: None,
            agent: client.as_str().to_owned(),
            ..self.clone()
        };
        let kind = match phase {
            HookPhase::Return => MessageKind::Return,
            _ => MessageKind::Spawn,
        };
        parent.sub_agent_message(kind, child, &self.agent)
    }

    /// The call `used` started the sub-agent `child`.
    pub(crate) fn started(
        &self,
        used: &ToolUse,
        child: &str,
        child_agent: &str,
    ) -> Result<Event, EventError> {
        let event = self.family_message(MessageKind::Spawn, child, child_agent)?;
        let call = used
            .use_id()
            .map_or_else(|| used.pairing_id(), str::to_owned);
        Ok(event.use_id(&name(&call))?.into())
    }

    fn family_message(
        &self,
        kind: MessageKind,
        child: &str,
        child_agent: &str,
    ) -> Result<MessageEvent, EventError> {
        let (parent, child) = (self.session(), session_id(&self.root, Some(child)));
        let event = if kind == MessageKind::Return {
            Event::message(&parent)?
                .from(&child)?
                .agent(&name(child_agent))?
                .to_agent(&name(&self.agent))?
        } else {
            Event::message(&child)?
                .from(&parent)?
                .agent(&name(&self.agent))?
                .to_agent(&name(child_agent))?
        };
        // Sub-agents outlive the request of the user that they were started for.
        let flow = session_id(&self.root, None);
        Ok(event.flow(&flow)?.kind(kind))
    }
}

impl ToolUse {
    /// What pairs a call with its step: the client's id, else what was called.
    fn pairing_id(&self) -> String {
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
