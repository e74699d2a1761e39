//! What makes a decision count once, also where its answer got lost.
//!
//! Every commit carries a name of its own, which stands beside its record in the log, and the number
//! of the pod's fence. A pod that lost its line raises the fence before anything else: what it sent
//! before was written by then or never will be, and its name in the log tells which.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::{Connection, cmd};

use super::commit::CommitAttempt;
use super::log_reader::{CHUNK, RedisReader};
use super::redis_pod::{RedisPod, SharedError, lock};
use crate::record::Record;

/// How long a pod that died is remembered by its fence.
const REMEMBERED_MS: u64 = 86_400_000;

/// The name of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CommitId(pub(super) [u8; 12]);

/// Something that was sent and perhaps written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SentCommit {
    pub(super) id: CommitId,
    /// It is none of the records up to this one.
    pub(super) after: u64,
}

/// One decision on its way.
#[derive(Debug)]
pub(super) struct PendingCommit {
    pub(super) sent: SentCommit,
    /// What was sent and never answered.
    pub(super) unanswered: Option<CommitAttempt>,
}

/// What goes with a commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitHeader {
    pub(super) fence: u64,
    pub(super) id: CommitId,
}

/// Who this pod is to Redis.
#[derive(Debug)]
pub(super) struct PodIdentity {
    nonce: [u8; 4],
    commits: AtomicU64,
    fence: AtomicU64,
}

impl PodIdentity {
    pub(super) fn new(nonce: [u8; 4]) -> Self {
        Self {
            nonce,
            commits: AtomicU64::new(0),
            fence: AtomicU64::new(0),
        }
    }

    /// What this pod is called among the keys.
    pub(super) fn digits(&self) -> String {
        format!("{:08x}", u32::from_be_bytes(self.nonce))
    }

    fn id(&self) -> CommitId {
        let number = self.commits.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut id = [0; 12];
        for (to, from) in id.iter_mut().zip(self.nonce.into_iter().chain(number)) {
            *to = from;
        }
        CommitId(id)
    }

    pub(super) fn fence(&self) -> u64 {
        self.fence.load(Ordering::SeqCst)
    }

    pub(super) fn raise(&self) -> u64 {
        self.fence.fetch_add(1, Ordering::SeqCst) + 1
    }
}

impl RedisPod {
    pub(super) fn pending_commit(&self) -> PendingCommit {
        PendingCommit {
            sent: self.about_to_send(),
            unanswered: None,
        }
    }

    pub(super) fn about_to_send(&self) -> SentCommit {
        SentCommit {
            id: self.identity.id(),
            after: lock(&self.head).seq,
        }
    }

    /// For a commit that nobody asks about later.
    pub(super) fn header(&self) -> CommitHeader {
        CommitHeader {
            fence: self.identity.fence(),
            id: self.identity.id(),
        }
    }

    /// The words with which `join.lua` raises the fence.
    pub(super) fn raised_fence(&self) -> (String, [u64; 2]) {
        let number = self.identity.raise();
        (self.fence.clone(), [number, REMEMBERED_MS])
    }

    /// Keeps Redis from forgetting this pod while it is there.
    pub(super) fn renew_fence(&self, connection: &mut Connection) -> Result<(), SharedError> {
        let is_known: bool = cmd("PEXPIRE")
            .arg(&self.fence)
            .arg(REMEMBERED_MS)
            .query(connection)?;
        if is_known {
            Ok(())
        } else {
            Err(SharedError::Forgotten)
        }
    }

    /// Which of these were written, and as which records.
    pub(super) fn written(
        &self,
        connection: &mut Connection,
        sent: &[SentCommit],
    ) -> Result<HashMap<CommitId, u64>, SharedError> {
        let mut found = HashMap::new();
        let Some(after) = sent.iter().map(|one| one.after).min() else {
            return Ok(found);
        };
        let mut reader = RedisReader::new(self, connection);
        let (first, last) = reader.bounds()?;
        // A log that is shorter than it was lost some records, and gives their numbers again.
        let mut from = if last < after { first } else { after + 1 };
        while from <= last && found.len() < sent.len() {
            let read = reader.range(from, last, CHUNK)?;
            let Some(end) = read.last() else {
                break;
            };
            from = end.seq.saturating_add(1);
            for row in &read {
                if let Some(one) = sent.iter().find(|one| one.id.0 == *row.id) {
                    found.insert(one.id, row.seq);
                }
            }
        }
        Ok(found)
    }

    /// The record that was sent without an answer, where it was written.
    pub(super) fn written_record(
        &self,
        connection: &mut Connection,
        sent: SentCommit,
    ) -> Result<Option<Record>, SharedError> {
        let found = self.written(connection, &[sent])?;
        let Some(seq) = found.get(&sent.id) else {
            return Ok(None);
        };
        Ok(RedisReader::new(self, connection).records(&[*seq])?.pop())
    }
}
