//! The guard of this machine as the one who is asked.
//!
//! All wrappers of a machine count in one place, so that a loop across two servers is one loop. A
//! wrapper must start even where that place can't be reached: then each event tries again, and until it
//! answers the `fail` mode decides.

use std::sync::{Mutex, PoisonError};

use sprag::{Event, Id, Link, LinkError, LinkOptions, Role, Verdict, link};

use crate::verdict_source::{NoVerdict, VerdictSource};

/// The guard of this machine.
#[derive(Debug)]
pub struct LazyLink {
    options: LinkOptions,
    link: Mutex<Option<Link>>,
}

impl LazyLink {
    /// The guard to be found by these options, once it is asked.
    #[must_use]
    pub fn new(options: LinkOptions) -> Self {
        Self {
            options,
            link: Mutex::new(None),
        }
    }

    fn link(&self) -> Result<Link, LinkError> {
        let mut held = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = &*held {
            return Ok(link.clone());
        }
        let link = Link::open(self.options.clone())?;
        Ok(held.insert(link).clone())
    }

    fn ask(&self, event: Event) -> Result<Verdict, LinkError> {
        let link = self.link()?;
        if let Some(guard) = link.guard() {
            // A policy that changed holds from the next event on; what is wrong with it stands in the log.
            let _ = guard.reload_if_changed();
        }
        link.check_as(Role::Agent, event)
    }
}

impl VerdictSource for LazyLink {
    fn check(&self, event: Event) -> Result<Verdict, NoVerdict> {
        self.ask(event).map_err(|error| {
            if error.is_no_answer() {
                NoVerdict::NoAnswer(error.to_string())
            } else {
                NoVerdict::Wrong(error.to_string())
            }
        })
    }

    fn is_stopped(&self, session: &Id) -> bool {
        let marks = link::marks(&self.options.db, session);
        marks.killed.is_some() || marks.blocked.is_some()
    }
}
