//! How a pod decides: with Redis in as few round trips as possible, or offline.
//!
//! An event is decided once. If a reply is lost, the same attempt is sent again, or its commit id is
//! searched for in the log. Only when the deadline is over, the event is decided offline. The
//! offline record then carries the commit id, so that a late write of the same event is recognised.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use redis::{Connection, RedisError, RedisResult, cmd};
use sprag_core::{CellKey, Observed, Timestamp};

use super::cell_cache::LostKill;
use super::commit::{CommitAttempt, CommitOutcome};
use super::commit_id::{CommitHeader, PendingCommit, SentCommit};
use super::fail_modes::agent_and_session;
use super::monotonic;
use super::redis_counts::count;
use super::redis_pod::{FORGOTTEN, RedisPod, STALE_CONNECTION, SharedError, lock};
use super::reply::why;
use crate::cell_source::named;
use crate::draft::{ActivePolicy, Draft};
use crate::durability::Durability;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::record::Record;
use crate::store_state::is_an_agents;

/// After this many attempts that met changed cells, the event is decided offline.
const MAX_TRIES: usize = 64;

/// After this many connections broke under one decision, the event is decided offline.
const MAX_BROKEN: usize = 3;

/// What the answer to a kill says while Redis is down.
const HOLDS_HERE: &str = "the kill holds on this server; the others are told when Redis is back";

impl RedisPod {
    /// Decides with Redis, or offline if Redis does not answer in time.
    pub(super) fn decide(&self, draft: Draft) -> Result<Record, StoreError> {
        let until = monotonic::now() + self.options.deadline;
        let mut pending = self.pending_commit();
        let reason = match self.decide_shared(&draft, until, &mut pending) {
            Ok(record) => return Ok(record),
            Err(SharedError::Store(error)) => return Err(error),
            Err(SharedError::Redis(error)) => self.reason(&error),
            Err(SharedError::Timeout) => self.pool.down_reason().unwrap_or_else(|| self.slow()),
            Err(SharedError::Contended) => {
                format!("other pods changed the same cells first, {MAX_TRIES} times")
            }
            Err(SharedError::Forgotten) => FORGOTTEN.to_owned(),
            Err(SharedError::StaleConnection) => STALE_CONNECTION.to_owned(),
        };
        // Redis may still write what got no reply. The offline record names it, so that both count as
        // one event.
        let sent = pending.unanswered.map(|_| pending.sent);
        self.decide_offline(draft, &reason, sent)
    }

    /// Why a decision got no reply.
    pub(super) fn reason(&self, error: &RedisError) -> String {
        if error.is_timeout() {
            self.slow()
        } else {
            why(error)
        }
    }

    fn slow(&self) -> String {
        format!("no answer within {} ms", self.options.deadline.as_millis())
    }

    /// Decides on connections of the pool until one gives a reply.
    fn decide_shared(
        &self,
        draft: &Draft,
        until: Instant,
        pending: &mut PendingCommit,
    ) -> Result<Record, SharedError> {
        let (_, session) = agent_and_session(&draft.observation.what);
        // Events of one session take turns within this pod: they would only make each other's
        // versions stale.
        let turns = u64::try_from(self.turns.len()).unwrap_or(1);
        let turn = CellKey::Session(session.clone()).index() % turns;
        let turn = usize::try_from(turn).ok().and_then(|at| self.turns.get(at));
        let _turn = turn.map(lock);
        if let Some(record) = self.decide_together(draft, until, pending)? {
            return Ok(record);
        }
        let mut broken = 0;
        loop {
            // The fence is read before the connection is taken, so no commit carries a fence that is newer
            // than its connection. What lies in the socket of a connection from before an outage is
            // refused, however late Redis reads it.
            let fence = self.identity.fence();
            let Some(mut pooled) = self.pool.acquire(until) else {
                return Err(SharedError::Timeout);
            };
            let decided = self.decide_on(&mut pooled.connection, draft, until, fence, pending);
            match decided {
                Err(SharedError::Redis(error)) => {
                    broken += 1;
                    let is_over = broken >= MAX_BROKEN || !error.is_connection_dropped();
                    self.discard(pooled, &error);
                    if is_over {
                        return Err(SharedError::Redis(error));
                    }
                }
                // The fence was raised meanwhile: try again on a connection that is as new.
                Err(SharedError::StaleConnection) => self.pool.release(pooled),
                other => {
                    self.pool.release(pooled);
                    return other;
                }
            }
        }
    }

    /// Decides over one connection.
    ///
    /// An attempt that got no reply is sent again unchanged. Either it is written now, or it was written
    /// before and is found in the log. It can't be both: once it is written, its versions are stale.
    pub(super) fn decide_on(
        &self,
        connection: &mut Connection,
        draft: &Draft,
        until: Instant,
        fence: u64,
        pending: &mut PendingCommit,
    ) -> Result<Record, SharedError> {
        self.admit(connection, draft, until)?;
        self.save_policy(connection, &draft.policy, until)?;
        self.restore_kills(connection, draft, until)?;
        for _ in 0..MAX_TRIES {
            let again = pending.unanswered.take();
            let may_be_written = again.is_some();
            let id = pending.sent.id;
            let attempt = match again {
                Some(attempt) => attempt,
                None => CommitAttempt::prepare(self, draft.clone(), CommitHeader { fence, id })?,
            };
            let outcome = match self.run_commit(connection, &attempt.input, until) {
                Ok(reply) => reply.outcome,
                Err(error) => {
                    pending.unanswered = Some(attempt);
                    return Err(error);
                }
            };
            let is_fenced = matches!(outcome, CommitOutcome::Fenced);
            match outcome {
                CommitOutcome::Done { seq, prev, hash } => {
                    let head = ChainHead { seq, hash };
                    return Ok(self.finish_commit(connection, attempt, head, prev));
                }
                // Another pod was faster, or this very attempt was written before.
                CommitOutcome::Stale(fresh) => {
                    count(&self.counts.conflicts);
                    attempt.refresh(&self.cache, &fresh)?;
                }
                // The fence is the latest, and Redis does not have it: it lost data. Rejoin first.
                CommitOutcome::Fenced if attempt.fence == self.identity.fence() => {
                    pending.unanswered = Some(attempt).filter(|_| may_be_written);
                    return Err(SharedError::Forgotten);
                }
                // This pod rejoined since the attempt was prepared.
                CommitOutcome::Fenced => {}
                CommitOutcome::Rules(found) => return Err(self.other_rules(found).into()),
            }
            // Before the event is judged again, make sure that it was not written: else it would count
            // twice.
            if may_be_written
                && let Some(record) = self.written_before(connection, pending, attempt)?
            {
                return Ok(record);
            }
            if is_fenced {
                return Err(SharedError::StaleConnection);
            }
            self.restore_kills(connection, draft, until)?;
        }
        Err(SharedError::Contended)
    }

    /// The record of a commit that Redis just wrote. The cache has the new cells before anyone else is
    /// answered.
    fn finish_commit(
        &self,
        connection: &mut Connection,
        attempt: CommitAttempt,
        head: ChainHead,
        prev: Hash,
    ) -> Record {
        let durability = attempt.durability;
        let record = self.finish_alone(attempt, head, prev);
        self.replicate(connection, durability);
        record
    }

    /// The same without waiting for replicas.
    pub(super) fn finish_alone(
        &self,
        attempt: CommitAttempt,
        head: ChainHead,
        prev: Hash,
    ) -> Record {
        let ChainHead { seq, hash } = head;
        self.count_decision(head);
        attempt.done(&self.cache, seq, prev, hash)
    }

    /// Refuses an event that would open a session while there are as many marks as there may be.
    fn admit(
        &self,
        connection: &mut Connection,
        draft: &Draft,
        until: Instant,
    ) -> Result<(), SharedError> {
        let is_full = self.is_full_of_marks.load(Ordering::Relaxed);
        if !is_full || !is_an_agents(&draft.observation.what) {
            return Ok(());
        }
        let (sessions, _) = named(&draft.observation);
        for id in sessions.into_iter().flatten() {
            if self.cache.knows(id) {
                continue;
            }
            let left = until.checked_duration_since(monotonic::now());
            let left = left.filter(|left| !left.is_zero());
            connection.set_read_timeout(Some(left.ok_or(SharedError::Timeout)?))?;
            let key = self.keys.cell(&CellKey::Session(id.clone()));
            let is_known: bool = cmd("EXISTS").arg(key).query(connection)?;
            if !is_known {
                let marks = self.options.capacity.marks;
                return Err(StoreError::TooManyMarks { marks }.into());
            }
        }
        Ok(())
    }

    /// The record of an attempt that got no reply; none if it was not written. If the log can't be read,
    /// the attempt stays pending.
    fn written_before(
        &self,
        connection: &mut Connection,
        pending: &mut PendingCommit,
        attempt: CommitAttempt,
    ) -> Result<Option<Record>, SharedError> {
        let found = self.written_record(connection, pending.sent);
        if found.is_err() {
            pending.unanswered = Some(attempt);
        }
        let found = found?;
        if let Some(record) = &found {
            self.count_decision(record.head());
        }
        Ok(found)
    }

    fn count_decision(&self, at: ChainHead) {
        count(&self.counts.decisions);
        let mut head = lock(&self.head);
        if at.seq > head.seq {
            *head = at;
        }
    }

    /// Restores the kills that Redis lost, before anything else is judged on its cells.
    fn restore_kills(
        &self,
        connection: &mut Connection,
        like: &Draft,
        until: Instant,
    ) -> Result<(), SharedError> {
        // Restoring is a kill itself: without this, two lost kills would restore each other for ever.
        if matches!(like.observation.what, Observed::Kill(_)) {
            return Ok(());
        }
        for lost in self.cache.lost_kills() {
            self.restore_kill(connection, &lost, &like.policy, like.observation.at, until)?;
        }
        Ok(())
    }

    /// Kills a session whose kill Redis lost.
    pub(super) fn restore_kill(
        &self,
        connection: &mut Connection,
        lost: &LostKill,
        policy: &Arc<ActivePolicy>,
        at: Timestamp,
        until: Instant,
    ) -> Result<(), SharedError> {
        let draft = lost.draft(at, policy);
        let fence = self.identity.fence();
        self.decide_on(connection, &draft, until, fence, &mut self.pending_commit())?;
        count(&self.counts.kills_restored);
        Ok(())
    }

    /// Waits until enough replicas have a kill, block or reset. Too few are counted, not an error: the
    /// commit is written.
    fn replicate(&self, connection: &mut Connection, durability: Durability) {
        if durability != Durability::Durable || self.options.replicas == 0 {
            return;
        }
        let wait = self.options.deadline;
        let answered: RedisResult<u32> = (|| {
            connection.set_read_timeout(Some(wait * 2))?;
            cmd("WAIT")
                .arg(self.options.replicas)
                .arg(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
                .query(connection)
        })();
        if answered.unwrap_or(0) < self.options.replicas {
            count(&self.counts.unreplicated);
        }
    }

    /// Decides on cached cells, reports it, and queues the record for Redis.
    fn decide_offline(
        &self,
        draft: Draft,
        why: &str,
        sent: Option<SentCommit>,
    ) -> Result<Record, StoreError> {
        if matches!(draft.observation.what, Observed::Reset(_)) {
            // A reset must hold everywhere at once. Nobody could promise that now.
            return Err(self.unavailable(format!("{why}; nothing was reset")));
        }
        if matches!(
            draft.observation.what,
            Observed::Approve(_) | Observed::Decline(_)
        ) {
            // Two people could answer one question differently.
            return Err(self.unavailable(format!("{why}; nothing was answered")));
        }
        let pod = &self.options.pod;
        let is_kill = matches!(draft.observation.what, Observed::Kill(_));
        let observed = draft.observation.clone();
        let mut offline = lock(&self.offline);
        // The reconnector restores the pool under the same lock, after it has published everything. So no
        // record can be queued while the pool is up.
        if self.pool.trip_if_up(why) {
            count(&self.counts.outages);
        }
        let (record, decision) =
            offline.decide(&self.cache, &self.options.fail, pod, draft, (why, sent))?;
        drop(offline);
        count(&self.counts.offline);
        if let Some(report) = &self.options.on_offline {
            report(&decision);
        }
        let head = *lock(&self.head);
        let mut record = Record {
            seq: head.seq,
            ..record
        };
        // What stops a session holds here. The answer says that the others don't know yet.
        if Durability::of(&observed, &record.verdict) == Durability::Durable {
            record.verdict.durable = Some(false);
            if is_kill {
                record.verdict.message = Some(HOLDS_HERE.to_owned());
            }
        }
        Ok(record)
    }
}
