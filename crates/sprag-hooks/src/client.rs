//! The agent CLIs whose hooks are spoken here.

use std::fmt;
use std::str::FromStr;

/// An agent CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// opencode.
    Opencode,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Cursor,
        Self::Opencode,
    ];

    /// The word for it on a command line; also the agent behind its sessions.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Opencode => "opencode",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex CLI",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::Opencode => "opencode",
        }
    }

    /// The version that the hooks were tried with; none for a client that they were not tried with.
    #[must_use]
    pub const fn tried_version(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("2.1.325"),
            Self::Codex => Some("0.166.0"),
            Self::Gemini => Some("0.61.0"),
            Self::Copilot => Some("1.0.102"),
            Self::Cursor => None,
            Self::Opencode => Some("1.18.33"),
        }
    }

    /// The program that people start.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Cursor => "cursor-agent",
            other => other.as_str(),
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// There is no such client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no client {found:?}; known are claude, codex, gemini, copilot, cursor, opencode")]
pub struct UnknownClient {
    found: String,
}

impl FromStr for Client {
    type Err = UnknownClient;
    fn from_str(word: &str) -> Result<Self, UnknownClient> {
        let known = Self::ALL.into_iter().find(|client| client.as_str() == word);
        known.ok_or_else(|| UnknownClient {
            found: word.to_owned(),
        })
    }
}
