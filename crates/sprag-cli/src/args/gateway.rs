//! The arguments of `sprag gateway` and `sprag run`.

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::{Args, Subcommand, ValueEnum};
use sprag_gateway::{StopMode, WarnMode};

use super::PolicyArg;
use super::hooks::FailWord;
use super::store::{CaptureWord, PlaceArgs};
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
        #[arg(value_name = "CLIENT", value_enum)]
        client: ClientWord,
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
    #[arg(long, value_name = "HOW", value_enum, default_value_t = StopWord::Speak)]
    pub(crate) stop: StopWord,
    /// Whether warnings are put next to tool results or only logged.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = WarnWord::Add)]
    pub(crate) warn: WarnWord,
    /// What happens to calls when the guard does not answer.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = FailWord::Open)]
    pub(crate) fail: FailWord,
    /// How much of payloads the log keeps, without secrets.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = CaptureWord::Digest)]
    pub(crate) capture: CaptureWord,
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
    #[arg(long, value_name = "HOW", value_enum, default_value_t = StopWord::Speak, requires = "gateway")]
    pub(crate) gateway_stop: StopWord,
    /// Whether the gateway puts warnings next to tool results or only logs them.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = WarnWord::Add, requires = "gateway")]
    pub(crate) gateway_warn: WarnWord,
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

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ClientWord {
    Claude,
    Codex,
    Gemini,
    Copilot,
    Opencode,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StopWord {
    /// An ordinary answer that says why.
    Speak,
    /// An error that clients do not repeat; `sprag run` then fails if anything was stopped.
    Error,
}

impl From<StopWord> for StopMode {
    fn from(word: StopWord) -> Self {
        match word {
            StopWord::Speak => Self::Speak,
            StopWord::Error => Self::Error,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WarnWord {
    /// Next to the tool result.
    Add,
    /// In the log only; requests stay as they are.
    Log,
}

impl From<WarnWord> for WarnMode {
    fn from(word: WarnWord) -> Self {
        match word {
            WarnWord::Add => Self::Add,
            WarnWord::Log => Self::Log,
        }
    }
}
