//! Where Sprag keeps what it remembers: the cells, and the log that they are a fold of.
//!
//! A [`Store`] judges an event, remembers it and tells it in one atomic step. Each record of the log
//! carries the hash of the one before, its policy and its rules' version, so that anyone can fold the
//! log again and compare: [`verify`] does. [`MemoryStore`] forgets with its process;
//! `SharedSqlite` and `OwnedSqlite` keep everything in one file (feature `sqlite`, on by default). With the feature
//! `redis` there is `RedisStore`, which shares it between machines.

#![cfg_attr(
    not(all(feature = "sqlite", feature = "redis")),
    allow(dead_code, reason = "the stores that are left out use it")
)]

mod capacity;
mod cell_source;
mod census;
mod codec;
mod draft;
mod durability;
mod encoded_record;
mod error;
mod eviction;
mod fold_log;
mod hash;
mod in_force;
mod listing;
mod log_index;
mod memory;
#[cfg(not(feature = "sqlite"))]
mod no_wait;
mod note;
mod offline;
mod pack;
mod prune;
mod query;
mod random;
mod record;
#[cfg(feature = "redis")]
mod redis;
mod sharing;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod store_state;
mod verify;
mod view;

pub use capacity::Capacity;
pub use census::Census;
pub use draft::{ActivePolicy, Captured, Draft, read_policy};
pub use durability::Durable;
pub use error::StoreError;
pub use fold_log::{LogProblem, ReadPolicy};
pub use hash::{Hash, chain};
pub use in_force::{Pause, StandingOrders};
pub use listing::{SessionCursor, SessionQuery, SessionSort, SortValue};
pub use memory::MemoryStore;
#[cfg(not(feature = "sqlite"))]
pub use no_wait::Wait;
pub use note::{Eviction, Note, Noted, Offline, Pool, RestoredMark, Snapshot, SnapshotReason};
pub use prune::{Prune, Pruned, Retention};
pub use query::{LogQuery, LogScope, MAX_PAGE, Page, Session, SessionState, SessionSummary, Tally};
pub use record::{Record, RecordKind};
#[cfg(feature = "redis")]
pub use redis::{
    FailModeError, OfflineDecision, OnOfflineDecision, RedisCounts, RedisOptions, RedisStore,
    RuleFailMode, RuleFailModes,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{Marks, OwnedSqlite, SharedSqlite, SqliteOptions, Wait, find_loss, read_orders};
pub use store::{Decided, Store, StoreStatus};
pub use verify::{BadRecord, Verification, verify};
pub use view::{Base, Checkpoint, LogView, RawRecord, WrittenCells};
