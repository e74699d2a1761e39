//! A link that opens with the first question, and what is known of a session when nobody answers.
//!
//! An adapter must start even if the guard can't be reached: a hook may have nothing to ask, a wrapper
//! outlives a server that restarts. So the guard is looked for when there is an event, and again with
//! each event until it is found. Failing open must not free an agent that was stopped: if the guard can't
//! be reached, the error carries the kill or block that the store holds against the session.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sprag_core::{Code, Decision, Event, Id, Panic, Role, RuleId, Verdict, plain_name, shell_word};

use sprag_store::Marks;

use super::patience::patiently;
use super::{Link, LinkError, LinkOptions, marks, marks_in, panic_at};
use crate::guard::{Guard, GuardError};

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum NoVerdict {
    /// The guard can't be reached or failed: the adapter's [`FailMode`](super::FailMode) decides.
    #[error("{why}")]
    Unreachable {
        /// What went wrong.
        why: String,
        /// The refusal that still holds, if the session is known to be killed or blocked.
        stopped: Option<Box<Verdict>>,
    },
    /// The event itself is wrong, or not allowed in its role.
    #[error("{0}")]
    Rejected(String),
    /// The event acts in a session that belongs to somebody else.
    #[error("{why}")]
    Foreign {
        /// Whose it is.
        why: String,
        /// The refusal that holds for everyone in that session, if it is killed or blocked.
        stopped: Option<Box<Verdict>>,
    },
}

impl NoVerdict {
    /// The guard can't be reached, and nothing is known about the session.
    #[must_use]
    pub fn unreachable(why: impl ToString) -> Self {
        Self::Unreachable {
            why: why.to_string(),
            stopped: None,
        }
    }
}

impl NoVerdict {
    /// Why `guard` gave no verdict on an event of `session`, with the refusal that holds for everyone in a session of
    /// somebody else.
    #[must_use]
    pub fn of(error: GuardError, guard: &Guard, session: &Id) -> Self {
        match Self::from(error) {
            Self::Foreign { why, .. } => Self::Foreign {
                why,
                stopped: stop_of(marks_in(guard, session), session).map(Box::new),
            },
            other => other,
        }
    }
}

impl From<GuardError> for NoVerdict {
    fn from(error: GuardError) -> Self {
        let why = error.to_string();
        match error {
            _ if error.is_foreign() => Self::Foreign { why, stopped: None },
            _ if error.is_no_answer() => Self::unreachable(why),
            _ => Self::Rejected(why),
        }
    }
}

/// A link to the guard of this machine that opens with the first event.
#[derive(Debug)]
pub struct LazyLink {
    options: LinkOptions,
    link: Mutex<Option<Link>>,
}

impl LazyLink {
    /// A link to the guard that `options` lead to; nothing is opened yet.
    #[must_use]
    pub fn new(options: LinkOptions) -> Self {
        Self {
            options,
            link: Mutex::new(None),
        }
    }

    /// The verdict on an event that comes in this role.
    ///
    /// # Errors
    /// Returns an error if there is no verdict. It carries the refusal that still holds for a stopped
    /// session.
    pub fn check_as(&self, role: Role, event: Event) -> Result<Verdict, NoVerdict> {
        let session = event.session().clone();
        let acts = acts(&event);
        let checked = self.link().and_then(|link| link.check_as(role, event));
        checked.map_err(|error| {
            let why = error.to_string();
            let stopped = || known_stop(&self.options.db, &session, acts).map(Box::new);
            match error {
                _ if error.is_foreign() => NoVerdict::Foreign {
                    stopped: stopped(),
                    why,
                },
                _ if error.is_no_answer() => NoVerdict::Unreachable {
                    stopped: stopped(),
                    why,
                },
                _ => NoVerdict::Rejected(why),
            }
        })
    }

    /// Why the policy file could not be used, if events are judged by another policy for that reason.
    #[must_use]
    pub fn policy_problem(&self) -> Option<String> {
        let opened = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let guard = opened.as_ref()?.guard()?;
        guard.policy_problem().map(ToString::to_string)
    }

    fn link(&self) -> Result<Link, LinkError> {
        let mut opened = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = &*opened {
            if let Some(guard) = link.guard() {
                // A changed policy holds from the next event on. An invalid one is logged and the old
                // one stays, so the error needs no handling here.
                let _ = guard.reload_if_changed();
            }
            return Ok(link.clone());
        }
        let open = || Link::open(self.options.clone());
        let link = patiently(self.options.deadline, open)?;
        Ok(opened.insert(link).clone())
    }
}

/// Whether an agent does something by it: that is what a panic refuses.
fn acts(event: &Event) -> bool {
    match event {
        Event::Message(message) => message.from.is_some(),
        Event::Call(_) => true,
        _ => false,
    }
}

/// The refusal that the store at `db` holds against `session`, or a panic against all that act.
fn known_stop(db: &Path, session: &Id, acts: bool) -> Option<Verdict> {
    let stop = stop_of(marks(db, session), session);
    stop.or_else(|| panic_at(db).filter(|_| acts).map(|panic| stop_by(&panic)))
}

/// The refusal that a panic means.
fn stop_by(panic: &Panic) -> Verdict {
    let by = panic.by.as_deref().unwrap_or("an operator");
    let why = panic.why.as_deref();
    let why = why.map_or_else(String::new, |why| format!(" ({})", plain_name(why)));
    Verdict::new(Decision::Deny).with_rule(RuleId::SessionPanic).with_code(Code::Panic).with_message(format!(
            "Everything that agents do is refused: {} stopped all of them{why}. Stop now and wait for a person.",
            plain_name(by)
        )).with_hint("sprag calm --why \"…\"")
}

/// The refusal that marks mean for `session`.
fn stop_of(marks: Marks, session: &Id) -> Option<Verdict> {
    let (decision, mark) = match (marks.killed, marks.blocked) {
        (Some(mark), _) => (Decision::Kill, mark),
        (None, mark) => (Decision::Block, mark?),
    };
    let word = shell_word(session.as_str());
    let mut verdict = Verdict::new(decision)
        .with_message(mark.why)
        .with_hint(format!("sprag sessions reset {word} --why \"…\""));
    verdict.rule = mark.rule;
    Some(verdict)
}

#[cfg(test)]
mod tests {
    use sprag_core::{Mark, Timestamp};

    use super::*;

    #[test]
    fn a_hint_without_the_guard_once_ran_what_a_session_was_called() {
        let mark = Mark {
            at: Timestamp(1),
            rule: None,
            why: "enough".to_owned(),
            by: None,
        };
        let marks = Marks {
            killed: Some(mark),
            blocked: None,
        };
        let session = Id::new("s1; rm -rf ~").unwrap();
        let hint = stop_of(marks, &session).unwrap().hint.unwrap();
        assert_eq!(hint, "sprag sessions reset 's1; rm -rf ~' --why \"…\"");
    }
}
