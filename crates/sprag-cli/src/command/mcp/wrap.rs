//! `sprag mcp -- SERVER`: the wrapper.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::os::fd::AsFd;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use sprag::{Capture, Guard, Id, LazyLink};
use sprag_mcp::stdio::{self, ServerCommand};
use sprag_mcp::{Gate, GateOptions, VerdictSource};

use crate::args::{PlaceArgs, WrapArgs};
use crate::db::{Db, policy_file};
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// Wraps the server until it ends, and ends as it did.
pub(super) fn run(args: &WrapArgs, settings: &Settings) -> Run {
    let server = server(args)?;
    let gate = Gate::new(
        gate_options(args, &server)?,
        source(args, settings)?,
        Box::new(log),
    );
    let (from, to) = (file(&std::io::stdin())?, file(&std::io::stdout())?);
    match stdio::run(&Arc::new(gate), &server, from, to) {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(error) => {
            log(format_args!("{error}"));
            Ok(ExitCode::from(error.exit_code()))
        }
    }
}

fn server(args: &WrapArgs) -> Result<ServerCommand, Failure> {
    let (program, rest) = args.server.split_first().ok_or_else(|| {
        Failure::new("there is no server to wrap").next("name it: sprag mcp -- SERVER ARGUMENTS…")
    })?;
    let own = std::env::current_exe().ok();
    let reaper = own.map(|own| (own.into(), vec!["mcp".into(), "reap".into()]));
    Ok(ServerCommand {
        program: program.clone(),
        args: rest.to_vec(),
        reaper,
    })
}

fn gate_options(args: &WrapArgs, server: &ServerCommand) -> Result<GateOptions, Failure> {
    let id = |what: &str, text: &str| {
        Id::new(text).map_err(|error| Failure::new(format!("--{what}: {error}")))
    };
    let named =
        |what: &str, text: &Option<String>| text.as_ref().map(|text| id(what, text)).transpose();
    let mark = mark();
    let session = match &args.session {
        Some(session) => id("session", session)?,
        None => id("session", &client_session(&mark))?,
    };
    Ok(GateOptions {
        session,
        shared: args.shared_identity,
        agent: named("agent", &args.agent)?,
        server: named("name", &args.name)?,
        unnamed: Id::new(&server.name()).or_else(|_| id("name", "server"))?,
        mark,
        fail: args.fail,
        on_kill: args.on_kill,
    })
}

/// A number that no other process draws.
pub(super) fn mark() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// One session for the process that started the wrapper, so that a loop over two servers of one client
/// is one loop. Its start tells it from a later process of the same number; where the system does not
/// say it, the wrapper stands alone.
fn client_session(mark: &str) -> String {
    let parent = parent_id();
    let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
    let started = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.split(' ').nth(19));
    match started {
        Some(started) => format!("mcp-{parent}-{started}"),
        None => format!("mcp-{mark}"),
    }
}

pub(super) fn source(
    args: &WrapArgs,
    settings: &Settings,
) -> Result<Box<dyn VerdictSource>, Failure> {
    let policy = args.policy.policy.as_deref();
    let capture = args.capture;
    verdict_source(&args.place, policy, args.private, capture, settings)
}

/// Where a proxy's verdicts come from: the guard of this machine, or one of its own.
pub(crate) fn verdict_source(
    place: &PlaceArgs,
    policy: Option<&Path>,
    private: bool,
    capture: Capture,
    settings: &Settings,
) -> Result<Box<dyn VerdictSource>, Failure> {
    let db = Db::find(settings, &place.db)?;
    if db.redis().is_some() && !private {
        return Ok(Box::new(db.guard(settings, policy, capture)?));
    }
    if !private {
        let options = Db::link_options(settings, place, policy, capture)?;
        return Ok(Box::new(LazyLink::new(options)));
    }
    let builder = Guard::builder().capture(capture);
    let builder = match policy_file(settings, policy)? {
        Some(file) => builder.policy_file(file),
        None => builder,
    };
    Ok(Box::new(builder.build()?))
}

/// The stream itself, without the buffers that the standard library puts before it.
fn file(stream: &impl AsFd) -> Result<File, Failure> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

pub(super) fn log(what: std::fmt::Arguments<'_>) {
    // Where nobody reads it there is nobody left to tell.
    let _ = writeln!(anstream::stderr(), "sprag mcp: {what}");
}
