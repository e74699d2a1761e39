//! A message between agents, or to an agent from outside.

use serde::Serialize;

use super::field::id_setters;
use super::{Payload, is_default};
use crate::id::Id;
use crate::observation::{Identity, MessageKind, Source};
use crate::time::Timestamp;

/// A message.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MessageEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The sending session; none when no agent sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Id>,
    /// The receiving session.
    pub to: Id,
    /// Who is behind it when no agent sent it.
    #[serde(skip_serializing_if = "is_default")]
    pub source: Source,
    /// The flow it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The conversation it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Id>,
    /// The sender's agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The receiver's agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_agent: Option<Id>,
    /// Its text or any other JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Payload>,
    /// Say, spawn or return.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: MessageKind,
    /// A user's word that lifts a block.
    #[serde(skip_serializing_if = "is_default")]
    pub unblock: bool,
    /// The sender's generation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the sender's identity is.
    #[serde(skip_serializing_if = "is_default")]
    pub identity: Identity,
    /// Of a `spawn`, the client's id of the tool use that starts the sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_id: Option<Id>,
}

impl MessageEvent {
    /// A user's message to `to`.
    #[must_use]
    pub fn new(to: Id) -> Self {
        Self {
            at: None,
            from: None,
            to,
            source: Source::default(),
            flow: None,
            conversation: None,
            agent: None,
            to_agent: None,
            content: None,
            kind: MessageKind::default(),
            unblock: false,
            generation: None,
            identity: Identity::default(),
            use_id: None,
        }
    }

    id_setters! {
        /// Names the sending session.
        from,
        /// Names the flow it belongs to.
        flow,
        /// Names the conversation it belongs to.
        conversation,
        /// Names the sender's agent.
        agent,
        /// Names the receiver's agent.
        to_agent,
        /// Names the tool use by which a sub-agent is started.
        use_id,
    }

    /// Sets who is behind it when no agent sent it.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Sets the content.
    #[must_use]
    pub fn content(mut self, content: impl Into<Payload>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// Sets what it is for.
    #[must_use]
    pub fn kind(mut self, kind: MessageKind) -> Self {
        self.kind = kind;
        self
    }

    /// Makes it lift a block.
    #[must_use]
    pub fn unblock(mut self) -> Self {
        self.unblock = true;
        self
    }
}
