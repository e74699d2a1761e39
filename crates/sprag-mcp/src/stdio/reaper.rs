//! The reaper: a process that outlives a wrapper which was killed, and ends what it left behind.
//!
//! No program can catch its own `SIGKILL`, and a wrapper that dies by any signal has no time for its
//! server. The reaper holds the other end of a pipe: when the wrapper is gone the pipe closes.

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::ServerCommand;
use super::process_group::ProcessGroup;
use crate::gate::Gate;

/// What the wrapper says when all is well.
const DISMISSED: u8 = b'.';
/// How long a server has to notice by itself that its input closed.
const NOTICE: Duration = Duration::from_millis(500);
/// How long it has when asked to end.
const GRACE: Duration = Duration::from_secs(1);

/// The wrapper's side of it.
#[derive(Debug)]
pub(super) struct Reaper(Child);

impl Reaper {
    pub(super) fn start(server: &ServerCommand, group: ProcessGroup, gate: &Gate) -> Option<Self> {
        let (program, args) = server.reaper.as_ref()?;
        let child = Command::new(program)
            .args(args)
            .arg(group.number().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        match child {
            Ok(child) => Some(Self(child)),
            Err(error) => {
                gate.log(format_args!("the reaper does not start ({error}): a wrapper that is killed may leave its server behind"));
                None
            }
        }
    }

    /// All is done: it may go.
    pub(super) fn dismiss(mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            let _ = pipe.write_all(&[DISMISSED]);
        }
        let _ = self.0.wait();
    }
}

/// Waits until the one who holds the other end of `pipe` is gone. Unless it said that all is done, ends
/// the process group of this number.
pub fn reap(mut pipe: impl Read, group: u32) {
    let mut said = Vec::new();
    // A pipe that breaks is a wrapper that is gone.
    let _ = pipe.read_to_end(&mut said);
    let Some(group) = ProcessGroup::of_leader(group) else {
        return;
    };
    if said.contains(&DISMISSED) {
        return;
    }
    let step = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    while waited < NOTICE && !group.is_empty() {
        thread::park_timeout(step);
        waited += step;
    }
    if !group.is_empty() {
        group.end(GRACE, thread::park_timeout);
    }
}
