//! The arguments of `sprag gateway` and `sprag run`.

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::{Args, Subcommand};
use sprag::{Capture, FailMode};
use sprag_gateway::{GatewayClient, StopMode, WarnMode};

use super::PolicyArg;
use super::store::PlaceArgs;
use super::word::word;
use crate::examples;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct GatewayArgs {
    #[command(subcommand)]
    pub(crate) command: Option<GatewayCommand>,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7729")]
    pub(crate) listen: SocketAddr,
    /// A name under which the gateway is reached, besides its address; may be given again.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Something in front does TLS: then it may listen beyond this machine, and clients must show
    /// $SPRAG_GATEWAY_TOKEN in x-sprag-token.
    #[arg(long)]
    pub(crate) behind_tls_proxy: bool,
    #[command(flatten)]
    pub(crate) guard: GatewayGuardArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    /// Print the settings that point a client at a running gateway.
    #[command(after_help = examples::GATEWAY_ENV)]
    Env {
        /// The client; other: a program that uses an official SDK.
        #[arg(value_name = "CLIENT", value_parser = word::<GatewayClient>())]
        client: GatewayClient,
        /// Where the gateway is.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7729")]
        listen: SocketAddr,
    },
}

/// Where verdicts come from, and what becomes of them.
#[derive(Debug, Args)]
pub(crate) struct GatewayGuardArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// A guard of its own in memory, shared with nobody and forgotten at the end.
    #[arg(long, conflicts_with_all = ["db", "socket"])]
    pub(crate) private: bool,
    /// Another address for an API, as anthropic=http://127.0.0.1:8000; may be given again.
    #[arg(long, value_name = "NAME=URL")]
    pub(crate) upstream: Vec<String>,
    /// What a stopped session is answered.
    #[arg(long, value_name = "HOW", value_parser = word::<StopMode>(), default_value_t = StopMode::Speak)]
    pub(crate) stop: StopMode,
    /// Whether warnings are put next to tool results or only logged.
    #[arg(long, value_name = "HOW", value_parser = word::<WarnMode>(), default_value_t = WarnMode::Add)]
    pub(crate) warn: WarnMode,
    /// What happens to calls when the guard does not answer.
    #[arg(long, value_name = "MODE", value_parser = word::<FailMode>(), default_value_t = FailMode::Open)]
    pub(crate) fail: FailMode,
    /// How much of payloads the log keeps, without secrets.
    #[arg(long, value_name = "MODE", value_parser = word::<Capture>(), default_value_t = Capture::Digest)]
    pub(crate) capture: Capture,
}

/// The gateway beside the API of `sprag serve`.
#[derive(Debug, Args)]
pub(crate) struct MountedGatewayArgs {
    /// Stand before model APIs too, below /anthropic, /openai and /gemini; see `sprag gateway --help`.
    #[arg(long)]
    pub(crate) gateway: bool,
    /// Another address for an API, as anthropic=http://127.0.0.1:8000; may be given again.
    #[arg(long, value_name = "NAME=URL", requires = "gateway")]
    pub(crate) gateway_upstream: Vec<String>,
    /// What a stopped session is answered by the gateway.
    #[arg(long, value_name = "HOW", value_parser = word::<StopMode>(), default_value_t = StopMode::Speak, requires = "gateway")]
    pub(crate) gateway_stop: StopMode,
    /// Whether the gateway puts warnings next to tool results or only logs them.
    #[arg(long, value_name = "HOW", value_parser = word::<WarnMode>(), default_value_t = WarnMode::Add, requires = "gateway")]
    pub(crate) gateway_warn: WarnMode,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) guard: GatewayGuardArgs,
    /// The client and its arguments: claude, codex, gemini, copilot, opencode, or any
    /// command after `--`.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CLIENT"
    )]
    pub(crate) command: Vec<OsString>,
}
