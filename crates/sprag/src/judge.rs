//! Events in, verdicts out, with everything held in memory.
//!
//! `sprag decide` and `sprag test` need no store: they fold a stream from nothing, under one policy,
//! with a fixed digest key, so that the same events always get the same verdicts.

use sprag_core::{Timestamp, Verdict};

use crate::pending::{Event, Policy};

/// A fold from nothing over the events it is given.
#[derive(Debug)]
pub struct Judge {
    _policy: Policy,
}

/// Why an event got no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JudgeError(pub(crate) String);

impl Judge {
    /// A judge who has seen nothing yet.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { _policy: policy }
    }

    /// The verdict on `event`, which happened at `at`.
    pub fn judge(&mut self, _event: &Event, _at: Timestamp) -> Result<Verdict, JudgeError> {
        Ok(Verdict::default())
    }
}
