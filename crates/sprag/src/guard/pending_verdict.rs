//! Asking without waiting for the disk: for servers that answer many at once on a few threads.

use std::sync::Arc;

use sprag_core::{Event, Sender, Verdict};
use sprag_store::{Record, Wait};

use super::{Guard, GuardError, may_tell};

/// A verdict that may have to wait until it is on disk before it is told.
#[derive(Debug)]
pub struct PendingVerdict {
    /// The record with the verdict.
    pub record: Arc<Record>,
    /// What to wait for before it is told: a kill, block or reset must not be lost once it was.
    pub wait: Option<Wait>,
}

impl PendingVerdict {
    /// The verdict. It may be told once there is nothing to wait for.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.record.verdict
    }
}

impl Guard {
    /// Like [`Guard::check_from`], but never waits for the disk: where the answer has to, it says so. It
    /// does not prune the log either, which takes its time; [`Guard::prune_if_due`] does.
    ///
    /// # Errors
    /// Returns an error if the event is wrong, is not for this sender to tell, or could not be stored.
    pub fn check_soon(
        &self,
        sender: &Sender,
        event: impl Into<Event>,
    ) -> Result<PendingVerdict, GuardError> {
        let event = event.into();
        may_tell(sender.role, &event)?;
        let now = self.inner.clock.now();
        let (record, wait) =
            self.inner
                .decide_soon((sender.role, self.shadow), &event, Some(sender), now)?;
        self.inner.tell(&record);
        Ok(PendingVerdict { record, wait })
    }

    /// Prunes the log where record `seq` is one of those after which it is time to look.
    pub fn prune_if_due(&self, seq: u64) {
        self.keep_in_bounds(seq);
    }
}
