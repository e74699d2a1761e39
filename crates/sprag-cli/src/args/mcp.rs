//! The arguments of `sprag mcp`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use sprag::{Capture, FailMode};
use sprag_mcp::OnKill;
use sprag_mcp::install::McpClient;

use super::PolicyArg;
use super::store::{PlaceArgs, bytes};
use super::word::word;
use crate::examples;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) wrap: WrapArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Put Sprag before the servers in a client's settings.
    #[command(after_help = examples::MCP_INSTALL)]
    Install(McpInstallArgs),
    /// Take Sprag out of a client's settings again.
    #[command(after_help = examples::MCP_UNINSTALL)]
    Uninstall(McpUninstallArgs),
    /// Wait for a wrapper's end and end what it left behind.
    #[command(hide = true)]
    Reap {
        /// The process group.
        group: u32,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WrapArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// A guard of its own in memory, shared with nobody and forgotten at the end.
    #[arg(long, conflicts_with_all = ["db", "socket"])]
    pub(crate) private: bool,
    /// How the server is called in rules and logs [default: what it calls itself].
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub(crate) name: Option<String>,
    /// The agent behind the calls [default: what the client calls itself].
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// The session of calls that name none [default: one for the process that started this].
    #[arg(long, value_name = "SESSION", conflicts_with = "listen")]
    pub(crate) session: Option<String>,
    /// Many conversations stand behind that session: refuse, but never stop them all.
    #[arg(long)]
    pub(crate) shared_identity: bool,
    /// What happens to calls when the guard does not answer.
    #[arg(long, value_name = "MODE", value_parser = word::<FailMode>(), default_value_t = FailMode::Open)]
    pub(crate) fail: FailMode,
    /// What happens to the server when a session is killed.
    #[arg(long, value_name = "WHAT", value_parser = word::<OnKill>(), default_value_t = OnKill::Refuse, conflicts_with = "listen")]
    pub(crate) on_kill: OnKill,
    /// How much of payloads the log keeps, without secrets.
    #[arg(long, value_name = "MODE", value_parser = word::<Capture>(), default_value_t = Capture::Digest)]
    pub(crate) capture: Capture,
    /// The server's command, after `--`.
    #[arg(
        last = true,
        required_unless_present_any = ["listen", "upstream", "config"],
        conflicts_with = "listen",
        value_name = "SERVER"
    )]
    pub(crate) server: Vec<OsString>,
    #[command(flatten)]
    pub(crate) http: McpHttpArgs,
}

/// A proxy before servers that are reached over the network.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers over HTTP")]
pub(crate) struct McpHttpArgs {
    /// Stand before servers that are reached over HTTP, on this address; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", requires = "behind")]
    pub(crate) listen: Option<SocketAddr>,
    /// The server behind; clients find it at the path that it has itself.
    #[arg(long, value_name = "URL", requires = "listen", group = "behind")]
    pub(crate) upstream: Option<String>,
    /// Several servers behind, each at a path of its own: a TOML file.
    #[arg(
        long,
        value_name = "FILE",
        requires = "listen",
        group = "behind",
        conflicts_with = "upstream"
    )]
    pub(crate) config: Option<PathBuf>,
    /// A name under which the proxy is reached, besides its address; may be given again.
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) host: Vec<String>,
    /// Pages of this site may use it too, as https://app.example.com; may be given again.
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub(crate) allow_origin: Vec<String>,
    /// Its address as clients see it, as https://mcp.example.com [default: by each request].
    #[arg(long, value_name = "URL", requires = "listen")]
    pub(crate) public_url: Option<String>,
    /// Something in front does TLS: then it may listen beyond this machine.
    #[arg(long, requires = "listen")]
    pub(crate) behind_tls_proxy: bool,
    /// Whoever shows the same credentials is one conversation, and may be stopped as one.
    #[arg(long, requires = "listen", conflicts_with = "shared_identity")]
    pub(crate) principal_is_session: bool,
    /// The longest request, as 1048576, 64K, 8M.
    #[arg(long, value_name = "BYTES", requires = "listen", default_value = "64M", value_parser = bytes)]
    pub(crate) max_body: u64,
    /// The most requests and streams under way at once.
    #[arg(long, value_name = "N", requires = "listen", default_value_t = sprag_mcp::http::limits::STREAMS)]
    pub(crate) max_streams: usize,
}

/// Which settings, and who says yes.
#[derive(Debug, Args)]
pub(crate) struct ClientArgs {
    /// The client: claude, claude-desktop, cursor, vscode, codex, gemini, copilot, opencode or
    /// zed.
    #[arg(value_name = "CLIENT")]
    pub(crate) client: McpClient,
    /// Only these servers.
    #[arg(value_name = "SERVER")]
    pub(crate) servers: Vec<String>,
    /// The client's settings [default: the client's own place].
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Don't ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only show what would change.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct McpInstallArgs {
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// What happens to calls when the guard does not answer.
    #[arg(long, value_name = "MODE", value_parser = word::<FailMode>())]
    pub(crate) fail: Option<FailMode>,
    /// Start each server once and list which of its tools count as destructive.
    #[arg(long)]
    pub(crate) inspect: bool,
    /// Let this client's agents make N destructive calls in a window, in the policy file.
    #[arg(long, value_name = "N")]
    pub(crate) raise: Option<u32>,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
}

#[derive(Debug, Args)]
pub(crate) struct McpUninstallArgs {
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}
