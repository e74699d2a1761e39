//! The protocol sessions of the older revisions, as far as this proxy has seen them.
//!
//! What is kept is what later exchanges need: how the client called itself at the start, and calls whose answer may
//! still come on another stream. Nothing breaks where one was forgotten.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::Id;

use crate::books::Bounded;
use crate::gate::Line;

/// The protocol sessions of one server.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Bounded<Id, Arc<Line>>>);

impl Sessions {
    /// What is known of a session; it is known from now on.
    pub(super) fn of(&self, session: &Id, shared: bool) -> Arc<Line> {
        let mut held = self.held();
        if let Some(line) = held.get(session) {
            return Arc::clone(line);
        }
        let line = Arc::new(Line::new(session.clone(), shared));
        held.insert(session.clone(), Arc::clone(&line));
        line
    }

    /// The client ended it.
    pub(super) fn forget(&self, session: &Id) {
        self.held().take(session);
    }

    fn held(&self) -> MutexGuard<'_, Bounded<Id, Arc<Line>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
