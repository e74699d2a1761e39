//! The server's process group: everything that it started ends with it.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// A process group that this program made.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// The group whose leader has this process id.
    pub(super) fn of_leader(id: u32) -> Option<Self> {
        Pid::from_raw(i32::try_from(id).ok()?).map(Self)
    }

    /// Its number.
    pub(super) fn number(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Asks everyone in it to end.
    pub(super) fn terminate(self) {
        // Whoever is gone already needs no asking.
        let _ = kill_process_group(self.0, Signal::TERM);
    }

    /// Ends everyone in it.
    pub(super) fn kill(self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }

    /// Whether nobody is left in it.
    pub(super) fn is_empty(self) -> bool {
        test_kill_process_group(self.0).is_err()
    }

    /// Asks, waits, and ends who is left.
    pub(super) fn end(self, grace: Duration, wait: impl Fn(Duration)) {
        self.terminate();
        let step = Duration::from_millis(20);
        let mut waited = Duration::ZERO;
        while waited < grace && !self.is_empty() {
            wait(step);
            waited += step;
        }
        self.kill();
    }
}
