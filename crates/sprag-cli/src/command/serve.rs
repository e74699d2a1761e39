//! `sprag serve`: the server, from its first word to its last.

use std::io::Write;
use std::process::ExitCode;

use sprag::Retention;
use sprag_server::log_lines::start_logging;
use sprag_server::notify::{NotifySettings, Secret, Webhook, split_command};
use sprag_server::systemd::Supervisor;
use sprag_server::telemetry::TelemetrySettings;
use sprag_server::{Server, ServerConfig, ServerError, Transport, asked_to_end};

use crate::args::ServeArgs;
use crate::db::{Db, policy_file};
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// Runs until it is asked to end.
pub(crate) fn run(args: &ServeArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let filter = settings.text("RUST_LOG");
    start_logging(args.log_format.into(), filter.as_deref())
        .map_err(|error| Failure::new(error.to_string()))?;
    let config = config(args, settings)?;
    let socket = config.socket.clone();
    let server = Server::bind(config)?;
    writeln!(out, "listening on {}", server.address())?;
    if let Some(socket) = socket {
        writeln!(out, "socket       {}", socket.display())?;
    }
    writeln!(out, "operator     {}", server.link())?;
    out.flush()?;
    let supervisor = Supervisor::new(settings.text("NOTIFY_SOCKET").map(Into::into));
    let status = format!("listening on {}", server.address());
    tell(supervisor.ready(&status));
    server.run(async {
        asked_to_end().await;
        tell(supervisor.stopping());
    })?;
    writeln!(out, "ended; everything that was answered is on disk")?;
    Ok(ExitCode::SUCCESS)
}

/// A service manager that does not listen is no reason not to guard.
fn tell(told: std::io::Result<()>) {
    if let Err(error) = told {
        // Standard error may be gone; then there is nobody left to tell.
        let _ = writeln!(
            std::io::stderr(),
            "the service manager can't be told: {error}"
        );
    }
}

fn notify(args: &ServeArgs, settings: &Settings) -> Result<NotifySettings, Failure> {
    let secret = settings.text("SPRAG_WEBHOOK_SECRET").map(Secret::new);
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

fn config(args: &ServeArgs, settings: &Settings) -> Result<ServerConfig, Failure> {
    let db = Db::find(settings, &args.db)?.path().to_owned();
    let flag = args.db.db.as_deref();
    let socket = settings.socket_place(args.socket.as_deref(), flag, &db);
    let policy = policy_file(settings, args.policy.policy.as_deref())?;
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
        socket: Some(socket),
        policy,
        capture: args.capture.into(),
        retention: Retention {
            max_age: args.max_age,
            max_bytes: args.max_bytes,
        },
        transport,
        hosts: args.host.clone(),
        notify: notify(args, settings)?,
        telemetry: TelemetrySettings::read(|name| settings.text(name))
            .map_err(|error| Failure::new(error.to_string()))?,
        body_bytes: usize::try_from(args.max_body).unwrap_or(usize::MAX),
        ..ServerConfig::new(db)
    })
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
