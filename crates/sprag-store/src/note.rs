//! What the log tells besides events: changes of policy, pauses, and what the store did itself.
//!
//! A note that changes state (an eviction, a snapshot) carries what a replay needs to do the same,
//! so that cells always equal the fold of the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sprag_core::{CellKey, Decision, Id, Panic, RuleId, Timestamp};

use crate::draft::ActivePolicy;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::in_force::Pause;

/// A note on its way into the log.
#[derive(Debug, Clone)]
pub struct Note {
    /// When it happened.
    pub at: Timestamp,
    /// The policy in force.
    pub policy: Arc<ActivePolicy>,
    /// What happened.
    pub what: Noted,
}

/// What a note tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Noted {
    /// A guard started under the policy that this record names.
    PolicyLoaded {
        /// Where the policy came from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// The policy that this record names replaced another.
    PolicyChanged {
        /// The digest of the one before.
        from: String,
        /// Where the new one came from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// Who replaced it, where a person did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A new policy was wrong; the one that this record names stays.
    PolicyRejected {
        /// What is wrong with it.
        why: String,
        /// Where it came from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// Everything is in shadow for a while.
    Paused(Pause),
    /// A pause ended.
    Resumed {
        /// Who ended it; none when it ran out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Everything that agents do is refused from here on.
    Panicked(Panic),
    /// A panic ended.
    Calmed {
        /// Who ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A person marked a stop as wrong.
    StopMarkedWrong {
        /// The record of the stop.
        seq: u64,
        /// The session that was stopped.
        session: Id,
        /// The rule that stopped it.
        rule: RuleId,
        /// The case that keeps the records.
        case: String,
        /// Who.
        by: String,
        /// Why it was wrong.
        why: String,
    },
    /// A process took the store for itself.
    OwnerTook {
        /// Who.
        owner: String,
    },
    /// It gave the store back.
    OwnerLeft {
        /// Who.
        owner: String,
    },
    /// Records that a checkpoint knows of were lost, and whoever started the owner accepted that.
    LossAccepted {
        /// The furthest record that a checkpoint knows.
        checkpoint: u64,
        /// Its hash.
        hash: Hash,
        /// The last record that was left.
        last: u64,
    },
    /// Cells were forgotten because there were too many.
    Evicted(Eviction),
    /// The cells after a certain record were written down, so that what follows verifies without
    /// what came before.
    Snapshot(Snapshot),
    /// A kill or block that was set while the disk was full was put back.
    MarkRestored(RestoredMark),
    /// Old records were removed, up to the snapshot before this note.
    Pruned {
        /// The last record that was removed.
        through: u64,
        /// How many records were removed.
        records: u64,
    },
    /// A pod decided without the shared store.
    Offline(Offline),
    /// Records of a pod that could not be kept until the shared store was back, or that it lost.
    OfflineLost {
        /// Which pod.
        pod: String,
        /// How many at most.
        records: u64,
    },
    /// A note of a newer build.
    #[serde(other)]
    Unknown,
}

impl Noted {
    /// Whether only the store itself may write it: it says what was done to the cells or the log.
    pub(crate) const fn is_the_stores(&self) -> bool {
        matches!(
            self,
            Self::Evicted(_)
                | Self::LossAccepted { .. }
                | Self::MarkRestored(_)
                | Self::Snapshot(_)
                | Self::Pruned { .. }
                | Self::Offline(_)
                | Self::OfflineLost { .. }
                | Self::Unknown
        )
    }
}

impl Note {
    /// Refuses what only the store may say.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.what.is_the_stores() {
            return Err(StoreError::Reserved);
        }
        Ok(())
    }
}

/// Which cells compete for the same room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// Sessions without a mark.
    Sessions,
    /// Sessions with a kill or block mark.
    Marks,
    /// Everything else.
    Others,
}

/// Cells that were forgotten: all of a pool up to `last`, in order of their last event, but for `kept`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Eviction {
    /// Which cells.
    pub pool: Pool,
    /// The last event of the youngest that was forgotten.
    pub touched: Timestamp,
    /// That one's key; among equally old ones the order of keys decides.
    pub last: CellKey,
    /// How many were forgotten.
    pub cells: u64,
    /// Cells that are as old and stayed: the event that needed the room had just been judged on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<CellKey>,
}

/// A kill or block that was not in the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestoredMark {
    /// The session.
    pub session: Id,
    /// Its generation then.
    pub generation: u32,
    /// A kill; else a block.
    pub is_kill: bool,
    /// When it was set.
    pub at: Timestamp,
    /// The rule that set it; none for an operator's kill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// What happened.
    pub why: String,
    /// The operator, for a kill by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Why cells were written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotReason {
    /// Older records are about to go.
    Prune,
    /// From here on records are judged under other rules.
    RulesVersion,
}

/// The cells as they were after record `after`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Why.
    pub reason: SnapshotReason,
    /// The record that the cells stand after.
    pub after: u64,
    /// That record's hash.
    pub hash: Hash,
    /// The digest of the cells.
    pub cells: Hash,
    /// How many cells.
    pub count: u64,
}

/// A decision that a pod made while the shared store could not be reached. It did not change the
/// shared cells; the record is as the pod kept it, in a chain of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Offline {
    /// Which pod.
    pub pod: String,
    /// The number of its own record: 1, 2, 3…
    pub number: u64,
    /// The hash of its own record.
    pub hash: Hash,
    /// The session.
    pub session: Id,
    /// What was answered.
    pub verdict: Decision,
    /// The rule that spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Why the shared store was not asked.
    pub why: String,
    /// The bytes of its own record, as hexadecimal digits.
    pub record: String,
    /// The record of the shared log that tells of the same event: the shared store wrote it after all, and its
    /// answer came too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<u64>,
}
