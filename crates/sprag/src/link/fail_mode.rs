//! What an adapter does when there is no verdict.

use sprag_core::words;

words! {
    "fail mode",
    /// What an adapter does with a call when the guard can't be reached.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum FailMode {
        /// Let it happen, unless the session is known to be stopped: a broken guard must not stop work.
        #[default]
        Open = "open",
        /// Refuse it.
        Closed = "closed",
    }
}
