//! The arguments of the server and of its tokens.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sprag::{Millis, Role};
use sprag_server::log_lines::LogFormat;

use super::PolicyArg;
use super::gateway::MountedGatewayArgs;
use super::relay::RelayArgs;
use super::store::{CaptureWord, DbArg, PlaceArgs, StoreArgs, bytes};
use crate::examples;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7727")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// The Unix socket for hooks and commands [default: $SPRAG_SOCKET, else
    /// $XDG_RUNTIME_DIR/sprag.sock; beside a store that was named].
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
    /// How much of payloads the log keeps, without secrets.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = CaptureWord::Digest)]
    pub(crate) capture: CaptureWord,
    /// A name under which the server is reached, besides its address; may be given again.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Where people reach this server, as https://guard.example. Notifications of questions then carry a
    /// link that answers one question, once.
    #[arg(long, value_name = "URL", value_parser = origin)]
    pub(crate) public_url: Option<String>,
    /// Speak TLS with this certificate chain, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's key, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Something in front does TLS: then everyone needs a token, also from this machine.
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) behind_tls_proxy: bool,
    /// The longest event, as 1048576, 64K, 8M.
    #[arg(long, value_name = "BYTES", default_value = "8M", value_parser = bytes)]
    pub(crate) max_body: u64,
    /// Tell this address of kills and blocks; with $SPRAG_WEBHOOK_SECRET set, signed.
    #[arg(long, value_name = "URL")]
    pub(crate) notify_webhook: Option<String>,
    /// Run this program on kills and blocks; no shell is involved.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) notify_command: Option<String>,
    /// How log lines on standard error look.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogWord::Text)]
    pub(crate) log_format: LogWord,
    /// Start although the log was cut or replaced: records that checkpoints know of are lost. The log
    /// says so from then on.
    #[arg(long)]
    pub(crate) accept_loss: bool,
    /// Keep records for this long.
    #[arg(long, value_name = "DURATION", default_value = "30d")]
    pub(crate) max_age: Millis,
    /// Keep at most this much of the log.
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = bytes)]
    pub(crate) max_bytes: u64,
    #[command(flatten)]
    pub(crate) relay: RelayArgs,
    /// Stand before the MCP servers of this TOML file, below /mcp; see `sprag mcp --help`.
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gateway: MountedGatewayArgs,
    /// Play live examples into a store of their own, to look around.
    #[arg(long, conflicts_with_all = ["db", "policy", "socket", "upstream", "relay_path", "relay_field", "mcp_config", "gateway"])]
    pub(crate) demo: bool,
}

/// An address without a path.
fn origin(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']) => {
            Ok(text.to_owned())
        }
        _ => Err("an address without a path, such as https://guard.example".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogWord {
    Text,
    Json,
}

impl From<LogWord> for LogFormat {
    fn from(word: LogWord) -> Self {
        match word {
            LogWord::Text => Self::Text,
            LogWord::Json => Self::Json,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print the link and open no browser.
    #[arg(long)]
    pub(crate) no_browser: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it, once.
    #[command(after_help = examples::TOKEN_ADD)]
    Add(TokenAddArgs),
    /// Print a token that the server made at its first start.
    #[command(after_help = examples::TOKEN_SHOW)]
    Show(TokenShowArgs),
    /// List the tokens by name and role.
    #[command(after_help = examples::TOKEN_LIST)]
    List(TokenListArgs),
    /// Take a token back: whoever holds it is refused from now on.
    #[command(after_help = examples::TOKEN_REVOKE)]
    Revoke(TokenRevokeArgs),
}

/// Whom a token is for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TokenRoleWord {
    /// A program that asks about its own agents.
    Agent,
    /// A program that carries messages between people and agents.
    Relay,
    /// The hooks of an agent CLI.
    Hook,
    /// A person who sees, kills, resets and changes the policy; one token for each person names them in the log.
    Operator,
    /// A person who sees everything and changes nothing.
    Viewer,
}

impl From<TokenRoleWord> for Role {
    fn from(word: TokenRoleWord) -> Self {
        match word {
            TokenRoleWord::Agent => Self::Agent,
            TokenRoleWord::Relay => Self::Relay,
            TokenRoleWord::Hook => Self::Hook,
            TokenRoleWord::Operator => Self::Operator,
            TokenRoleWord::Viewer => Self::Viewer,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TokenAddArgs {
    /// What its holder may do.
    #[arg(long, value_name = "ROLE", value_enum)]
    pub(crate) role: TokenRoleWord,
    /// What to call it, for the log and to revoke it.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) db: DbArg,
}

/// A token that is a file beside the store.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OwnToken {
    Agent,
    Operator,
    Hook,
}

impl From<OwnToken> for Role {
    fn from(word: OwnToken) -> Self {
        match word {
            OwnToken::Agent => Self::Agent,
            OwnToken::Operator => Self::Operator,
            OwnToken::Hook => Self::Hook,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TokenShowArgs {
    /// Whose token.
    #[arg(value_name = "TOKEN", value_enum)]
    pub(crate) token: OwnToken,
    #[command(flatten)]
    pub(crate) db: DbArg,
}

#[derive(Debug, Args)]
pub(crate) struct TokenListArgs {
    #[command(flatten)]
    pub(crate) db: DbArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArgs {
    /// The token's name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) db: DbArg,
}
