//! What a call or a compound action did.

use serde::Serialize;

use super::field::id_setters;
use super::{Payload, is_default};
use crate::id::Id;
use crate::observation::{Identity, Via};
use crate::time::Timestamp;

/// A step.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct StepEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The session.
    pub session: Id,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow, for budgets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The id of the call that it completes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The client's globally unique id of the tool use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_id: Option<Id>,
    /// The server of the tool, if the step names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Id>,
    /// The tool's bare name, if the step reports what was done itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Id>,
    /// What the tool was called with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Payload>,
    /// The program text of a compound action, if there is no tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approach: Option<Payload>,
    /// What came of it; on the wire also `outcome`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Payload>,
    /// Whether the tool said that it failed.
    #[serde(skip_serializing_if = "is_default")]
    pub is_error: bool,
    /// The session's generation as the caller knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(skip_serializing_if = "is_default")]
    pub identity: Identity,
    /// What kind of adapter saw it. A guard believes it only where the role allows it.
    #[serde(skip_serializing_if = "is_default")]
    pub via: Via,
}

impl StepEvent {
    /// A step of `session` of which nothing else is known.
    #[must_use]
    pub fn new(session: Id) -> Self {
        Self {
            at: None,
            session,
            agent: None,
            flow: None,
            id: None,
            use_id: None,
            server: None,
            tool: None,
            args: None,
            approach: None,
            result: None,
            is_error: false,
            generation: None,
            identity: Identity::default(),
            via: Via::default(),
        }
    }

    id_setters! {
        /// Names the session's agent.
        agent,
        /// Names the flow.
        flow,
        /// Names the call that it completes.
        id,
        /// Names the tool use as the client does.
        use_id,
        /// Names the server that offers the tool.
        server,
        /// Names the tool.
        tool,
    }

    /// Sets the arguments of the tool.
    #[must_use]
    pub fn args(mut self, args: impl Into<Payload>) -> Self {
        self.args = Some(args.into());
        self
    }

    /// Sets the program that was run instead of a tool.
    #[must_use]
    pub fn approach(mut self, program: impl Into<Payload>) -> Self {
        self.approach = Some(program.into());
        self
    }

    /// Sets the result.
    #[must_use]
    pub fn result(mut self, result: impl Into<Payload>) -> Self {
        self.result = Some(result.into());
        self
    }

    /// Sets whether it failed.
    #[must_use]
    pub fn is_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// Marks the session as shared: many agents may stand behind it.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.identity = Identity::Shared;
        self
    }
}
