//! The scope in which request ids are unique, and who sends the requests in it.
//!
//! A wrapped process has one scope for as long as it lives. Over HTTP every exchange has its own, because all
//! clients count their requests from one; the exchanges of one protocol session share the pending requests,
//! because the response to one may come on a later stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::{Id, Sender};

use crate::bounded_map::BoundedMap;
use crate::in_flight::PendingRequest;

type PendingRequests = BoundedMap<Box<str>, PendingRequest>;

/// The scope in which request ids are unique, and who sends the requests in it.
#[derive(Debug)]
pub struct RequestScope {
    pub(super) session: Id,
    pub(super) shared: bool,
    /// Who sends the requests; none if the client has the gate for itself.
    pub(super) sender: Option<Arc<Sender>>,
    /// It lasts for one run of an agent, which ends if the session is killed: a process or a protocol session. What
    /// stands behind mere credentials goes on for ever.
    pub(super) is_run: bool,
    agent: Mutex<Option<Id>>,
    elicits: AtomicBool,
    pending: Arc<Mutex<PendingRequests>>,
    /// The keys of this scope's own requests; none for a scope that lasts, where nobody needs them.
    own: Option<Mutex<Vec<Box<str>>>>,
}

impl RequestScope {
    /// A scope that lasts. Calls that name no session of their own count for `session`; with `shared`,
    /// several conversations may share it.
    #[must_use]
    pub fn new(session: Id, shared: bool) -> Self {
        Self {
            session,
            shared,
            sender: None,
            is_run: true,
            agent: Mutex::new(None),
            elicits: AtomicBool::new(false),
            pending: Arc::default(),
            own: None,
        }
    }

    /// A scope for one exchange.
    #[must_use]
    pub fn exchange(session: Id, shared: bool) -> Self {
        Self {
            is_run: false,
            own: Some(Mutex::default()),
            ..Self::new(session, shared)
        }
    }

    /// A scope for one exchange, which shares the pending requests of this one.
    #[must_use]
    pub fn exchange_within(&self) -> Self {
        Self {
            session: self.session.clone(),
            shared: self.shared,
            sender: None,
            is_run: self.is_run,
            agent: Mutex::new(self.agent()),
            elicits: AtomicBool::new(self.elicits()),
            pending: Arc::clone(&self.pending),
            own: Some(Mutex::default()),
        }
    }

    /// The same scope, with whoever sends its requests.
    #[must_use]
    pub fn sent_by(mut self, sender: Arc<Sender>) -> Self {
        self.sender = Some(sender);
        self
    }

    /// Whether a response is pending, in this scope or in those that share its requests.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.pending().is_empty()
    }

    /// The name that the client gave itself.
    #[must_use]
    pub fn agent(&self) -> Option<Id> {
        let held = self.agent.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the name that the client gave itself.
    pub fn set_agent(&self, agent: Option<Id>) {
        let held = self.agent.lock();
        *held.unwrap_or_else(PoisonError::into_inner) = agent;
    }

    /// Whether the client said that it can show a form to its user.
    pub(super) fn elicits(&self) -> bool {
        self.elicits.load(Ordering::Acquire)
    }

    pub(super) fn set_elicits(&self, elicits: bool) {
        self.elicits.store(elicits, Ordering::Release);
    }

    /// Whether one client has the gate for itself, as long as it lives.
    pub(super) fn is_lasting(&self) -> bool {
        self.own.is_none()
    }

    pub(super) fn remember(&self, key: Box<str>, request: PendingRequest) {
        if let Some(mut own) = self.own() {
            own.push(key.clone());
        }
        self.pending().insert(key, request);
    }

    pub(super) fn take(&self, key: &str) -> Option<PendingRequest> {
        self.pending().take(key)
    }

    /// Takes all requests of this very scope that have no response yet.
    pub(super) fn take_own(&self) -> Vec<PendingRequest> {
        let keys = self.own().map(|mut own| std::mem::take(&mut *own));
        let keys = keys.unwrap_or_default();
        keys.iter().filter_map(|key| self.take(key)).collect()
    }

    /// Whether what is not JSON is refused. Over HTTP it is: a server may decode a body in ways that nobody here
    /// knows. A wrapped server gets lines as they come, and refuses what it can't read.
    pub(super) fn is_strict(&self) -> bool {
        self.own.is_some()
    }

    fn own(&self) -> Option<MutexGuard<'_, Vec<Box<str>>>> {
        let own = self.own.as_ref()?;
        Some(own.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn pending(&self) -> MutexGuard<'_, PendingRequests> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
