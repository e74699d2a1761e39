//! The clients whose settings are known: where they lie and where in them the servers stand.

use std::path::PathBuf;
use std::str::FromStr;

/// An MCP client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpClient {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code, by the `.mcp.json` of a project and the `.claude.json` of the user.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code, by the `.vscode/mcp.json` of a project.
    VsCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// opencode.
    Opencode,
    /// Zed.
    Zed,
}

/// The folders below which clients keep their settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFolders {
    /// The user's home.
    pub home: PathBuf,
    /// The folder in which programs keep their settings.
    pub config: PathBuf,
    /// Claude Code's own folder, if the user moved it.
    pub claude: Option<PathBuf>,
    /// The folder of the project.
    pub project: PathBuf,
}

/// How settings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas where people write them.
    Json,
    /// TOML.
    Toml,
}

/// A client of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no client `{0}`; known are claude, claude-desktop, cursor, vscode, codex, gemini, copilot, opencode and zed"
)]
pub struct UnknownClient(String);

impl McpClient {
    /// Every client.
    pub const ALL: [Self; 9] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Opencode,
        Self::Zed,
    ];

    /// The name of it, which is that of `sprag install` if both know the client.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Zed => "zed",
        }
    }

    /// The agent behind its sessions, as its hooks name it too.
    #[must_use]
    pub const fn agent(self) -> &'static str {
        self.as_str()
    }

    /// How its settings are written.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            _ => Format::Json,
        }
    }

    /// The key under which its servers stand.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
            Self::Zed => "context_servers",
            Self::Opencode => "mcp",
            _ => "mcpServers",
        }
    }

    /// Whether one process of it holds many conversations and tells none of them apart, so that nothing
    /// may mark them all.
    #[must_use]
    pub const fn serves_many(self) -> bool {
        matches!(
            self,
            Self::ClaudeDesktop | Self::Cursor | Self::VsCode | Self::Zed
        )
    }

    /// Whether its settings also hold servers for each project, under `projects`. Claude Code's do:
    /// `claude mcp add` puts a server there unless it is told otherwise.
    pub(super) const fn has_projects(self) -> bool {
        matches!(self, Self::ClaudeCode)
    }

    /// The files that may name its servers.
    #[must_use]
    pub fn places(self, folders: &ClientFolders) -> Vec<PathBuf> {
        let ClientFolders {
            home,
            config,
            claude,
            project,
        } = folders;
        let place = match self {
            Self::ClaudeDesktop if cfg!(target_os = "macos") => {
                home.join("Library/Application Support/Claude/claude_desktop_config.json")
            }
            Self::ClaudeDesktop => config.join("Claude/claude_desktop_config.json"),
            Self::ClaudeCode => {
                let user = claude.as_ref().unwrap_or(home).join(".claude.json");
                return vec![project.join(".mcp.json"), user];
            }
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::VsCode => project.join(".vscode/mcp.json"),
            Self::Codex => home.join(".codex/config.toml"),
            Self::Gemini => home.join(".gemini/settings.json"),
            Self::Copilot => home.join(".copilot/mcp-config.json"),
            Self::Opencode => config.join("opencode/opencode.json"),
            Self::Zed => config.join("zed/settings.json"),
        };
        vec![place]
    }
}

impl FromStr for McpClient {
    type Err = UnknownClient;
    fn from_str(word: &str) -> Result<Self, UnknownClient> {
        // Claude Code had this name here before it had the one that its hooks have.
        let word = if word == "claude-code" {
            "claude"
        } else {
            word
        };
        let found = Self::ALL.into_iter().find(|client| client.as_str() == word);
        found.ok_or_else(|| UnknownClient(word.to_owned()))
    }
}

impl std::fmt::Display for McpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
