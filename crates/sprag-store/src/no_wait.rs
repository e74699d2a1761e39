//! Waiting for a disk, in a build whose stores have none.

use crate::durability::Durable;
use crate::error::StoreError;

/// An answer that may not be given yet: there is none without the feature `sqlite`.
#[derive(Debug)]
pub enum Wait {}

impl Wait {
    /// Waits here.
    ///
    /// # Errors
    /// Returns an error if the store was closed.
    pub fn block(self) -> Result<Durable, StoreError> {
        match self {}
    }

    /// Calls `then` when it is over.
    pub fn then(self, _then: impl FnOnce(Result<Durable, StoreError>) + Send + 'static) {
        match self {}
    }
}
