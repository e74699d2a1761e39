//! What a pod counts about its work with Redis.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of a pod since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RedisCounts {
    /// Decisions that were made with Redis.
    pub decisions: u64,
    /// Round trips that they took.
    pub round_trips: u64,
    /// Attempts that met a cell which another pod had changed.
    pub conflicts: u64,
    /// Decisions made without Redis.
    pub offline: u64,
    /// How often the connection pool went down.
    pub outages: u64,
    /// Kills that Redis had lost and that were restored.
    pub kills_restored: u64,
    /// Kills, blocks and resets that reached fewer replicas than required.
    pub unreplicated: u64,
}

/// The counters behind [`RedisCounts`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) decisions: AtomicU64,
    pub(super) round_trips: AtomicU64,
    pub(super) conflicts: AtomicU64,
    pub(super) offline: AtomicU64,
    pub(super) outages: AtomicU64,
    pub(super) kills_restored: AtomicU64,
    pub(super) unreplicated: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(super) fn read(&self) -> RedisCounts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RedisCounts {
            decisions: get(&self.decisions),
            round_trips: get(&self.round_trips),
            conflicts: get(&self.conflicts),
            offline: get(&self.offline),
            outages: get(&self.outages),
            kills_restored: get(&self.kills_restored),
            unreplicated: get(&self.unreplicated),
        }
    }
}
