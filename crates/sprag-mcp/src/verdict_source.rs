//! Where verdicts come from, and what holds when there is none.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use sprag::{Event, FailMode, Guard, LazyLink, NoVerdict, Role, Sender, Verdict};

/// Where verdicts come from: a guard in this process, or the guard of this machine.
pub trait VerdictSource: Send + Sync {
    /// The verdict on an event that `sender` is behind. Without one the proxy speaks for itself, as the adapter that it
    /// is: in a session that no client named.
    ///
    /// # Errors
    /// Returns an error if there is no verdict.
    fn check(&self, sender: Option<&Sender>, event: Event) -> Result<Verdict, NoVerdict>;
}

impl<S: VerdictSource + ?Sized> VerdictSource for std::sync::Arc<S> {
    fn check(&self, sender: Option<&Sender>, event: Event) -> Result<Verdict, NoVerdict> {
        (**self).check(sender, event)
    }
}

impl VerdictSource for Guard {
    fn check(&self, sender: Option<&Sender>, event: Event) -> Result<Verdict, NoVerdict> {
        let own = Sender::anonymous(Role::Hook);
        let session = event.session().clone();
        let checked = self.check_from(sender.unwrap_or(&own), event);
        checked.map_err(|error| NoVerdict::of(error, self, &session))
    }
}

/// All wrappers of a machine count in one place, so that a loop across two servers is one loop.
impl VerdictSource for LazyLink {
    fn check(&self, sender: Option<&Sender>, event: Event) -> Result<Verdict, NoVerdict> {
        let role = sender.map_or(Role::Hook, |sender| sender.role);
        self.check_as(role, event)
    }
}

/// Where the proxy logs what happens to it; never the stream that carries the protocol.
pub type LogSink = Box<dyn Fn(fmt::Arguments<'_>) + Send + Sync>;

/// A source with a fail mode, which always has an answer.
pub struct FallbackSource {
    source: Box<dyn VerdictSource>,
    fail: FailMode,
    log: LogSink,
    /// The last question got no answer: an outage is logged once, not for each call.
    is_down: Mutex<bool>,
}

/// What the proxy does with a call or a result.
#[derive(Debug)]
pub enum GuardAnswer {
    /// The guard's verdict.
    Verdict(Box<Verdict>),
    /// The guard can't be reached; the call goes on unjudged.
    Unguarded,
    /// The guard can't be reached; the call is refused with this text.
    Refuse(&'static str),
    /// The event can't be judged, and why.
    Rejected(String),
    /// The client named a session that belongs to somebody else.
    Foreign,
}

const STOPPED: &str = "This session was stopped by the loop guard, and the guard can't be reached now. Stop and tell the user.";
const CLOSED: &str = "The loop guard can't be reached, and nothing may run without it here (--fail closed). Stop and tell the user.";

impl fmt::Debug for FallbackSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FallbackSource").finish_non_exhaustive()
    }
}

impl FallbackSource {
    /// A source that follows `fail` when there is no verdict.
    #[must_use]
    pub fn new(source: Box<dyn VerdictSource>, fail: FailMode, log: LogSink) -> Self {
        Self {
            source,
            fail,
            log,
            is_down: Mutex::new(false),
        }
    }

    /// What to do with an event.
    pub fn check(&self, sender: Option<&Sender>, event: Event) -> GuardAnswer {
        match self.source.check(sender, event) {
            Ok(verdict) => {
                if self.set_down(false) {
                    self.log(format_args!("the guard answers again"));
                }
                GuardAnswer::Verdict(Box::new(verdict))
            }
            Err(NoVerdict::Rejected(why)) => GuardAnswer::Rejected(why),
            // A session that was stopped is stopped for everyone who acts in its name.
            Err(NoVerdict::Foreign { stopped, .. }) => {
                stopped.map_or(GuardAnswer::Foreign, GuardAnswer::Verdict)
            }
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

    /// Reports to people.
    pub fn log(&self, what: fmt::Arguments<'_>) {
        (self.log)(what);
    }

    /// Sets whether the guard is down, and returns whether that is a change.
    fn set_down(&self, is_down: bool) -> bool {
        let mut held = self.is_down.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, is_down) != is_down
    }
}

const UNGUARDED: &str = "calls go on unguarded (--fail open)";
