//! The agent CLIs whose hooks are spoken here.

use sprag_core::words;

words! {
    "client",
    /// An agent CLI.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Client {
        /// Claude Code.
        Claude = "claude",
        /// Codex CLI.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Copilot CLI.
        Copilot = "copilot",
        /// Cursor.
        Cursor = "cursor",
        /// opencode.
        Opencode = "opencode",
    }
}

impl Client {
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
