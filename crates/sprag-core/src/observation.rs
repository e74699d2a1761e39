//! What the rules see and the log keeps: an event without its payload.
//!
//! Raw arguments and results are reduced by the digester to digests and a few small features, so the
//! log is small, holds nothing private by default, and can be folded again under any policy.

mod guess;
mod hints;
mod message;
mod order;
mod output;
mod panic;
mod subject;
mod usage;
mod whose;

pub use guess::{Tone, ToolKind};
pub use hints::Hints;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::effect::{ObservedEffect, Reach};
use crate::id::Id;
use crate::sender::Sender;
use crate::time::Timestamp;

pub use message::{Message, MessageKind, Source, Wording};
pub use order::{Answer, Order};
pub use output::Output;
pub use panic::Panic;
pub use subject::{MAX_SAID, Subject};
pub use usage::Usage;

/// An event after digestion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// When it happened, as the event says or as the guard stamped it.
    pub at: Timestamp,
    /// Who handed it in; none if nobody asked, as in a recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
    /// The panic that was in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panic: Option<Panic>,
    /// The clock had jumped ahead and is right again: cells that are more than five minutes ahead of `at` are
    /// taken back to it first. Only a store says so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clock_back: bool,
    /// What happened.
    #[serde(flatten)]
    pub what: Observed,
}

impl Observation {
    /// Something that happened at `at`, from nobody in particular.
    #[must_use]
    pub const fn new(at: Timestamp, what: Observed) -> Self {
        Self {
            at,
            sender: None,
            panic: None,
            clock_back: false,
            what,
        }
    }
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Observed {
    /// A message between agents, or to an agent from outside.
    Message(Message),
    /// A tool call, before it runs.
    Call(Call),
    /// What a call or a compound action did.
    Step(Step),
    /// Tokens and money spent.
    Usage(Usage),
    /// What a model said in one answer.
    Output(Output),
    /// An operator kills a session.
    Kill(Order),
    /// An operator resets a session.
    Reset(Order),
    /// A message starts to be worked on in a session.
    DispatchStart(Dispatch),
    /// That work ended.
    DispatchEnd(Dispatch),
    /// A person approves a call that was asked about.
    Approve(Answer),
    /// A person declines it.
    Decline(Answer),
}

/// How sure it is that a session id stands for one run of one agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Identity {
    /// One run of one agent.
    #[default]
    Exact,
    /// Many may stand behind it: nothing may mark them all.
    Shared,
}

impl Identity {
    fn is_exact(&self) -> bool {
        *self == Self::Exact
    }
}

/// What kind of adapter saw a tool use. Two of different kinds may see the same one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// A program that asks by itself: the API, the command line, the library.
    #[default]
    Api,
    /// A hook of the agent's client.
    Hook,
    /// A proxy between the client and an MCP server.
    Mcp,
    /// A gateway before the model.
    Gateway,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A tool call, before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The calling session.
    pub session: Id,
    /// Its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow, for budgets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The caller's id of this call; its step names it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The client's globally unique id of this tool use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_id: Option<Id>,
    /// What is called with what.
    pub approach: Approach,
    /// The server's own hints about the tool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hints: Hints,
    /// What it destroys, at most [`MAX_EFFECTS`](crate::MAX_EFFECTS).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<ObservedEffect>,
    /// It has a command or SQL that could not be parsed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unparsed: bool,
    /// A command in it gives the guard orders, or changes its store or its hooks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub orders_guard: bool,
    /// How far the paths among its arguments reach; none without a known folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_reach: Option<Reach>,
    /// The project's folder; only of a call with effects, which a policy may allow for one project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Box<str>>,
    /// A fingerprint of the model's turn that made it, where the client names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The session's generation as the caller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(default, skip_serializing_if = "Identity::is_exact")]
    pub identity: Identity,
    /// What kind of adapter saw it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub via: Via,
    /// The flow that counts the sub-agents around it, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Id>,
    /// A hook's client asks its person in its own window.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dialog: bool,
}

/// What a call or a compound action did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The session.
    pub session: Id,
    /// Its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow, for budgets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The id of the call that it completes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The client's globally unique id of the tool use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_id: Option<Id>,
    /// What was done, if the step reports it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<Approach>,
    /// What came of it.
    pub outcome: Outcome,
    /// The session's generation as the caller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(default, skip_serializing_if = "Identity::is_exact")]
    pub identity: Identity,
    /// What kind of adapter saw it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub via: Via,
    /// The flow that counts the sub-agents around it, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Id>,
}

/// What was tried: a tool with its arguments, or a program text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approach {
    /// The server that offers the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Id>,
    /// The tool's bare name; none for a program text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Id>,
    /// The digest of server, tool and canonical arguments.
    pub exact: Digest,
    /// The same with volatile noise taken out of the arguments.
    pub normal: Digest,
    /// What kind of thing it seems to be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: ToolKind,
    /// It waits before it answers: it runs `sleep` or `wait`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waits: bool,
    /// It asks about something that moves by itself: a build, a deployment, a queue, a log.
    #[serde(default, skip_serializing_if = "is_false")]
    pub moves: bool,
    /// It asks a question that can be reworded, such as a search, about no particular thing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub asks: bool,
    /// Its arguments name the thing that it is about: a path, a URL, an id.
    #[serde(default, skip_serializing_if = "is_false")]
    pub aims: bool,
    /// It starts a sub-agent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub delegates: bool,
    /// It is a command that only prints what it is given or what everybody knows.
    #[serde(default, skip_serializing_if = "is_false")]
    pub probes: bool,
    /// A keyed fingerprint of its longest text argument; 0 where there is none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub argument: u32,
    /// What it is about, apart from how it is put.
    #[serde(default, skip_serializing_if = "is_default")]
    pub about: Subject,
    /// The command or file in clear, for messages: a program with its subcommand, or a file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Box<str>>,
    /// The top-level scalar arguments by name, at most [`MAX_FIELDS`](crate::MAX_FIELDS) of them; an
    /// array of scalars has one entry an element under the same name. Secret-looking names are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// The arguments were too long to canonicalise and were digested as raw bytes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub oversized: bool,
}

/// One top-level scalar argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: Box<str>,
    /// The digest of its canonical value.
    pub digest: Digest,
    /// Its value in clear, shortened; only if it is the target of a destructive call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Box<str>>,
}

/// What came of an approach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The digest of the result and the error flag.
    pub exact: Digest,
    /// The same with volatile noise taken out.
    pub normal: Digest,
    /// Whether the tool said that it failed, by a flag or an exit code.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_error: bool,
    /// What kind of answer it seems to be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tone: Tone,
    /// A keyed fingerprint of the result without its numbers; 0 where there is none. Of a failure,
    /// also without its paths.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shape: u32,
    /// It is longer than an acknowledgement.
    #[serde(default, skip_serializing_if = "is_false")]
    pub long: bool,
    /// It says that the thing asked for is not there.
    #[serde(default, skip_serializing_if = "is_false")]
    pub absent: bool,
    /// It is one word.
    #[serde(default, skip_serializing_if = "is_false")]
    pub one_word: bool,
    /// It says that something is still on its way, or that something else is in the way for now.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pending: bool,
    /// Its last lines tell of a failure, whatever stands before them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ends_failing: bool,
    /// A failure that may be a finding: a report that counts problems, or a text that only mentions one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub weak: bool,
    /// Of a failure, short keyed hashes of the words that say what went wrong, at most
    /// [`MAX_FAILURE_WORDS`](crate::MAX_FAILURE_WORDS); none if it says nothing but that it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<u16>,
    /// The first numbers in it, in thousandths, at most [`MAX_NUMBERS`](crate::MAX_NUMBERS); none of a
    /// failure. They tell whether something advances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<u64>,
    /// A fingerprint of the whole result, of the kind that an argument has; 0 where there is none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub said: u32,
    /// The result was too long to canonicalise and was digested as raw bytes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub oversized: bool,
}

/// The start or end of work on a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The session that works.
    pub session: Id,
    /// The flow of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
}
