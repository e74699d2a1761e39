//! A link that opens with the first question, and what is known of a session when nobody answers.
//!
//! An adapter must start even if the guard can't be reached: a hook may have nothing to ask, a wrapper
//! outlives a server that restarts. So the guard is looked for when there is an event, and again with
//! each event until it is found. Failing open must not free an agent that was stopped: if the guard can't
//! be reached, the error carries the kill or block that the store holds against the session.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sprag_core::{Decision, Event, Id, Verdict};

use super::{Link, LinkError, LinkOptions, marks};
use crate::guard::GuardError;
use crate::role::Role;

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

impl From<GuardError> for NoVerdict {
    fn from(error: GuardError) -> Self {
        match error {
            GuardError::Event(_) | GuardError::Forbidden { .. } => {
                Self::Rejected(error.to_string())
            }
            other => Self::unreachable(other),
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
        let checked = self.link().and_then(|link| link.check_as(role, event));
        checked.map_err(|error| {
            if !error.is_no_answer() {
                return NoVerdict::Rejected(error.to_string());
            }
            NoVerdict::Unreachable {
                why: error.to_string(),
                stopped: known_stop(&self.options.db, &session).map(Box::new),
            }
        })
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
        let link = Link::open(self.options.clone())?;
        Ok(opened.insert(link).clone())
    }
}

/// The refusal that the store at `db` holds against `session`.
fn known_stop(db: &Path, session: &Id) -> Option<Verdict> {
    let marks = marks(db, session);
    let (decision, mark) = match (marks.killed, marks.blocked) {
        (Some(mark), _) => (Decision::Kill, mark),
        (None, mark) => (Decision::Block, mark?),
    };
    Some(Verdict {
        decision,
        rule: mark.rule,
        message: Some(mark.why),
        hint: Some(format!("sprag sessions reset {session} --why \"…\"")),
        ..Verdict::default()
    })
}
