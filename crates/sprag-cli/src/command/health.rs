//! `sprag health`: whether the running server can decide and remember.
//!
//! A container without a shell has no other program to ask with.

use std::io::Write;
use std::process::ExitCode;

use serde::de::IgnoredAny;
use sprag::Role;
use sprag::link::{LinkError, ServerClient};

use crate::args::HealthArgs;
use crate::db::Db;
use crate::failure::{FAILED, Run};
use crate::settings::Settings;

/// Asks the server.
pub(crate) fn run(args: &HealthArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::find(settings, &args.place.db)?;
    let flag = args.place.db.file.db.as_deref();
    let socket = settings.socket_place(args.place.socket.as_deref(), flag, db.path());
    let server = ServerClient::new(&socket, db.path(), sprag::link::DEADLINE);
    let ready: Result<IgnoredAny, LinkError> = server
        .request(Role::Agent, "GET", "/readyz", b"")
        .and_then(|answer| server.read(&answer));
    match ready {
        Ok(_) => {
            writeln!(out, "ready")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            writeln!(out, "not ready: {error}")?;
            Ok(ExitCode::from(FAILED))
        }
    }
}
