//! `sprag run CLIENT`: a client with the gateway in front of its model API, for as long as it runs.
//!
//! No file is changed: the client is pointed at a free port of this machine by variables and flags, and
//! when it ends, so does the gateway.

use std::ffi::OsStr;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;

use sprag_gateway::{GatewayClient, Launch, StopMode, Tally};
use sprag_http::Hosts;
use tokio::sync::oneshot;

use super::{gateway, listener, log, options, runtime, surroundings};
use crate::args::RunArgs;
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// The exit code of a program that is not there, and of one that can't be started.
const MISSING: u8 = 127;
const NOT_STARTED: u8 = 126;
/// With `--stop error`: the client took a stop for success.
const STOPPED: u8 = 1;

/// Starts the client and ends as it does.
pub(crate) fn run(args: &RunArgs, settings: &Settings) -> Run {
    let (program, rest) = args.command.split_first().ok_or_else(|| {
        Failure::new("there is nothing to start").next("name a client: sprag run claude")
    })?;
    let client = client(program);
    let loopback: SocketAddr = ([127, 0, 0, 1], 0).into();
    let listener = listener(loopback, false)?;
    let words: Vec<String> = rest
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let around = surroundings::of(settings, &words);
    let launch = Launch::of(client, &format!("http://{}", listener.address()), &around)?;
    let mut options = options(&args.guard, &launch.upstreams)?;
    options.hosts = Some(Hosts::new(loopback.ip(), &[]));
    options.session = launch.is_nameless.then(|| session(program)).transpose()?;
    let gateway = Arc::new(gateway(options, &args.guard, settings)?);
    let runtime = runtime()?;
    let (end, ended) = oneshot::channel::<()>();
    let served = runtime.spawn(listener.run(Arc::clone(&gateway), async {
        // Whether it was sent or dropped: it is over.
        let _ = ended.await;
    }));
    let mut command = Command::new(program);
    command.args(&launch.arguments).args(rest);
    for name in sprag::SECRET_VARIABLES {
        command.env_remove(name);
    }
    command.envs(launch.variables.iter().map(|(name, value)| (name, value)));
    let status = patiently(&runtime, &mut command);
    let _ = end.send(());
    let _ = runtime.block_on(served);
    runtime.shutdown_background();
    let name = program.to_string_lossy();
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            log(format_args!(
                "{name} can't be started: {}",
                Failure::reason(&error)
            ));
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            return Ok(ExitCode::from(if is_missing {
                MISSING
            } else {
                NOT_STARTED
            }));
        }
    };
    let tally = gateway.tally();
    say(tally);
    Ok(ExitCode::from(match code(status) {
        0 if args.guard.stop == StopMode::Error && tally.stops() > 0 => STOPPED,
        code => code,
    }))
}

/// Runs the command to its end. Signals from the keyboard reach it by itself; this program waits for
/// it, so that the last line is said.
fn patiently(
    runtime: &tokio::runtime::Runtime,
    command: &mut Command,
) -> std::io::Result<ExitStatus> {
    let mut child = tokio::process::Command::from(std::mem::replace(command, Command::new("")));
    runtime.block_on(async {
        let mut child = child.spawn()?;
        loop {
            tokio::select! {
                status = child.wait() => return status,
                () = sprag_server::asked_to_end() => {}
            }
        }
    })
}

/// The client behind a word, or any program that reads the variables of the official SDKs.
fn client(program: &OsStr) -> GatewayClient {
    let name = std::path::Path::new(program).file_name();
    match name.and_then(OsStr::to_str) {
        Some("claude") => GatewayClient::Claude,
        Some("codex") => GatewayClient::Codex,
        Some("gemini") => GatewayClient::Gemini,
        Some("copilot") => GatewayClient::Copilot,
        Some("opencode") => GatewayClient::Opencode,
        _ => GatewayClient::Other,
    }
}

/// A name for all that a client asks which names no session.
fn session(program: &OsStr) -> Result<String, Failure> {
    let mut drawn = [0; 8];
    getrandom::fill(&mut drawn).map_err(|error| Failure::new(error.to_string()))?;
    let name = std::path::Path::new(program)
        .file_name()
        .unwrap_or_default();
    Ok(format!(
        "{}-{:016x}",
        name.to_string_lossy(),
        u64::from_be_bytes(drawn)
    ))
}

fn say(tally: &Tally) {
    let _ = writeln!(
        anstream::stderr(),
        "sprag: {}, {}, {} refused, {}, {}; {} tokens in, {} out",
        counted(tally.requests(), "request"),
        counted(tally.calls(), "call"),
        tally.refused(),
        counted(tally.warned(), "warning"),
        counted(tally.stops(), "stop"),
        tally.input_tokens(),
        tally.output_tokens()
    );
}

fn counted(number: u64, what: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {what}{end}")
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
