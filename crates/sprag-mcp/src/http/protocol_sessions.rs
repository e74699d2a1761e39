//! The protocol sessions of the older revisions, as far as this proxy has seen them.
//!
//! What is kept is what later exchanges need: how the client called itself at the start, and calls whose answer may
//! still come on another stream. Nothing breaks where one was forgotten.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::Id;

use crate::bounded_map::BoundedMap;
use crate::gate::RequestScope;

/// The protocol sessions of one server.
#[derive(Debug, Default)]
pub(super) struct ProtocolSessions(Mutex<BoundedMap<Id, Arc<RequestScope>>>);

impl ProtocolSessions {
    /// What is known of a session; it is known from now on.
    pub(super) fn of(&self, session: &Id, shared: bool) -> Arc<RequestScope> {
        let mut held = self.held();
        if let Some(scope) = held.get(session) {
            return Arc::clone(scope);
        }
        let scope = Arc::new(RequestScope::new(session.clone(), shared));
        held.insert(session.clone(), Arc::clone(&scope));
        scope
    }

    /// The client ended it.
    pub(super) fn forget(&self, session: &Id) {
        self.held().take(session);
    }

    fn held(&self) -> MutexGuard<'_, BoundedMap<Id, Arc<RequestScope>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
