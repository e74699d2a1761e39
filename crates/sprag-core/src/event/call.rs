//! A tool call, before it runs.

use serde::Serialize;

use super::field::id_setters;
use super::{Payload, is_default};
use crate::id::Id;
use crate::observation::{Hints, Identity, Via};
use crate::time::Timestamp;

/// The longest path of a folder.
pub(super) const MAX_FOLDER_BYTES: usize = 4096;

fn folder_name(folder: &str) -> Option<Box<str>> {
    (!folder.is_empty() && folder.len() <= MAX_FOLDER_BYTES).then(|| folder.into())
}

/// A tool call.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CallEvent {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The calling session.
    pub session: Id,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Id>,
    /// The flow, for budgets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Id>,
    /// The caller's id of this call; its step names it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The client's globally unique id of this tool use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_id: Option<Id>,
    /// The server that offers the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Id>,
    /// The tool's bare name.
    pub tool: Id,
    /// What it is called with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Payload>,
    /// The server's own hints about the tool.
    #[serde(skip_serializing_if = "is_default")]
    pub hints: Hints,
    /// The turn of the model that made it: calls of one turn are one attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Id>,
    /// The folder in which it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Box<str>>,
    /// The project's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<Box<str>>,
    /// The session's generation as the caller knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// How sure the session's identity is.
    #[serde(skip_serializing_if = "is_default")]
    pub identity: Identity,
    /// What kind of adapter saw it. A guard believes it only where the role allows it.
    #[serde(skip_serializing_if = "is_default")]
    pub via: Via,
    /// The client asks its person in its own window if the verdict is `ask`. A guard believes it of hooks only.
    #[serde(skip_serializing_if = "is_default")]
    pub dialog: bool,
}

impl CallEvent {
    /// A call of `tool` by `session`, without arguments.
    #[must_use]
    pub fn new(session: Id, tool: Id) -> Self {
        Self {
            at: None,
            session,
            agent: None,
            flow: None,
            id: None,
            use_id: None,
            server: None,
            tool,
            args: None,
            hints: Hints::default(),
            turn: None,
            cwd: None,
            root: None,
            generation: None,
            identity: Identity::default(),
            via: Via::default(),
            dialog: false,
        }
    }

    id_setters! {
        /// Names the session's agent.
        agent,
        /// Names the flow.
        flow,
        /// Names this call, so that its step can.
        id,
        /// Names this tool use as the client does.
        use_id,
        /// Names the server that offers the tool.
        server,
        /// Names the turn of the model that made it.
        turn,
    }

    /// Sets the arguments.
    #[must_use]
    pub fn args(mut self, args: impl Into<Payload>) -> Self {
        self.args = Some(args.into());
        self
    }

    /// Names the folder in which it runs. Longer names than a path has are left out.
    #[must_use]
    pub fn cwd(mut self, folder: &str) -> Self {
        self.cwd = folder_name(folder);
        self
    }

    /// Names the project's folder. Longer names than a path has are left out.
    #[must_use]
    pub fn root(mut self, folder: &str) -> Self {
        self.root = folder_name(folder);
        self
    }

    /// Sets the server's hints about the tool.
    #[must_use]
    pub fn hints(mut self, hints: Hints) -> Self {
        self.hints = hints;
        self
    }

    /// Marks the session as shared: many agents may stand behind it.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.identity = Identity::Shared;
        self
    }
}
