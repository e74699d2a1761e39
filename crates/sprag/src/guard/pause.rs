//! A pause: everything in shadow for a while, for everyone who shares the store.
//!
//! When a guard is in the way at the worst moment, people switch it off for good. A pause is better: it
//! ends by itself, the log tells it, and meanwhile every verdict says what it would have been. It
//! stands in the log as a note, so every process that shares the file sees it. Killed sessions stay
//! killed. A pause whose note was pruned away is over.

use std::sync::{Mutex, PoisonError};

use sprag_core::{Millis, Timestamp};
use sprag_store::{Noted, Record, Store, StoreError};

use super::notes::latest;
use super::{Guard, GuardError, Inner};

/// A pause that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// When it ends by itself.
    pub until: Option<Timestamp>,
    /// Who asked for it.
    pub by: Option<String>,
    /// The reason.
    pub why: Option<String>,
}

impl Pause {
    fn is_over(&self, at: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= at)
    }

    /// The pause that the log tells last, if it was not ended; it may have run out.
    ///
    /// # Errors
    /// Where the log can't be read.
    pub fn told(store: &dyn Store) -> Result<Option<Self>, StoreError> {
        let told = latest(store, |record: Record| match record.note() {
            Some(Noted::Paused { until, by, why }) => Some(Some(Self {
                until: *until,
                by: by.clone(),
                why: why.clone(),
            })),
            Some(Noted::Resumed { .. }) => Some(None),
            _ => None,
        })?;
        Ok(told.flatten())
    }
}

/// The pause as far as this process knows.
#[derive(Debug)]
pub(super) struct PauseState(Mutex<Option<Pause>>);

impl PauseState {
    pub(super) fn new(pause: Option<Pause>) -> Self {
        Self(Mutex::new(pause))
    }

    fn set(&self, pause: Option<Pause>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pause;
    }

    fn get(&self) -> Option<Pause> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Guard {
    /// Puts everything into shadow for `span`.
    ///
    /// # Errors
    /// Where the log can't tell it; nothing is paused then.
    pub fn pause(&self, span: Millis, by: &str, why: Option<&str>) -> Result<Pause, GuardError> {
        let now = self.now();
        let pause = Pause {
            until: Some(now.plus(span)),
            by: Some(by.to_owned()),
            why: why.map(str::to_owned),
        };
        let what = Noted::Paused {
            until: pause.until,
            by: pause.by.clone(),
            why: pause.why.clone(),
        };
        self.inner.note(now, what)?;
        self.inner.pause.set(Some(pause.clone()));
        Ok(pause)
    }

    /// Ends a pause. Answers the one that was in force.
    ///
    /// # Errors
    /// Where the log can't tell it.
    pub fn resume(&self, by: &str) -> Result<Option<Pause>, GuardError> {
        let now = self.now();
        let pause = self.paused()?;
        if pause.is_some() {
            let by = Some(by.to_owned());
            self.inner.note(now, Noted::Resumed { by })?;
            self.inner.pause.set(None);
        }
        Ok(pause)
    }

    /// The pause that is in force now.
    ///
    /// # Errors
    /// Where the log can't be read.
    pub fn paused(&self) -> Result<Option<Pause>, GuardError> {
        self.inner.pause_at(self.now())
    }
}

impl Inner {
    pub(super) fn is_paused(&self, at: Timestamp) -> Result<bool, GuardError> {
        Ok(self.pause_at(at)?.is_some())
    }

    /// The pause at `at`. The first to see that it ran out tells the log.
    fn pause_at(&self, at: Timestamp) -> Result<Option<Pause>, GuardError> {
        let pause = if self.store.others_write() {
            Pause::told(&*self.store)?
        } else {
            self.pause.get()
        };
        match pause {
            Some(pause) if pause.is_over(at) => {
                self.pause.set(None);
                self.note(at, Noted::Resumed { by: None })?;
                Ok(None)
            }
            other => Ok(other),
        }
    }
}
