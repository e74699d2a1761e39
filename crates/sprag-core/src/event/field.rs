//! The fields of wire events by name: one list for reading, building and error messages.

use crate::event::error::EventError;
use crate::id::Id;

macro_rules! fields {
    ($($variant:ident = $name:literal,)+) => {
        /// A field that some type of event has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum EventField { $($variant,)+ }

        impl EventField {
            /// How many there are.
            pub(super) const COUNT: usize = [$($name,)+].len();

            /// The field of this name.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            /// Its name.
            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

fields! {
    Type = "type",
    At = "at",
    Session = "session",
    From = "from",
    To = "to",
    Source = "source",
    Flow = "flow",
    Conversation = "conversation",
    Agent = "agent",
    ToAgent = "to_agent",
    Content = "content",
    Kind = "kind",
    Unblock = "unblock",
    Generation = "generation",
    Identity = "identity",
    Via = "via",
    Dialog = "dialog",
    Id = "id",
    UseId = "use_id",
    Server = "server",
    Tool = "tool",
    Args = "args",
    Hints = "hints",
    Turn = "turn",
    Cwd = "cwd",
    Root = "root",
    Result = "result",
    Outcome = "outcome",
    Approach = "approach",
    IsError = "is_error",
    Text = "text",
    InputTokens = "input_tokens",
    OutputTokens = "output_tokens",
    CostUsd = "cost_usd",
    Model = "model",
    CacheReadTokens = "cache_read_tokens",
    CacheWriteTokens = "cache_write_tokens",
    Pending = "pending",
    By = "by",
    Why = "why",
    Approval = "approval",
    Scope = "scope",
}

/// Checks an id; the error names its field.
pub(super) fn id(field: &'static str, text: &str) -> Result<Id, EventError> {
    Id::new(text).map_err(|source| EventError::Id { field, source })
}

/// Setters for optional ids, in the way of a builder.
macro_rules! id_setters {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// Returns an error if the text is not a valid id.
            pub fn $name(mut self, text: &str) -> Result<Self, $crate::event::EventError> {
                self.$name = Some($crate::event::field::id(stringify!($name), text)?);
                Ok(self)
            }
        )+
    };
}

pub(super) use id_setters;
