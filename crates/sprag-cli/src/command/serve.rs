//! `sprag serve`: the server, from its first word to its last.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use sprag::{GuardError, Retention, Role, StoreError};
use sprag_agents::{Demo, DemoError};
use sprag_mcp::http::ProxyConfig;
use sprag_server::log_lines::start_logging;
use sprag_server::notify::{NotifySettings, Webhook, WebhookSecret, split_command};
use sprag_server::systemd::Supervisor;
use sprag_server::telemetry::TelemetrySettings;
use sprag_server::{
    GivenToken, MOUNT, RelayConfig, Server, ServerConfig, ServerError, Transport, asked_to_end,
};

use super::gateway::mounted;
use super::panic::notice;
use crate::args::ServeArgs;
use crate::db::{Db, policy_file};
use crate::failure::{Failure, Run};
use crate::running_server::{RunningFile, RunningServer};
use crate::settings::Settings;

/// Runs until it is asked to end.
pub(crate) fn run(args: &ServeArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let filter = settings.text("RUST_LOG");
    start_logging(args.log_format, filter.as_deref())
        .map_err(|error| Failure::new(error.to_string()))?;
    let demo = args.demo.then(Demo::prepare).transpose()?;
    let config = config(args, settings, demo.as_ref())?;
    let (socket, upstream) = (config.socket.clone(), config.relay.upstream.clone());
    let servers = config.mcp.clone().unwrap_or_default();
    let db = config.db.clone();
    let server = Server::bind(config).map_err(|error| {
        let first = is_taken(&error).then(|| RunningServer::find(&db)).flatten();
        first.map_or_else(|| error.into(), |first| first.failure(&db))
    })?;
    let running = RunningFile::write(&db, server.address());
    writeln!(out, "listening on {}", server.address())?;
    if let Some(socket) = socket {
        writeln!(out, "socket       {}", socket.display())?;
    }
    if let (None, Some(upstream)) = (&demo, upstream) {
        writeln!(out, "relaying to  {upstream}")?;
    }
    name_mounts(servers, args.gateway.gateway, server.address(), out)?;
    if let Some(file) = server.first_token() {
        writeln!(out, "agents       their token was made: {}", file.display())?;
        writeln!(out, "             `sprag token show agent` prints it")?;
    }
    writeln!(out, "operator     {}", server.link()?)?;
    writeln!(
        out,
        "             works once, within a minute; `sprag open` makes another"
    )?;
    if let Ok(Some(panic)) = server.guard().panicked() {
        writeln!(out, "PANIC        {}", notice(&panic))?;
        writeln!(out, "             `sprag calm --why …` ends it")?;
    }
    if let Some(demo) = &demo {
        introduce(demo, out)?;
    }
    out.flush()?;
    let address = server.address();
    let supervisor = Supervisor::new(settings.text("NOTIFY_SOCKET").map(Into::into));
    let status = format!("listening on {}", server.address());
    tell(supervisor.ready(&status));
    server.run(async {
        until_end(demo.as_ref(), address).await;
        tell(supervisor.stopping());
    })?;
    drop(running);
    drop(demo);
    writeln!(out, "ended; everything that was answered is on disk")?;
    Ok(ExitCode::SUCCESS)
}

/// What stands behind this server.
fn name_mounts(
    servers: ProxyConfig,
    has_gateway: bool,
    address: SocketAddr,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for upstream in servers.upstreams {
        let (at, url) = (format!("{MOUNT}{}", upstream.path), upstream.url);
        let host = url.authority().map_or("", |host| host.as_str());
        writeln!(out, "mcp          {at} to {host}")?;
    }
    if has_gateway {
        writeln!(
            out,
            "gateway      /anthropic, /openai, /gemini; `sprag gateway env CLIENT --listen {address}`"
        )?;
    }
    Ok(())
}

/// Whether it failed because somebody else has what it needs.
fn is_taken(error: &ServerError) -> bool {
    matches!(
        error,
        ServerError::Listen { .. }
            | ServerError::SocketTaken { .. }
            | ServerError::Guard(GuardError::Store(
                StoreError::Owned { .. } | StoreError::Busy { .. }
            ))
    )
}

/// Plays the demo, where there is one, until the server is asked to end.
async fn until_end(demo: Option<&Demo>, address: SocketAddr) {
    let Some(demo) = demo else {
        return asked_to_end().await;
    };
    let mut end = pin!(asked_to_end());
    let failed = tokio::select! {
        () = &mut end => return,
        played = demo.play(address) => played.err(),
    };
    if let Some(error) = failed {
        // Standard error may be gone; then there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "the demo ended: {error}");
    }
    end.await;
}

/// What a newcomer reads first.
fn introduce(demo: &Demo, out: &mut dyn Write) -> std::io::Result<()> {
    let folder = demo.folder().display();
    writeln!(
        out,
        "
This is a demo. Nine small stories play in it, through the API and the relay of this very server:
honest work that is left alone, and agents that go wrong. Within a minute you have seen every verdict.

  look at it   open the operator link above in a browser
  later        sprag open --db {folder}/demo.db
  or here      sprag log tail --follow --db {folder}/demo.db
  stop it      Ctrl-C

Everything is in {folder}, apart from your own store, and is removed at the end.
Nothing leaves this machine.
"
    )
}

/// A service manager that does not listen is no reason not to guard.
fn tell(told: std::io::Result<()>) {
    if let Err(error) = told {
        // Standard error may be gone; then there is nobody left to tell.
        let _ = writeln!(
            std::io::stderr(),
            "the service manager can't be notified: {error}"
        );
    }
}

fn notify(args: &ServeArgs, settings: &Settings) -> Result<NotifySettings, Failure> {
    let secret = settings
        .text("SPRAG_WEBHOOK_SECRET")
        .map(WebhookSecret::new);
    let command = args.notify_command.as_deref().map(split_command);
    Ok(NotifySettings {
        webhook: args
            .notify_webhook
            .clone()
            .map(|url| Webhook { url, secret }),
        command: command
            .transpose()
            .map_err(|error| Failure::new(error.to_string()))?
            .unwrap_or_default(),
        ..NotifySettings::default()
    })
}

/// Tokens from the files that `$SPRAG_AGENT_TOKEN_FILE` and `$SPRAG_OPERATOR_TOKEN_FILE` name, else from
/// `$SPRAG_AGENT_TOKEN` and `$SPRAG_OPERATOR_TOKEN`.
fn given_tokens(settings: &Settings) -> Result<Vec<GivenToken>, Failure> {
    let mut given = Vec::new();
    for role in [Role::Agent, Role::Operator] {
        let variable = format!("SPRAG_{}_TOKEN", role.as_str().to_uppercase());
        let file = settings.text(&format!("{variable}_FILE"));
        let (text, source) = match (file, settings.text(&variable)) {
            (Some(file), _) => {
                let text = std::fs::read_to_string(&file)
                    .map_err(|error| Failure::unreadable(Path::new(&file), &error))?;
                (text, file)
            }
            (None, Some(text)) => (text, format!("${variable}")),
            (None, None) => continue,
        };
        given.push(GivenToken::new(role, &text, &source)?);
    }
    Ok(given)
}

fn config(
    args: &ServeArgs,
    settings: &Settings,
    demo: Option<&Demo>,
) -> Result<ServerConfig, Failure> {
    let config = match demo {
        Some(demo) => demo.config(),
        None => of_user(args, settings)?,
    };
    let transport = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => Transport::Tls {
            cert: cert.clone(),
            key: key.clone(),
        },
        _ if args.behind_tls_proxy => Transport::BehindProxy,
        _ => Transport::Plain,
    };
    Ok(ServerConfig {
        listen: args.listen,
        retention: Retention {
            max_age: args.max_age,
            max_bytes: args.max_bytes,
        },
        transport,
        hosts: args.host.clone(),
        public_url: args.public_url.clone(),
        notify: notify(args, settings)?,
        tokens: given_tokens(settings)?,
        telemetry: TelemetrySettings::read(|name| settings.text(name))
            .map_err(|error| Failure::new(error.to_string()))?,
        body_bytes: usize::try_from(args.max_body).unwrap_or(usize::MAX),
        ..config
    })
}

/// The user's own store, policy and agents.
fn of_user(args: &ServeArgs, settings: &Settings) -> Result<ServerConfig, Failure> {
    let store = Db::find(settings, &args.db)?;
    let db = store.path().to_owned();
    let flag = args.db.file.db.as_deref();
    let socket = settings.socket_place(args.socket.as_deref(), flag, &db);
    let policy = policy_file(settings, args.policy.policy.as_deref())?;
    Ok(ServerConfig {
        capture: args.capture,
        socket: Some(socket),
        redis: store.redis().cloned(),
        accept_loss: args.accept_loss,
        policy,
        mcp: args
            .mcp_config
            .as_deref()
            .map(ProxyConfig::read)
            .transpose()?,
        gateway: mounted(&args.gateway)?,
        relay: RelayConfig {
            upstream: args.relay.upstream.clone(),
            path: args.relay.form.relay_path.clone(),
            trust: args.relay.relay_trust,
            fields: args.relay.form.fields(),
        },
        ..ServerConfig::new(db)
    })
}

impl From<DemoError> for Failure {
    fn from(error: DemoError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        let advice = error.advice();
        let failure = match error {
            ServerError::Guard(error) => return error.into(),
            other => Self::new(other.to_string()),
        };
        match advice {
            Some(advice) => failure.next(advice),
            None => failure,
        }
    }
}
