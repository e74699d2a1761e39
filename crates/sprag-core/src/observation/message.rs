//! A message between agents, or to an agent from outside.

use serde::{Deserialize, Serialize};

use super::{Identity, is_default, is_false};
use crate::digest::Digest;
use crate::id::Id;

/// Who is behind a message that no agent sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A person.
    #[default]
    User,
    /// A program that a person uses.
    Applet,
    /// A timer.
    Scheduler,
}

/// What a message is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// One talks to another.
    #[default]
    Say,
    /// A sub-agent starts.
    Spawn,
    /// A sub-agent ends.
    Return,
}

/// What a content says apart from its ids, times and numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    /// The digest without noise: ids, times, random words.
    pub normal: Digest,
    /// A short hash of what is left without numbers too.
    pub words: u32,
    /// The first numbers, in thousandths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<u64>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The sending session; none when no agent sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Id>,
    /// The receiving session.
    pub to: Id,
    /// Who is behind it when no agent sent it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub source: Source,
    /// The flow it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Id>,
    /// The sender's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The receiver's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_agent: Option<Id>,
    /// The digest of its content, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
    /// How the content of an agent's message reads without noise, if it has noise or numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wording: Option<Wording>,
    /// Say, spawn or return.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: MessageKind,
    /// Whether this user's message lifts a block.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unblock: bool,
    /// The sender's generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the sender's identity is.
    #[serde(default, skip_serializing_if = "Identity::is_exact")]
    pub identity: Identity,
    /// Of a `spawn`, the client's id of the tool use that starts the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_id: Option<Id>,
    /// The task that it opens its session with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Id>,
    /// The flow that counts the sub-agents around it, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Id>,
}
