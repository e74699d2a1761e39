//! The arguments of the commands that live in agent CLIs.

use std::path::PathBuf;

use clap::{Args, Parser};
use sprag::{Capture, FailMode};
use sprag_hooks::Client;
use sprag_hooks::install::Scope;

use super::word::word;
use super::{DbArg, PolicyArg};
use crate::budget::SpendBudget;

/// Which server.
#[derive(Debug, Args)]
pub(crate) struct SocketArg {
    /// The server's socket [default: $SPRAG_SOCKET, else $XDG_RUNTIME_DIR/sprag.sock; beside a
    /// store that was named].
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
}

/// `sprag hook` and no other command: a hook would spend more time on the parser of all commands than on its
/// question. It has no help of its own, so that help and errors come from the parser of all.
#[derive(Debug, Parser)]
#[command(name = "hook", disable_help_flag = true)]
pub(crate) struct HookCli {
    #[command(flatten)]
    pub(crate) args: HookArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The agent CLI that calls.
    #[arg(long, value_name = "CLIENT", value_parser = word::<Client>())]
    pub(crate) client: Client,
    /// The event it calls for, if its payload does not name it.
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
    /// The hook is a project's: stay silent if the user's own settings have it too.
    #[arg(long)]
    pub(crate) project: bool,
    /// What to do if there is no verdict.
    #[arg(long, value_name = "MODE", value_parser = word::<FailMode>(), default_value_t = FailMode::Open)]
    pub(crate) fail: FailMode,
    /// Judge and log, but let everything happen.
    #[arg(long)]
    pub(crate) shadow: bool,
    #[command(flatten)]
    pub(crate) db: DbArg,
    #[command(flatten)]
    pub(crate) socket: SocketArg,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// How much of payloads the log keeps, without secrets, where no server runs.
    #[arg(long, value_name = "MODE", value_parser = word::<Capture>(), default_value_t = Capture::Digest)]
    pub(crate) capture: Capture,
}

/// For which sessions.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// For this project only.
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For all sessions of this user; the default.
    #[arg(long)]
    user: bool,
}

impl ScopeArgs {
    pub(crate) fn scope(&self) -> Scope {
        self.named().unwrap_or(Scope::User)
    }

    /// The scope that was asked for; none if neither was.
    pub(crate) fn named(&self) -> Option<Scope> {
        match (self.project, self.user) {
            (true, _) => Some(Scope::Project),
            (_, true) => Some(Scope::User),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The agent CLI.
    #[arg(value_name = "CLIENT", value_parser = word::<Client>(), required_unless_present = "all")]
    pub(crate) client: Option<Client>,
    /// Every agent CLI that is found here.
    #[arg(long, conflicts_with_all = ["client", "http"])]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Only watch: verdicts are logged, and nothing is stopped.
    #[arg(long)]
    pub(crate) shadow: bool,
    /// What hooks do if there is no verdict.
    #[arg(long, value_name = "MODE", value_parser = word::<FailMode>(), default_value_t = FailMode::Open)]
    pub(crate) fail: FailMode,
    /// The program that hooks start [default: this one].
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
    /// Claude Code only: no program is started, hooks are posted to a running `sprag serve`. While it
    /// does not run, nothing is guarded.
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "http://127.0.0.1:7727",
        conflicts_with_all = ["binary", "project"]
    )]
    pub(crate) http: Option<String>,
    /// What a session may spend before it is blocked, or an agent in a UTC day: `5usd`, `20usd/day`,
    /// `3mtokens`. Written into the policy file.
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) budget: Vec<SpendBudget>,
    /// Don't ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// The agent CLI.
    #[arg(value_name = "CLIENT", value_parser = word::<Client>(), required_unless_present = "all")]
    pub(crate) client: Option<Client>,
    /// Everything: the hooks of every agent CLI, for this user and in this folder, and what `sprag mcp
    /// install` put before MCP servers.
    #[arg(long, conflicts_with = "client")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Don't ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) db: DbArg,
    #[command(flatten)]
    pub(crate) socket: SocketArg,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
