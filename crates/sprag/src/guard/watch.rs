//! A small thread that looks at the policy file now and then.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Guard, GuardError};

/// Keeps the policy file watched until it is dropped. It does not keep the guard alive.
#[derive(Debug)]
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Guard {
    /// Looks at the policy file every `pause` from now on. Half a second is a good one: a change
    /// then takes effect within a second.
    ///
    /// # Errors
    /// Returns an error if the system gives no thread.
    pub fn watch(&self, pause: Duration) -> Result<Watch, GuardError> {
        let (stop, stopped) = channel();
        let guard = Arc::downgrade(&self.inner);
        let look = move || {
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let Some(inner) = guard.upgrade() else {
                    return;
                };
                // What is wrong with the file stands in the log; what is wrong with the log is told
                // to whoever asks for a verdict. The next round tries again.
                let _ = inner.reload(false);
            }
        };
        let thread = std::thread::Builder::new().name("sprag-policy".to_owned());
        let thread = thread.spawn(look).map_err(GuardError::Watch)?;
        Ok(Watch {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to hand over; if it panicked there is nobody better to tell.
            let _ = thread.join();
        }
    }
}
