//! One SQLite file that holds everything: cells, sessions, policies, the log and the digest secret.
//!
//! There are two ways to work on it. [`SharedSqlite`]: any number of processes, one transaction an
//! event, everything durable when it returns; for hooks and commands. [`OwnedSqlite`]: one process
//! holds the file, keeps the cells in memory and writes in groups; for a server. While the file is
//! owned the others may only read. A write-ahead log keeps readers and the writer apart.

mod archive;
mod cell_rows;
mod checkpoints;
mod connection;
mod failure;
mod loading;
mod lock;
mod log_rows;
mod loss;
mod marks;
mod owner;
mod pruning;
mod reading;
mod reserve;
mod schema;
mod session_rows;
mod shared;
mod snapshot_rows;
mod taking;
mod unwritten;
mod wait;
mod writer;

use std::time::Duration;

pub use loss::find_loss;
pub use marks::{Marks, read_orders};
pub use owner::OwnedSqlite;
pub use shared::SharedSqlite;
use sprag_core::Timestamp;
pub use wait::Wait;

use crate::capacity::Capacity;

/// How a SQLite store works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How many cells it keeps.
    pub capacity: Capacity,
    /// How long to wait for other processes before [`StoreError::Busy`](crate::StoreError::Busy).
    pub wait: Duration,
    /// The most that the file may take; past it the store is full. None: what the disk has.
    pub max_bytes: Option<u64>,
    /// How many records may wait for a disk that can't be written. Past it verdicts are still given and stops enforced,
    /// but nothing is counted until the disk is back.
    pub max_unwritten: usize,
    /// The time that the store's own notes carry: it reads no clock.
    pub at: Timestamp,
    /// Whether an owner takes a file whose log was cut or replaced, and says so in the log.
    pub accept_loss: bool,
    /// Who an owner is, for the log.
    pub owner: String,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            capacity: Capacity::default(),
            wait: Duration::from_secs(15),
            max_bytes: None,
            max_unwritten: 1 << 16,
            at: Timestamp::default(),
            accept_loss: false,
            owner: format!("process {}", std::process::id()),
        }
    }
}
