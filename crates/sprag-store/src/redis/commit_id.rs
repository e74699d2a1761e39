//! Commit ids and fences: what makes a decision count once, even if its reply got lost.
//!
//! Every commit carries an id, which is stored beside its record in the log, and the number of the pod's
//! fence. A pod that reconnects raises its fence first. After that, a commit that was sent earlier is
//! either in the log already or will never be written, and its id in the log shows which.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::{Connection, cmd};

use super::commit::CommitAttempt;
use super::log_reader::{CHUNK, RedisReader};
use super::redis_pod::{RedisPod, SharedError, lock};
use crate::record::Record;

/// How long Redis keeps the fence of a pod that died.
const REMEMBERED_MS: u64 = 86_400_000;

/// The id of one commit: random bytes of the pod, then a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CommitId(pub(super) [u8; 12]);

/// A commit that was sent and may have been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SentCommit {
    pub(super) id: CommitId,
    /// The last record before it was sent: the log is searched from there on.
    pub(super) after: u64,
}

/// The commit of one decision, until its outcome is known. All attempts share one id: at most one of them
/// is written.
#[derive(Debug)]
pub(super) struct PendingCommit {
    pub(super) sent: SentCommit,
    /// The attempt that was sent and got no reply.
    pub(super) unanswered: Option<CommitAttempt>,
}

/// What identifies a commit to the script.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitHeader {
    pub(super) fence: u64,
    pub(super) id: CommitId,
}

/// How Redis tells this pod from others.
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

    /// The name of this pod in keys.
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

    /// A header for a commit whose fate nobody will look up.
    pub(super) fn header(&self) -> CommitHeader {
        CommitHeader {
            fence: self.identity.fence(),
            id: self.identity.id(),
        }
    }

    /// The key and arguments with which `join.lua` raises the fence.
    pub(super) fn raised_fence(&self) -> (String, [u64; 2]) {
        // Raised locally first: a commit prepared under the old fence is refused by the script even if
        // it is sent before the new fence reaches Redis.
        let number = self.identity.raise();
        (self.fence.clone(), [number, REMEMBERED_MS])
    }

    /// Renews the time to live of the fence. Returns an error if Redis has lost it: the pod must join again.
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

    /// Searches the log for commits. Returns the record numbers of those that were written.
    ///
    /// This is final only after the fence was raised, or for a commit that the same connection sent.
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
        // A log that is shorter than before lost records and gives their numbers again, so `after`
        // means nothing.
        let mut from = if last < after { first } else { after + 1 };
        while from <= last && found.len() < sent.len() {
            let read = reader.range(from, last, CHUNK)?;
            let Some(end) = read.last() else {
                break;
            };
            from = end.seq.saturating_add(1);
            for row in &read {
                if let Some(one) = sent.iter().find(|one| one.id.0 == *row.commit) {
                    found.insert(one.id, row.seq);
                }
            }
        }
        Ok(found)
    }

    /// The record of a commit that got no reply; none if it was not written.
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
