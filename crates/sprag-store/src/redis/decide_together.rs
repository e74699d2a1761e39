//! The short way to decide: one round trip that is shared with other callers.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::commit::{CommitAttempt, CommitOutcome, CommitReply};
use super::commit_id::{CommitHeader, PendingCommit};
use super::commit_queue::Queued;
use super::redis_counts::count;
use super::redis_pod::{RedisPod, SharedError, lock};
use crate::draft::Draft;
use crate::encoded_record::ChainHead;
use crate::record::Record;

impl RedisPod {
    /// Decides in one round trip with other callers. Returns none if it takes more than that: `pending` then holds
    /// what was sent and got no reply.
    pub(super) fn decide_together(
        &self,
        draft: &Draft,
        until: Instant,
        pending: &mut PendingCommit,
    ) -> Result<Option<Record>, SharedError> {
        let is_plain = self.options.replicas == 0
            && !self.is_full_of_marks.load(Ordering::Relaxed)
            && lock(&self.saved_policies).contains(&draft.policy.digest);
        if !is_plain {
            return Ok(None);
        }
        let (fence, id) = (self.identity.fence(), pending.sent.id);
        let attempt = CommitAttempt::prepare(self, draft.clone(), CommitHeader { fence, id })?;
        let queued = self.queue.commit(self, &attempt.input, fence, until);
        let reply = match queued {
            Queued::Replied(sent, value) => CommitReply::read(&value).ok().inspect(|reply| {
                self.observe(sent, reply);
            }),
            Queued::Lost => None,
            Queued::NotSent => return Ok(None),
        };
        match reply.map(|reply| reply.outcome) {
            Some(CommitOutcome::Done { seq, prev, hash }) => {
                let head = ChainHead { seq, hash };
                Ok(Some(self.finish_alone(attempt, head, prev)))
            }
            Some(CommitOutcome::Rules(found)) => Err(self.other_rules(found).into()),
            // Nothing was written.
            Some(CommitOutcome::Stale(fresh)) => {
                count(&self.counts.conflicts);
                attempt.refresh(&self.cache, &fresh)?;
                Ok(None)
            }
            Some(CommitOutcome::Fenced) => Ok(None),
            None => {
                pending.unanswered = Some(attempt);
                Ok(None)
            }
        }
    }
}
