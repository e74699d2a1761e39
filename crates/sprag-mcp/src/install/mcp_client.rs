//! The clients whose settings are known: where they lie and where in them the servers stand.

use std::path::PathBuf;

use sprag_core::words;

words! {
    "client",
    /// An MCP client.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum McpClient {
        /// Claude Desktop.
        ClaudeDesktop = "claude-desktop",
        /// Claude Code, by the `.mcp.json` of a project and the `.claude.json` of the user.
        ClaudeCode = "claude",
        /// Cursor.
        Cursor = "cursor",
        /// Visual Studio Code, by the `.vscode/mcp.json` of a project.
        VsCode = "vscode",
        /// Codex CLI.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Copilot CLI.
        Copilot = "copilot",
        /// opencode.
        Opencode = "opencode",
        /// Zed.
        Zed = "zed",
    }
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

impl McpClient {
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
