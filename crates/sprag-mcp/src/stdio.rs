//! The wrapper around a server on standard input and output.
//!
//! Whoever starts the server starts the wrapper in its place; it starts the server as its child, passes
//! messages through the gate and standard error past it, and ends with the server's own exit code.
//!
//! Nothing may be left behind. The server leads a process group of its own. When the client closes, the
//! server's input is closed too, and it has a few seconds of silence to end by itself; then it is asked,
//! then it is ended, with everything that it started. Where the wrapper itself is killed it can't do
//! that, so a small process of its own, the reaper, waits for its end and does it instead.

pub(crate) mod frames;
mod process_group;
mod pump;
mod reaper;
mod shutdown;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use sprag::SECRET_VARIABLES;

use crate::gate::Gate;
use process_group::ProcessGroup;
use pump::ClientWriter;
use reaper::Reaper;
pub use reaper::reap;
use shutdown::{Shutdown, StdioEvent};

/// What to wrap.
#[derive(Debug, Clone)]
pub struct ServerCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// How to start the reaper: a program that calls [`reap`], to whose arguments the number of
    /// the process group is added. None: a wrapper that is killed leaves its server behind.
    pub reaper: Option<(OsString, Vec<OsString>)>,
}

impl ServerCommand {
    /// A name for the server, by its program.
    #[must_use]
    pub fn name(&self) -> String {
        let path = std::path::Path::new(&self.program);
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }
}

/// Why a server could not be wrapped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// It does not start.
    #[error("can't start the server `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The system gave it no pipes.
    #[error("the server `{program}` has no standard input and output")]
    NoPipes {
        /// The program.
        program: String,
    },
}

impl StdioError {
    /// The exit code that a shell would give.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Start { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

/// Wraps the server until it ends, and says with which exit code.
///
/// # Errors
/// Returns an error if it does not start.
pub fn run(
    gate: &Arc<Gate>,
    server: &ServerCommand,
    from_client: impl Read + Send + 'static,
    to_client: impl Write + Send + 'static,
) -> Result<u8, StdioError> {
    let program = server.program.to_string_lossy().into_owned();
    let mut child = start(server).map_err(|source| StdioError::Start {
        program: program.clone(),
        source,
    })?;
    let no_pipes = || StdioError::NoPipes {
        program: program.clone(),
    };
    let group = ProcessGroup::of_leader(child.id()).ok_or_else(no_pipes)?;
    let reaper = Reaper::start(server, group, gate);
    let to_server = child.stdin.take().ok_or_else(no_pipes)?;
    let from_server = child.stdout.take().ok_or_else(no_pipes)?;
    let (events, waiting) = channel();
    let client = Arc::new(ClientWriter::new(to_client));
    let messages = Arc::new(AtomicU64::new(0));
    let scope = Arc::new(gate.scope());
    {
        let (gate, scope, client) = (Arc::clone(gate), Arc::clone(&scope), Arc::clone(&client));
        let mut to_server = to_server;
        // The server's input closes after this was told, so that its end is never told first.
        report(&events, move || {
            let end = pump::client_to_server(&gate, &scope, from_client, &mut to_server, &client);
            (StdioEvent::ClientToServerEnded(end), to_server)
        });
    }
    {
        let (gate, messages) = (Arc::clone(gate), Arc::clone(&messages));
        let count_message = move || {
            messages.fetch_add(1, Ordering::Relaxed);
        };
        report(&events, move || {
            let end = pump::server_to_client(&gate, &scope, from_server, &client, count_message);
            (StdioEvent::ServerToClientEnded(end), ())
        });
    }
    report(&events, move || (StdioEvent::Exited(wait_for(child)), ()));
    let status = Shutdown::new(gate, group, &waiting, &messages).until_over();
    group.kill();
    if let Some(reaper) = reaper {
        reaper.dismiss();
    }
    Ok(exit_code(status))
}

fn start(server: &ServerCommand) -> std::io::Result<Child> {
    let mut command = Command::new(&server.program);
    for secret in SECRET_VARIABLES {
        command.env_remove(secret);
    }
    command
        .args(&server.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Does the work on a thread of its own, tells what came of it, and only then lets go of what it held.
fn report<T>(events: &Sender<StdioEvent>, work: impl FnOnce() -> (StdioEvent, T) + Send + 'static) {
    let events = events.clone();
    thread::spawn(move || {
        let (told, _held) = work();
        // Nobody listens any more when all is over.
        let _ = events.send(told);
    });
}

fn wait_for(mut child: Child) -> Option<ExitStatus> {
    child.wait().ok()
}

/// As a shell tells it: the code, or 128 and the signal.
fn exit_code(status: Option<ExitStatus>) -> u8 {
    let code = |status: ExitStatus| {
        status
            .code()
            .or_else(|| status.signal().map(|signal| 128 + signal))
    };
    status
        .and_then(code)
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}
