//! How much a store remembers at most, whatever agents send.

/// The most that is kept. Past it the longest idle cells are forgotten, a tenth at a time, never a
/// session with a kill or block mark; the log tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Sessions. A full one takes a few kilobytes, a small one a few hundred bytes.
    pub sessions: usize,
    /// Flows, pairs, inboxes, conversations, agents and tool uses together.
    pub others: usize,
    /// Records that a store in memory keeps of its log; the oldest go first.
    pub records: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            sessions: 100_000,
            others: 200_000,
            records: 100_000,
        }
    }
}

/// What stays after an eviction or a prune: nine tenths.
pub(crate) const fn after_eviction(limit: usize) -> usize {
    limit - limit / 10
}
