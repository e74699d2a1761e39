//! The arguments of the server and of its tokens.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use sprag::{Capture, Millis, Role};
use sprag_server::log_lines::LogFormat;

use super::PolicyArg;
use super::gateway::MountedGatewayArgs;
use super::relay::RelayArgs;
use super::store::{DbArg, PlaceArgs, StoreArgs, bytes};
use super::word::{word, word_of};
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
    #[arg(long, value_name = "MODE", value_parser = word::<Capture>(), default_value_t = Capture::Digest)]
    pub(crate) capture: Capture,
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
    #[arg(long, value_name = "FORMAT", value_parser = word::<LogFormat>(), default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
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

#[derive(Debug, Args)]
pub(crate) struct TokenAddArgs {
    /// What its holder may do.
    #[arg(long, value_name = "ROLE", value_parser = word::<Role>())]
    pub(crate) role: Role,
    /// What to call it, for the log and to revoke it.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) db: DbArg,
}

#[derive(Debug, Args)]
pub(crate) struct TokenShowArgs {
    /// Whose token.
    #[arg(value_name = "TOKEN", value_parser = word_of::<Role>(|word| !matches!(word, "relay" | "viewer")))]
    pub(crate) token: Role,
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
