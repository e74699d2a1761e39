//! Who wrote a transcript.

use std::fmt;

use serde::{Serialize, Serializer};
use sprag_hooks::Client;

/// Who wrote a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TranscriptSource {
    /// An agent CLI.
    Client(Client),
    /// A program that keeps the messages of a model API: `tool_calls` and their answers.
    Chat,
    /// Sprag itself: events in the wire format.
    Sprag,
}

impl TranscriptSource {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client(client) => client.as_str(),
            Self::Chat => "chat",
            Self::Sprag => "sprag",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Client(client) => client.title(),
            Self::Chat => "chat logs",
            Self::Sprag => "Sprag's logs",
        }
    }
}

impl fmt::Display for TranscriptSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for TranscriptSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
