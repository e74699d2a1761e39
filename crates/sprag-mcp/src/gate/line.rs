//! One line between a client and a server: where the ids of requests are told apart, and who stands behind it.
//!
//! A wrapped process has one line for as long as it lives. Over HTTP every exchange has its own, because all
//! clients count their requests from one; the exchanges of one protocol session share what is under way, because
//! the answer to one may come on a later stream.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::Id;

use crate::books::{Asked, Bounded};

type UnderWay = Bounded<Box<str>, Asked>;

/// One line between a client and a server.
#[derive(Debug)]
pub struct Line {
    pub(super) session: Id,
    pub(super) shared: bool,
    agent: Mutex<Option<Id>>,
    asked: Arc<Mutex<UnderWay>>,
    /// What was asked on this very line; none where it lasts and nobody needs to know.
    own: Option<Mutex<Vec<Box<str>>>>,
}

impl Line {
    /// A line that lasts, for calls of `session` where they don't name their own. With `shared`, many may
    /// stand behind it.
    #[must_use]
    pub fn new(session: Id, shared: bool) -> Self {
        Self {
            session,
            shared,
            agent: Mutex::new(None),
            asked: Arc::default(),
            own: None,
        }
    }

    /// A line for one exchange.
    #[must_use]
    pub fn exchange(session: Id, shared: bool) -> Self {
        Self {
            own: Some(Mutex::default()),
            ..Self::new(session, shared)
        }
    }

    /// A line for one exchange of those who share this one.
    #[must_use]
    pub fn exchange_within(&self) -> Self {
        Self {
            session: self.session.clone(),
            shared: self.shared,
            agent: Mutex::new(self.agent()),
            asked: Arc::clone(&self.asked),
            own: Some(Mutex::default()),
        }
    }

    /// Whether an answer is waited for, on this line or those that share it.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.asked().is_empty()
    }

    /// What the client calls itself.
    #[must_use]
    pub fn agent(&self) -> Option<Id> {
        let held = self.agent.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The client said what it calls itself.
    pub fn set_agent(&self, agent: Option<Id>) {
        let held = self.agent.lock();
        *held.unwrap_or_else(PoisonError::into_inner) = agent;
    }

    pub(super) fn remember(&self, key: Box<str>, asked: Asked) {
        if let Some(mut own) = self.own() {
            own.push(key.clone());
        }
        self.asked().insert(key, asked);
    }

    pub(super) fn take(&self, key: &str) -> Option<Asked> {
        self.asked().take(key)
    }

    /// Takes all that was asked on this very line and has no answer yet.
    pub(super) fn take_own(&self) -> Vec<Asked> {
        let keys = self.own().map(|mut own| std::mem::take(&mut *own));
        let keys = keys.unwrap_or_default();
        keys.iter().filter_map(|key| self.take(key)).collect()
    }

    fn own(&self) -> Option<MutexGuard<'_, Vec<Box<str>>>> {
        let own = self.own.as_ref()?;
        Some(own.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn asked(&self) -> MutexGuard<'_, UnderWay> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
