//! How a wrapped server comes to its end, whoever goes first.

use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::process_group::ProcessGroup;
use super::pump::PumpEnd;
use crate::gate::Gate;

/// How long a server may be silent after its input closed. One that still answers is not hurried.
const SILENCE: Duration = Duration::from_secs(5);
/// How long it has when asked to end.
const GRACE: Duration = Duration::from_secs(1);

/// What the threads tell.
#[derive(Debug)]
pub(super) enum StdioEvent {
    ClientToServerEnded(PumpEnd),
    ServerToClientEnded(PumpEnd),
    Exited(Option<ExitStatus>),
}

/// How far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    /// Its input is closed, or it closed its output.
    Closing,
    /// It was asked to end.
    PendingRequest,
    /// It was ended, or it ended; its last output passes.
    Ended,
}

impl Phase {
    fn patience(self) -> Option<Duration> {
        match self {
            Self::Running => None,
            Self::Closing => Some(SILENCE),
            Self::PendingRequest | Self::Ended => Some(GRACE),
        }
    }
}

/// The one who waits.
pub(super) struct Shutdown<'w> {
    gate: &'w Gate,
    group: ProcessGroup,
    events: &'w Receiver<StdioEvent>,
    messages: &'w AtomicU64,
    phase: Phase,
    status: Option<ExitStatus>,
    is_read: bool,
}

impl<'w> Shutdown<'w> {
    pub(super) fn new(
        gate: &'w Gate,
        group: ProcessGroup,
        events: &'w Receiver<StdioEvent>,
        messages: &'w AtomicU64,
    ) -> Self {
        Self {
            gate,
            group,
            events,
            messages,
            phase: Phase::Running,
            status: None,
            is_read: false,
        }
    }

    /// Waits until the server ended and all that it said has passed.
    pub(super) fn until_over(mut self) -> Option<ExitStatus> {
        let mut has_exited = false;
        while !(has_exited && self.is_read) {
            let messages = self.messages.load(Ordering::Relaxed);
            match self.next() {
                Ok(StdioEvent::Exited(status)) => {
                    self.exited(status);
                    has_exited = true;
                }
                Ok(StdioEvent::ClientToServerEnded(end)) => self.ended(end),
                Ok(StdioEvent::ServerToClientEnded(end)) => {
                    self.is_read = true;
                    self.ended(end);
                }
                Err(RecvTimeoutError::Timeout) => {
                    let is_busy = messages != self.messages.load(Ordering::Relaxed);
                    if !(is_busy && self.phase == Phase::Closing) && self.hurry() {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.status
    }

    fn next(&self) -> Result<StdioEvent, RecvTimeoutError> {
        match self.phase.patience() {
            Some(patience) => self.events.recv_timeout(patience),
            None => self
                .events
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn exited(&mut self, status: Option<ExitStatus>) {
        if self.phase == Phase::Running || status.is_some_and(|status| !status.success()) {
            match status {
                Some(status) => self.gate.log(format_args!("the server ended: {status}")),
                None => self.gate.log(format_args!("the server ended")),
            }
        }
        self.status = status;
        self.phase = Phase::Ended;
    }

    fn ended(&mut self, end: PumpEnd) {
        match end {
            PumpEnd::SourceClosed => self.phase = self.phase.max(Phase::Closing),
            PumpEnd::ClientDeaf if self.phase < Phase::PendingRequest => self.ask(),
            PumpEnd::Killed if self.phase < Phase::PendingRequest => {
                self.gate.log(format_args!(
                    "a session was killed, so the server is ended (--on-kill exit)"
                ));
                self.ask();
            }
            PumpEnd::ClientDeaf | PumpEnd::Killed => {}
        }
    }

    fn ask(&mut self) {
        self.group.terminate();
        self.phase = Phase::PendingRequest;
    }

    /// The patience of this phase is over. Whether there is nothing left to wait for.
    fn hurry(&mut self) -> bool {
        match self.phase {
            Phase::Running => {}
            Phase::Closing => {
                self.gate.log(format_args!(
                    "the server did not end by itself; it is asked to"
                ));
                self.ask();
            }
            Phase::PendingRequest => {
                self.gate.log(format_args!(
                    "the server did not end when asked; it is killed"
                ));
                self.group.kill();
                self.phase = Phase::Ended;
            }
            Phase::Ended => return true,
        }
        false
    }
}
