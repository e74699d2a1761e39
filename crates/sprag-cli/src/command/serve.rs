//! `sprag serve`: the server, from its first word to its last.

use std::io::Write;
use std::process::ExitCode;

use sprag::{PolicyFile, Retention};
use sprag_server::{Server, ServerConfig, ServerError, Transport, asked_to_end};

use crate::args::ServeArgs;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::policy_file;
use crate::settings::{PolicyPlace, Settings};

/// Runs until it is asked to end.
pub(crate) fn run(args: &ServeArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let config = config(args, settings)?;
    let socket = config.socket.clone();
    let server = Server::bind(config)?;
    writeln!(out, "listening on {}", server.address())?;
    if let Some(socket) = socket {
        writeln!(out, "socket       {}", socket.display())?;
    }
    writeln!(out, "operator     {}", server.link())?;
    out.flush()?;
    server.run(asked_to_end())?;
    writeln!(out, "ended; everything that was answered is on disk")?;
    Ok(ExitCode::SUCCESS)
}

fn config(args: &ServeArgs, settings: &Settings) -> Result<ServerConfig, Failure> {
    let db = Db::find(settings, &args.db)?.path().to_owned();
    let flag = args.db.db.as_deref();
    let socket = settings.socket_place(args.socket.as_deref(), flag, &db);
    let policy = match settings.policy_place(args.policy.policy.as_deref()) {
        PolicyPlace::Named(path) if !path.exists() => return Err(policy_file::missing(&path)),
        PolicyPlace::Named(path) => Some(PolicyFile::required(path)),
        PolicyPlace::Usual(path) => Some(PolicyFile::optional(path)),
        PolicyPlace::Nowhere => None,
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
        socket: Some(socket),
        policy,
        capture: args.capture.into(),
        retention: Retention {
            max_age: args.max_age,
            max_bytes: args.max_bytes,
        },
        transport,
        hosts: args.host.clone(),
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
