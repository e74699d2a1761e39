//! What happened, as adapters report it: wire events with their payload.
//!
//! Adapters build events, the wire brings them as JSON. An event lives until the digester has made an
//! [`Observation`](crate::Observation) of it; only there are payloads looked into. So a payload is
//! kept as the JSON text it came as, every name is already an [`Id`], and money is already counted in
//! whole millionths: everything about an event but its payload is checked when it is made.

mod answer;
mod call;
mod dispatch;
mod error;
mod field;
mod message;
mod order;
mod output;
mod payload;
mod step;
mod usage;
mod value;
mod wire;

use serde::Serialize;
use serde_json::Value;

use crate::id::Id;
use crate::time::Timestamp;

pub use answer::AnswerEvent;
pub use call::CallEvent;
pub use dispatch::DispatchEvent;
pub use error::EventError;
pub use message::MessageEvent;
pub use order::OrderEvent;
pub use output::OutputEvent;
pub use payload::Payload;
pub use step::StepEvent;
pub use usage::UsageEvent;

/// The longest event that is read, in bytes.
pub const MAX_EVENT_BYTES: usize = 64 * 1024 * 1024;

/// Something that happened, or is about to. Serialises to the wire format.
///
/// ```
/// use sprag_core::Event;
/// let event: Event = Event::call("s1", "delete_asset")?
///     .agent("cleaner")?
///     .args(serde_json::json!({"asset_id": "fact_sales"}))
///     .into();
/// assert_eq!(event.session().as_str(), "s1");
/// # Ok::<(), sprag_core::EventError>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A message between agents, or to an agent from outside.
    Message(MessageEvent),
    /// A tool call, before it runs.
    Call(CallEvent),
    /// What a call or a compound action did.
    Step(StepEvent),
    /// Tokens and money spent.
    Usage(UsageEvent),
    /// What a model said in one answer.
    Output(OutputEvent),
    /// An operator kills a session.
    Kill(OrderEvent),
    /// An operator resets a session.
    Reset(OrderEvent),
    /// A message starts to be worked on in a session.
    DispatchStart(DispatchEvent),
    /// That work ended.
    DispatchEnd(DispatchEvent),
    /// A person approves a call that was asked about.
    Approve(AnswerEvent),
    /// A person declines it.
    Decline(AnswerEvent),
}

/// The same for the event of every type.
macro_rules! of_each {
    ($self:ident, $event:ident => $do:expr) => {
        match $self {
            Self::Message($event) => $do,
            Self::Call($event) => $do,
            Self::Step($event) => $do,
            Self::Usage($event) => $do,
            Self::Output($event) => $do,
            Self::Kill($event) | Self::Reset($event) => $do,
            Self::DispatchStart($event) | Self::DispatchEnd($event) => $do,
            Self::Approve($event) | Self::Decline($event) => $do,
        }
    };
}

macro_rules! events_from {
    ($($variant:ident($type:ty),)+) => {$(
        impl From<$type> for Event {
            fn from(event: $type) -> Self {
                Self::$variant(event)
            }
        }
    )+};
}

events_from! {
    Message(MessageEvent),
    Call(CallEvent),
    Step(StepEvent),
    Usage(UsageEvent),
    Output(OutputEvent),
}

impl Event {
    /// Reads one event from its JSON text.
    ///
    /// # Errors
    /// Returns an error if the bytes are not one event; it names the field and the position.
    pub fn parse(bytes: &[u8]) -> Result<Self, EventError> {
        wire::parse(bytes)
    }

    /// Reads one event from a JSON value.
    ///
    /// # Errors
    /// Returns an error if the value is not an event; it names the field.
    pub fn from_value(value: &Value) -> Result<Self, EventError> {
        wire::parse(value.to_string().as_bytes())
    }

    /// A message to the session `to`. It is a user's until [`MessageEvent::from`] names a sender.
    ///
    /// # Errors
    /// Returns an error if `to` is not a valid id.
    pub fn message(to: &str) -> Result<MessageEvent, EventError> {
        Ok(MessageEvent::new(field::id("to", to)?))
    }

    /// A call of `tool` by `session`.
    ///
    /// # Errors
    /// Returns an error if one of the two is not a valid id.
    pub fn call(session: &str, tool: &str) -> Result<CallEvent, EventError> {
        let session = field::id("session", session)?;
        Ok(CallEvent::new(session, field::id("tool", tool)?))
    }

    /// A step of `session`.
    ///
    /// # Errors
    /// Returns an error if `session` is not a valid id.
    pub fn step(session: &str) -> Result<StepEvent, EventError> {
        Ok(StepEvent::new(field::id("session", session)?))
    }

    /// What `session` spent.
    ///
    /// # Errors
    /// Returns an error if `session` is not a valid id.
    pub fn usage(session: &str) -> Result<UsageEvent, EventError> {
        Ok(UsageEvent::new(field::id("session", session)?))
    }

    /// What the model said in `session`.
    ///
    /// # Errors
    /// Returns an error if `session` is not a valid id.
    pub fn output(session: &str) -> Result<OutputEvent, EventError> {
        Ok(OutputEvent::new(field::id("session", session)?))
    }

    /// An operator's kill of `session`.
    ///
    /// # Errors
    /// Returns an error if `session` is not a valid id.
    pub fn kill(session: &str) -> Result<Self, EventError> {
        Ok(Self::Kill(OrderEvent::new(field::id("session", session)?)))
    }

    /// An operator's reset of `session`.
    ///
    /// # Errors
    /// Returns an error if `session` is not a valid id.
    pub fn reset(session: &str) -> Result<Self, EventError> {
        Ok(Self::Reset(OrderEvent::new(field::id("session", session)?)))
    }

    /// The same event with payloads that every reader understands the same way.
    pub(crate) fn reduced(&self) -> Self {
        let mut event = self.clone();
        let payloads = match &mut event {
            Self::Message(event) => [Some(&mut event.content), None, None],
            Self::Call(event) => [Some(&mut event.args), None, None],
            Self::Step(event) => [
                Some(&mut event.args),
                Some(&mut event.approach),
                Some(&mut event.result),
            ],
            Self::Output(event) => [Some(&mut event.text), None, None],
            _ => [None, None, None],
        };
        for payload in payloads.into_iter().flatten().flatten() {
            *payload = payload.reduced();
        }
        event
    }

    /// When it happened, if it has a time.
    #[must_use]
    pub fn at(&self) -> Option<Timestamp> {
        of_each!(self, event => event.at)
    }

    /// Sets when it happened.
    pub fn set_at(&mut self, at: Timestamp) {
        of_each!(self, event => event.at = Some(at));
    }

    /// Its type, as on the wire.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::Call(_) => "call",
            Self::Step(_) => "step",
            Self::Usage(_) => "usage",
            Self::Output(_) => "output",
            Self::Kill(_) => "kill",
            Self::Reset(_) => "reset",
            Self::DispatchStart(_) => "dispatch_start",
            Self::DispatchEnd(_) => "dispatch_end",
            Self::Approve(_) => "approve",
            Self::Decline(_) => "decline",
        }
    }

    /// The session that acts; of a message that no agent sent, the one that receives it.
    #[must_use]
    pub fn session(&self) -> &Id {
        match self {
            Self::Message(event) => event.from.as_ref().unwrap_or(&event.to),
            Self::Call(event) => &event.session,
            Self::Step(event) => &event.session,
            Self::Usage(event) => &event.session,
            Self::Output(event) => &event.session,
            Self::Kill(event) | Self::Reset(event) => &event.session,
            Self::DispatchStart(event) | Self::DispatchEnd(event) => &event.session,
            Self::Approve(event) | Self::Decline(event) => &event.session,
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
