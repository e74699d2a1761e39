//! A pause: everything in shadow for a while, for everyone who shares the store.
//!
//! When a guard is in the way at the worst moment, people switch it off for good. A pause is better: it
//! ends by itself, the log records it, and meanwhile every verdict says what it would have been. The
//! store keeps the pause, so every process that shares the store sees it. Killed sessions stay
//! killed, and a panic goes on.

use sprag_core::{Millis, Timestamp};
use sprag_store::{Noted, Pause, StandingOrders};

use super::{Guard, GuardError, GuardState};

impl Guard {
    /// Puts everything into shadow for `span`.
    ///
    /// # Errors
    /// Returns an error if the pause can't be written to the log; nothing is paused then.
    pub fn pause(&self, span: Millis, by: &str, why: Option<&str>) -> Result<Pause, GuardError> {
        let now = self.now();
        let pause = Pause {
            until: Some(now.plus(span)),
            by: Some(by.to_owned()),
            why: why.map(str::to_owned),
        };
        self.inner.note(now, Noted::Paused(pause.clone()))?;
        Ok(pause)
    }

    /// Ends a pause. Returns the one that was in force.
    ///
    /// # Errors
    /// Returns an error if the end can't be written to the log; the pause goes on then.
    pub fn resume(&self, by: &str) -> Result<Option<Pause>, GuardError> {
        let pause = self.paused()?;
        if pause.is_some() {
            let by = Some(by.to_owned());
            self.inner.note(self.now(), Noted::Resumed { by })?;
        }
        Ok(pause)
    }

    /// The pause that is in force now.
    ///
    /// # Errors
    /// Returns an error if the store can't be read, or can't record that the pause ran out.
    pub fn paused(&self) -> Result<Option<Pause>, GuardError> {
        Ok(self.inner.orders_at(self.now())?.pause)
    }
}

impl GuardState {
    /// The standing orders at `at`. The first to see that a pause ran out writes that to the log.
    pub(super) fn orders_at(&self, at: Timestamp) -> Result<StandingOrders, GuardError> {
        let mut orders = self.store.orders()?;
        if orders.pause.as_ref().is_some_and(|pause| pause.is_over(at)) {
            self.note(at, Noted::Resumed { by: None })?;
            orders.pause = None;
        }
        Ok(orders)
    }
}
