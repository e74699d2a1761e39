//! Where verdicts come from, and what holds when there is none.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use sprag::{Event, FailMode, Guard, LazyLink, NoVerdict, Role, Verdict};

/// Where verdicts come from: a guard in this process, or the guard of this machine.
pub trait VerdictSource: Send + Sync {
    /// The verdict on an event.
    ///
    /// # Errors
    /// Returns an error if there is no verdict.
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict>;
}

impl<S: VerdictSource + ?Sized> VerdictSource for std::sync::Arc<S> {
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict> {
        (**self).check(event)
    }
}

impl VerdictSource for Guard {
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict> {
        Ok(self.check_as(Role::Agent, event)?)
    }
}

/// All wrappers of a machine count in one place, so that a loop across two servers is one loop.
impl VerdictSource for LazyLink {
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict> {
        self.check_as(Role::Agent, event)
    }
}

/// Where the proxy logs what happens to it; never the stream that carries the protocol.
pub type LogSink = Box<dyn Fn(fmt::Arguments<'_>) + Send + Sync>;

/// A source with a fail mode, which always has an answer.
pub(crate) struct FallbackSource {
    source: Box<dyn VerdictSource>,
    fail: FailMode,
    log: LogSink,
    /// The last question got no answer: an outage is logged once, not for each call.
    is_down: Mutex<bool>,
}

/// What the proxy does with a call or a result.
#[derive(Debug)]
pub(crate) enum GuardAnswer {
    /// The guard's verdict.
    Verdict(Box<Verdict>),
    /// The guard can't be reached; the call goes on unjudged.
    Unguarded,
    /// The guard can't be reached; the call is refused with this text.
    Refuse(&'static str),
    /// The event can't be judged, and why.
    Rejected(String),
}

const STOPPED: &str = "This session was stopped by the loop guard, and the guard can't be reached now. Stop and tell the user.";
const CLOSED: &str = "The loop guard can't be reached, and nothing may run without it here (--fail closed). Stop and tell the user.";

impl FallbackSource {
    pub(crate) fn new(source: Box<dyn VerdictSource>, fail: FailMode, log: LogSink) -> Self {
        Self {
            source,
            fail,
            log,
            is_down: Mutex::new(false),
        }
    }

    pub(crate) fn check(&self, event: Event) -> GuardAnswer {
        match self.source.check(event) {
            Ok(verdict) => {
                if self.set_down(false) {
                    self.log(format_args!("the guard answers again"));
                }
                GuardAnswer::Verdict(Box::new(verdict))
            }
            Err(NoVerdict::Rejected(why)) => GuardAnswer::Rejected(why),
            Err(NoVerdict::Unreachable { why, stopped }) => {
                let (answer, then) = match (self.fail, stopped) {
                    (FailMode::Closed, _) => (
                        GuardAnswer::Refuse(CLOSED),
                        "calls are refused (--fail closed)",
                    ),
                    // Failing open must not free an agent that was stopped before.
                    (FailMode::Open, Some(_)) => (GuardAnswer::Refuse(STOPPED), UNGUARDED),
                    (FailMode::Open, None) => (GuardAnswer::Unguarded, UNGUARDED),
                };
                if self.set_down(true) {
                    self.log(format_args!("the guard does not answer: {why}; {then}"));
                }
                answer
            }
        }
    }

    pub(crate) fn log(&self, what: fmt::Arguments<'_>) {
        (self.log)(what);
    }

    /// Sets whether the guard is down, and returns whether that is a change.
    fn set_down(&self, is_down: bool) -> bool {
        let mut held = self.is_down.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, is_down) != is_down
    }
}

const UNGUARDED: &str = "calls go on unguarded (--fail open)";
