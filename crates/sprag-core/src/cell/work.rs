//! Which steps are work: not one of the last over again, as a poll is, or the call that hands on.
//!
//! Bounded by: the last [`MAX_DID`] different steps.

use super::hash::mix;
use super::session::SessionCell;
use super::tried::Tried;
use crate::observation::Outcome;

/// How many things that a session did are kept.
const MAX_DID: usize = 8;

impl SessionCell {
    /// Counts a step if it is work. What is not known by its tool always is.
    pub(crate) fn note_work(&mut self, tried: Option<&Tried>, outcome: &Outcome) {
        let did = &mut self.held.did;
        if let Some(tried) = tried {
            let done = mix(tried.normal, outcome.normal.prefix());
            if did.contains(&done) {
                return;
            }
            if did.len() >= MAX_DID {
                did.remove(0);
            }
            did.push(done);
        }
        self.steps = self.steps.saturating_add(1);
    }
}
