//! How much a store remembers at most, whatever agents send.

use sprag_core::Millis;

use crate::error::StoreError;

/// How long a mark stays when there are too many: a session that was idle for as long does not come back.
pub(crate) const MARK_LIFE: Millis = Millis(30 * Millis::DAY.0);

/// The most that is kept. Past it the longest idle cells are forgotten, a tenth at a time, and the log
/// tells it. A session with a kill or block mark is not among them: marks are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Sessions without a mark. A full one takes a few kilobytes, a small one a few hundred bytes.
    pub sessions: usize,
    /// Sessions with a kill or block mark. A killed one keeps little more than its mark. At this
    /// number the marks of sessions that were idle for 30 days are forgotten; if that makes no room,
    /// new sessions are refused, and sessions that are known go on.
    pub marks: usize,
    /// Flows, pairs, inboxes, conversations, agents and tool uses together.
    pub others: usize,
    /// Records that a store in memory keeps of its log; the oldest go first.
    pub records: usize,
}

impl Capacity {
    /// What to tell if there are as many marks as there may be.
    pub(crate) fn full_of_marks(&self, marks: u64) -> Option<String> {
        let is_full = marks >= u64::try_from(self.marks).unwrap_or(u64::MAX);
        is_full.then(|| StoreError::TooManyMarks { marks: self.marks }.to_string())
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            sessions: 100_000,
            marks: 100_000,
            others: 200_000,
            records: 100_000,
        }
    }
}

/// What stays after an eviction or a prune: nine tenths.
pub(crate) const fn after_eviction(limit: usize) -> usize {
    limit - limit / 10
}
