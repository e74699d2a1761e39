//! The files in which each client looks for hooks.

use std::path::PathBuf;

use crate::client::Client;

/// For which sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those in one project.
    Project,
    /// All of one user.
    User,
}

/// The folders that settings are looked for in.
#[derive(Debug, Clone)]
pub struct ConfigDirs {
    /// The project.
    pub project: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// Claude Code's settings, if they are not in `~/.claude`.
    pub claude: Option<PathBuf>,
    /// Codex's, if they are not in `~/.codex`.
    pub codex: Option<PathBuf>,
    /// Copilot's, if they are not in `~/.copilot`.
    pub copilot: Option<PathBuf>,
    /// The folder in which Gemini CLI looks for `.gemini`, if it is not the home.
    pub gemini: Option<PathBuf>,
    /// The XDG folder, if it is not `~/.config`.
    pub config: Option<PathBuf>,
}

/// The file that holds, or would hold, the hooks of `client`.
#[must_use]
pub fn settings_path(client: Client, scope: Scope, homes: &ConfigDirs) -> PathBuf {
    let below = |own: &Option<PathBuf>, usual: &str| match own {
        Some(own) => own.clone(),
        None => homes.home.join(usual),
    };
    match (client, scope) {
        (Client::Claude, Scope::Project) => homes.project.join(".claude/settings.json"),
        (Client::Claude, Scope::User) => below(&homes.claude, ".claude").join("settings.json"),
        (Client::Codex, Scope::Project) => homes.project.join(".codex/hooks.json"),
        (Client::Codex, Scope::User) => below(&homes.codex, ".codex").join("hooks.json"),
        (Client::Gemini, Scope::Project) => homes.project.join(".gemini/settings.json"),
        (Client::Gemini, Scope::User) => {
            let home = homes.gemini.as_ref().unwrap_or(&homes.home);
            home.join(".gemini/settings.json")
        }
        (Client::Copilot, Scope::Project) => homes.project.join(".github/hooks/sprag.json"),
        (Client::Copilot, Scope::User) => {
            below(&homes.copilot, ".copilot").join("hooks/sprag.json")
        }
        (Client::Cursor, Scope::Project) => homes.project.join(".cursor/hooks.json"),
        (Client::Cursor, Scope::User) => homes.home.join(".cursor/hooks.json"),
        (Client::Opencode, Scope::Project) => homes.project.join(".opencode/plugin/sprag.js"),
        (Client::Opencode, Scope::User) => {
            below(&homes.config, ".config").join("opencode/plugin/sprag.js")
        }
    }
}
