//! A server from its start to its end.
//!
//! The order is what makes it safe. Start: what the user asked for must not be dangerous; then the socket is
//! there, where hooks wait for a moment; then the store is taken, and then the doors open. End: no new
//! connections over TCP, those that are being answered finish; hooks are answered meanwhile; then what was
//! answered reaches the disk and the store is given back at once, before anything else that takes time.

use std::net::SocketAddr;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use sprag::{Guard, Reload, Subscription, Watch};
use sprag_http::Hosts;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::acceptor::{self, Acceptor, SocketFile};
use crate::activity::Activity;
use crate::app::{App, AppParts, dashboard_link};
use crate::approval_link::LinkSigner;
use crate::config::{ServerConfig, Transport};
use crate::doors::Doors;
use crate::edge::Edge;
use crate::error::ServerError;
use crate::gateway_mount::GatewayMount;
use crate::mcp_mount::McpMount;
use crate::metrics::Metrics;
use crate::record_pump::{Hub, RecordPump};
use crate::relay::Relay;
use crate::router;
use crate::session_limits::OpenSessionCounts;
use crate::signals;
use crate::stats::Stats;
use crate::telemetry::Telemetry;
use crate::tokens::{GivenToken, OPERATOR, TokenFile, TokenStore};
use crate::watchers::Watchers;

/// How often the policy file is looked at.
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);

/// How many records may wait for those who watch.
const FEED: usize = 1 << 16;

/// A server that is bound to its address and has its store, but answers nobody yet.
pub struct Server {
    config: ServerConfig,
    address: SocketAddr,
    listener: std::net::TcpListener,
    socket: Option<(SocketFile, UnixListener)>,
    tls: Option<TlsAcceptor>,
    guard: Guard,
    tokens: TokenStore,
    first_token: Option<PathBuf>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Takes the store and the address.
    ///
    /// # Errors
    /// Returns an error if something can't be had, or would be dangerous.
    pub fn bind(config: ServerConfig) -> Result<Self, ServerError> {
        let exposed = !config.listen.ip().is_loopback();
        if exposed && config.transport == Transport::Plain {
            return Err(ServerError::Naked {
                address: config.listen,
            });
        }
        let tls = match &config.transport {
            Transport::Tls { cert, key } => Some(acceptor::tls_acceptor(cert, key)?),
            Transport::Plain | Transport::BehindProxy => None,
        };
        // What can fail without the store comes before it: a start that fails leaves no files.
        let failed = |source| ServerError::Listen {
            address: config.listen,
            source,
        };
        let listener = acceptor::bind(config.listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let others = TokenFile::beside(&config.db);
        let is_first = !config.trusts_loopback()
            && !config.tokens.iter().any(GivenToken::is_for_agents)
            && others.list()?.iter().all(|token| token.expires.is_some());
        // The socket is usually beside the store, and the tokens always are, also if the store is in Redis.
        sprag::make_private_folder(&config.db)?;
        // Before the store: from its taking on, hooks find nothing but this socket, and wait there.
        let socket = config.socket.as_deref().map(SocketFile::bind).transpose()?;
        let builder = match &config.redis {
            Some(options) => Guard::builder()
                .redis(options.clone())
                .panic_file(sprag::panic_file(&config.db)),
            None => Guard::builder()
                .owned_file(&config.db)
                .accept_loss(config.accept_loss),
        };
        let builder = builder
            .clock(Arc::clone(&config.clock.0))
            .capture(config.capture)
            .retention(config.retention);
        let guard = match &config.policy {
            Some(file) => builder.policy_file(file.clone()),
            None => builder,
        }
        .build()?;
        // Agents from elsewhere need a token: without one nobody could use this server.
        let first_token = is_first
            .then(|| others.add_first(guard.now()))
            .transpose()?;
        let tokens = TokenStore::open(&config.db, config.tokens.clone())?;
        Ok(Self {
            config,
            address,
            listener,
            socket,
            tls,
            guard,
            tokens,
            first_token,
        })
    }

    /// The file with the token for agents, if this start made it.
    #[must_use]
    pub fn first_token(&self) -> Option<&Path> {
        self.first_token.as_deref()
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A link that opens the dashboard: once, and for a minute.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    pub fn link(&self) -> Result<String, ServerError> {
        let code = self.tokens.login_code(OPERATOR, self.guard.now())?;
        Ok(dashboard_link(&self.origin(), &code))
    }

    /// Where a browser finds the dashboard.
    fn origin(&self) -> String {
        let name = self.config.hosts.first();
        let (scheme, port) = match (&self.config.transport, name) {
            (Transport::Plain, _) => ("http", self.address.port()),
            (Transport::Tls { .. }, _) => ("https", self.address.port()),
            // The proxy in front is what a browser reaches, under the name that was given for it.
            (Transport::BehindProxy, Some(name)) => return format!("https://{name}"),
            (Transport::BehindProxy, None) => ("http", self.address.port()),
        };
        match name {
            Some(name) if scheme == "https" => format!("{scheme}://{name}:{port}"),
            _ => {
                let mut address = self.address;
                if address.ip().is_unspecified() {
                    address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
                }
                format!("{scheme}://{address}")
            }
        }
    }

    /// The guard behind it.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Answers until `until` is over, then lets everyone finish and gives the store back.
    ///
    /// # Errors
    /// Returns an error if it can't start, or the last records can't be made durable.
    pub fn run(self, until: impl Future<Output = ()>) -> Result<(), ServerError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("sprag-http")
            .build()
            .map_err(ServerError::Start)?;
        let guard = self.guard.clone();
        runtime.spawn(reload_on_hangup(guard.clone()));
        let served = self.serve(&runtime, until);
        // What still runs is cut off here; a blocking thread that does not end is left behind.
        runtime.shutdown_timeout(std::time::Duration::from_secs(1));
        served?;
        // What came while the last connections were cut off.
        guard.close().map_err(ServerError::Sync)
    }

    fn serve(self, runtime: &Runtime, until: impl Future<Output = ()>) -> Result<(), ServerError> {
        let _policy: Watch = self.guard.watch(LOOK)?;
        let (end, ending) = watch::channel(false);
        let (end_socket, ending_socket) = watch::channel(false);
        let guard = self.guard.clone();
        let hub = Hub::new();
        let relay = Relay::new(&self.config.relay)?;
        let metrics = Arc::new(Metrics::new());
        let telemetry = Telemetry::start(&self.config.telemetry, Arc::clone(&metrics))?;
        let feed = self.guard.subscribe_with(FEED);
        let public = self.config.public_url.as_deref();
        let links = public.map(|origin| LinkSigner::new(&self.guard, origin));
        let watchers = Watchers::start(&self.config, &self.guard, &metrics, links.clone())?;
        let stats = Arc::clone(watchers.stats());
        let activity = Arc::clone(watchers.activity());
        let notifications = watchers.notifications();
        let questions = Arc::clone(watchers.questions());
        let history = read_history(&self.guard, &stats, &activity, ending.clone())?;
        let pump = RecordPump::new(self.guard.clone(), Arc::clone(&hub), watchers);
        let pump = start_pump(pump, feed, ending.clone())?;
        let app = App::new(AppParts {
            origin: self.origin(),
            guard: self.guard,
            tokens: self.tokens,
            hub,
            metrics,
            stats,
            activity,
            notifications,
            questions,
            telemetry,
            session_counts: OpenSessionCounts::new(self.config.session_limits),
            policy: self.config.policy.clone(),
            links,
            db: self.config.db.clone(),
            body_bytes: self.config.body_bytes,
            body_time: self.config.body_time,
            ending: ending.clone(),
        });
        let edge = edge(&self.config, self.address, app, relay)?;
        let doors = Doors {
            of_socket: Acceptor::new(edge.clone(), &self.config, ending_socket),
            acceptor: Acceptor::new(edge, &self.config, ending),
            listener: self.listener,
            tls: self.tls,
            socket: self.socket,
            end,
            end_socket,
        };
        runtime.block_on(doors.open_until(until))?;
        guard.close().map_err(ServerError::Sync)?;
        // They end by themselves within a moment; if one panicked there is nothing it could hand over.
        let _ = pump.join();
        let _ = history.join();
        Ok(())
    }
}

/// Takes the policy file as it is whenever a service manager or a person asks for it (SIGHUP). What came of it
/// is in the log of decisions too.
async fn reload_on_hangup(guard: Guard) {
    let Some(mut hangups) = signals::hangups() else {
        return;
    };
    while hangups.recv().await.is_some() {
        let guard = guard.clone();
        let reload = tokio::task::spawn_blocking(move || guard.reload()).await;
        match reload {
            Ok(Ok(Reload::Changed { to, .. })) => {
                tracing::info!(target: "sprag", "SIGHUP: the policy was reloaded ({to})");
            }
            Ok(Ok(Reload::Rejected(error))) => {
                tracing::warn!(target: "sprag", "SIGHUP: the policy stays as it was: {error}");
            }
            Ok(Ok(_)) => tracing::info!(target: "sprag", "SIGHUP: the policy has not changed"),
            Ok(Err(error)) => {
                tracing::warn!(target: "sprag", "SIGHUP: the policy stays as it was: {error}");
            }
            // The runtime ends.
            Err(_) => return,
        }
    }
}

/// Everything that a request can reach.
fn edge(
    config: &ServerConfig,
    address: SocketAddr,
    app: App,
    relay: Option<Relay>,
) -> Result<Edge, ServerError> {
    Ok(Edge {
        mcp: McpMount::of(config, &app)?,
        gateway: GatewayMount::of(config, &app)?,
        hosts: Arc::new(Hosts::new(address.ip(), &config.host_names())),
        routes: router::routes(app, relay),
    })
}

/// Starts the thread that reads the charts' past from the log.
fn read_history(
    guard: &Guard,
    stats: &Arc<Stats>,
    activity: &Arc<Activity>,
    ending: watch::Receiver<bool>,
) -> Result<JoinHandle<()>, ServerError> {
    let (guard, stats, activity) = (guard.clone(), Arc::clone(stats), Arc::clone(activity));
    let read = move || {
        let go_on = || !*ending.borrow();
        let read = stats.rebuild(guard.store(), guard.now(), go_on);
        let read = read.and_then(|()| activity.rebuild(guard.store(), go_on));
        if let Err(error) = read {
            tracing::warn!(target: "sprag", "charts start now: the log before can't be read: {error}");
        }
    };
    let thread = std::thread::Builder::new().name("sprag-charts".to_owned());
    thread.spawn(read).map_err(ServerError::Start)
}

/// Starts the thread that tells everyone who watches.
fn start_pump(
    pump: RecordPump,
    feed: Subscription,
    ending: watch::Receiver<bool>,
) -> Result<JoinHandle<()>, ServerError> {
    let thread = std::thread::Builder::new().name("sprag-watch".to_owned());
    thread
        .spawn(move || pump.run(&feed, &|| *ending.borrow()))
        .map_err(ServerError::Start)
}
