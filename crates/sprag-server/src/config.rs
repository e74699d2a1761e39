//! What a server is told before it starts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sprag::{Capture, Clock, PolicyFile, RedisOptions, Retention, SystemClock};

use crate::limits;
use crate::notify::NotifySettings;
use crate::relay::RelayConfig;
use crate::session_limits::SessionQuota;
use crate::telemetry::TelemetrySettings;
use crate::tokens::GivenToken;

/// The port where nothing else is said.
pub const PORT: u16 = 7727;

/// How strangers are kept from reading along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Transport {
    /// Plain HTTP: on loopback only.
    #[default]
    Plain,
    /// TLS with this certificate chain and key, both PEM files.
    Tls {
        /// The certificate, and those above it.
        cert: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
    /// Something in front does TLS; the user says so. Nobody is trusted for coming from loopback then.
    BehindProxy,
}

/// Where a server takes its time from. Tests give it a clock that they move by hand.
#[derive(Clone)]
pub struct SharedClock(pub Arc<dyn Clock>);

impl Default for SharedClock {
    fn default() -> Self {
        Self(Arc::new(SystemClock))
    }
}

impl std::fmt::Debug for SharedClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedClock")
    }
}

/// What a server is told before it starts.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The same API on this Unix socket.
    pub socket: Option<PathBuf>,
    /// The store, which this server takes for itself unless it shares one in Redis. Tokens lie beside it.
    pub db: PathBuf,
    /// The Redis whose store this server shares with others.
    pub redis: Option<RedisOptions>,
    /// Whether to take a store whose log was cut or replaced.
    pub accept_loss: bool,
    /// The policy file; without one the defaults hold and can't be changed over the API.
    pub policy: Option<PolicyFile>,
    /// How much of payloads the log keeps.
    pub capture: Capture,
    /// How long and how large the log may get.
    pub retention: Retention,
    /// TLS or not.
    pub transport: Transport,
    /// Names under which this server may be reached besides its address and `localhost`.
    pub hosts: Vec<String>,
    /// Where people reach this server, as `https://guard.example`. Notifications of questions then carry a link.
    pub public_url: Option<String>,
    /// Who is told of kills and blocks.
    pub notify: NotifySettings,
    /// Where decisions are exported to.
    pub telemetry: TelemetrySettings,
    /// Tokens that are as good as those beside the store.
    pub tokens: Vec<GivenToken>,
    /// The longest body of a request, in bytes.
    pub body_bytes: usize,
    /// How long a body may take to arrive.
    pub body_time: Duration,
    /// How long an answer may stand still because its client does not read it.
    pub write_time: Duration,
    /// The most connections at once.
    pub connections: usize,
    /// How many sessions one caller may open.
    pub session_limits: SessionQuota,
    /// The message relay.
    pub relay: RelayConfig,
    /// MCP servers to stand before, below [`crate::MOUNT`].
    pub mcp: Option<sprag_mcp::http::ProxyConfig>,
    /// The model gateway below `/anthropic`, `/openai` and `/gemini`, if there is to be one.
    pub gateway: Option<sprag_gateway::GatewayOptions>,
    /// What tells it the time.
    pub clock: SharedClock,
}

impl ServerConfig {
    /// The names under which this server is reached, that of its public address among them.
    pub(crate) fn host_names(&self) -> Vec<String> {
        let public = self.public_url.as_deref().and_then(|url| {
            let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
            let host = rest.split('/').next()?;
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            Some(name.to_owned())
        });
        self.hosts.iter().cloned().chain(public).collect()
    }
}

impl ServerConfig {
    /// A server over the store at `db`, on loopback, with everything else as usual.
    #[must_use]
    pub fn new(db: impl Into<PathBuf>) -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT),
            socket: None,
            db: db.into(),
            redis: None,
            accept_loss: false,
            policy: None,
            capture: Capture::default(),
            retention: Retention::default(),
            transport: Transport::default(),
            hosts: Vec::new(),
            public_url: None,
            notify: NotifySettings::default(),
            telemetry: TelemetrySettings::default(),
            tokens: Vec::new(),
            body_bytes: limits::BODY_BYTES,
            body_time: limits::BODY_TIME,
            write_time: limits::WRITE_TIME,
            connections: limits::CONNECTIONS,
            session_limits: SessionQuota::default(),
            relay: RelayConfig::default(),
            mcp: None,
            gateway: None,
            clock: SharedClock::default(),
        }
    }

    /// Whether someone who comes from this machine needs no token to speak as an agent.
    pub(crate) fn trusts_loopback(&self) -> bool {
        self.listen.ip().is_loopback() && self.transport != Transport::BehindProxy
    }
}
