//! Why a server does not start, or ended.

use std::net::SocketAddr;
use std::path::PathBuf;

use sprag::{GuardError, StoreError};

use crate::notify::NotifyError;
use crate::telemetry::TelemetryError;
use crate::tokens::TokenError;

/// What went wrong with a server as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The guard can't be made.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The model gateway can't be made.
    #[error(transparent)]
    Gateway(#[from] sprag_gateway::GatewayError),
    /// The tokens can't be used.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Nobody can be told of kills and blocks.
    #[error(transparent)]
    Notify(#[from] NotifyError),
    /// Decisions can't be exported.
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    /// What was decided last can't be made durable.
    #[error("the last records are not on disk: {0}")]
    Sync(StoreError),
    /// The address can't be listened on.
    #[error("can't listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The Unix socket can't be made.
    #[error("can't make the socket {path}: {source}")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another server listens there.
    #[error("another server answers on the socket {path}")]
    SocketTaken {
        /// The socket.
        path: PathBuf,
    },
    /// Strangers could read along.
    #[error(
        "{address} can be reached from elsewhere, and nothing keeps strangers from reading along"
    )]
    Naked {
        /// The address.
        address: SocketAddr,
    },
    /// The certificate or its key can't be used.
    #[error("can't use {path} for TLS: {why}")]
    Tls {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The MCP servers can't be reached.
    #[error(transparent)]
    Mcp(#[from] sprag_http::ForwarderError),
    /// The relay's upstream can't be used.
    #[error("can't relay to {url}: {source}")]
    Upstream {
        /// Where it is.
        url: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// The system gives no thread or timer.
    #[error("can't start: {0}")]
    Start(std::io::Error),
}

impl ServerError {
    /// What to do next, where that is known.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Naked { .. } => Some(
                "give --tls-cert and --tls-key, or say --behind-tls-proxy if something in front does TLS"
                    .to_owned(),
            ),
            Self::Listen { .. } => {
                Some("another server may run; --listen ADDRESS:PORT names another place".to_owned())
            }
            Self::SocketTaken { .. } => {
                Some("stop it first, or name another with --socket FILE".to_owned())
            }
            _ => None,
        }
    }
}
