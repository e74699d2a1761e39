//! Who is asked for verdicts, and what holds when nobody answers.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use sprag::{Decision, Event, Guard, GuardError, Id, Role, Verdict};

/// Someone who gives verdicts: a guard of one's own, or the one of this machine.
pub trait VerdictSource: Send + Sync {
    /// What to do about an event.
    ///
    /// # Errors
    /// Where there is no verdict.
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict>;

    /// Whether it is known from elsewhere that the session was stopped, for when there is no verdict.
    fn is_stopped(&self, session: &Id) -> bool {
        let _ = session;
        false
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum NoVerdict {
    /// The guard did not answer: the `fail` mode decides.
    #[error("{0}")]
    NoAnswer(String),
    /// The event is wrong.
    #[error("{0}")]
    Wrong(String),
}

impl<C: VerdictSource + ?Sized> VerdictSource for std::sync::Arc<C> {
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict> {
        (**self).check(event)
    }

    fn is_stopped(&self, session: &Id) -> bool {
        (**self).is_stopped(session)
    }
}

impl VerdictSource for Guard {
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict> {
        self.check_as(Role::Agent, event)
            .map_err(|error| match error {
                GuardError::Event(_) | GuardError::Forbidden { .. } => {
                    NoVerdict::Wrong(error.to_string())
                }
                other => NoVerdict::NoAnswer(other.to_string()),
            })
    }
}

/// What holds when the guard does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fail {
    /// Calls go on unguarded, unless the session is known to be stopped.
    #[default]
    Open,
    /// Calls are refused.
    Closed,
}

/// Where the proxy tells people what happens to it; never where a protocol flows.
pub type LogSink = Box<dyn Fn(fmt::Arguments<'_>) + Send + Sync>;

/// The source with a `fail` mode, which always has an answer.
pub(crate) struct FallbackSource {
    source: Box<dyn VerdictSource>,
    fail: Fail,
    log: LogSink,
    /// Nobody answered the last time; told once, not for each call.
    is_down: Mutex<bool>,
}

/// What the proxy does.
#[derive(Debug)]
pub(crate) enum GuardAnswer {
    /// What the guard says.
    Verdict(Box<Verdict>),
    /// Nobody answered; go on.
    Unguarded,
    /// Nobody answered; don't.
    Refuse(&'static str),
    /// The event can't be judged.
    Wrong(String),
}

const STOPPED: &str = "This session was stopped by the loop guard, and the guard can't be reached now. Stop and tell the user.";
const CLOSED: &str = "The loop guard can't be reached, and nothing may run without it here (--fail closed). Stop and tell the user.";

impl FallbackSource {
    pub(crate) fn new(source: Box<dyn VerdictSource>, fail: Fail, log: LogSink) -> Self {
        Self {
            source,
            fail,
            log,
            is_down: Mutex::new(false),
        }
    }

    pub(crate) fn ask(&self, event: Event) -> GuardAnswer {
        let session = event.session().clone();
        match self.source.check(event) {
            Ok(verdict) => {
                self.up();
                GuardAnswer::Verdict(Box::new(verdict))
            }
            Err(NoVerdict::Wrong(why)) => GuardAnswer::Wrong(why),
            Err(NoVerdict::NoAnswer(why)) => {
                self.down(&why);
                match self.fail {
                    Fail::Closed => GuardAnswer::Refuse(CLOSED),
                    Fail::Open if self.source.is_stopped(&session) => GuardAnswer::Refuse(STOPPED),
                    Fail::Open => GuardAnswer::Unguarded,
                }
            }
        }
    }

    pub(crate) fn log(&self, what: fmt::Arguments<'_>) {
        (self.log)(what);
    }

    fn up(&self) {
        if self.change(false) {
            self.log(format_args!("the guard answers again"));
        }
    }

    fn down(&self, why: &str) {
        if self.change(true) {
            let then = match self.fail {
                Fail::Open => "calls go on unguarded (--fail open)",
                Fail::Closed => "calls are refused (--fail closed)",
            };
            self.log(format_args!("the guard does not answer: {why}; {then}"));
        }
    }

    fn change(&self, is_down: bool) -> bool {
        let mut held = self.is_down.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, is_down) != is_down
    }
}

/// What an agent is told by a verdict that lets its call happen.
pub(crate) fn guidance(verdict: &Verdict) -> Option<String> {
    (verdict.decision > Decision::Allow)
        .then(|| verdict.message.clone())
        .flatten()
}
