//! Commits of many callers in one round trip.
//!
//! Each caller prepares its own commit and puts it into a queue. Whoever finds no leader becomes one: it takes
//! a connection, sends all that waits, and gives each caller its own reply. What arrives meanwhile waits for the
//! next leader. So one caller alone pays for nothing, and many at once share their system calls, here and in Redis.
//!
//! What may go wrong is left to the slow way in `decide.rs`. A commit that was sent and has no good reply is
//! returned as [`Queued::Lost`]: whether it was written is found out there.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use redis::{ConnectionLike, Value};

use super::monotonic;
use super::redis_counts::count;
use super::redis_pod::{RedisPod, lock};
use super::script::ScriptInput;

/// Leaders at a time: while Redis works for one, the other can write.
const LEADERS: usize = 2;

/// The most commits in one round trip, and about how many bytes they have.
const MOST_COMMITS: usize = 64;
const MOST_BYTES: usize = 256 * 1024;

/// What became of a commit in the queue.
#[derive(Debug)]
pub(super) enum Queued {
    /// Redis replied to what was sent at this moment.
    Replied(Instant, Value),
    /// It was sent, and there is no reply.
    Lost,
    /// It was not sent.
    NotSent,
}

/// The commits that wait for a leader.
#[derive(Debug, Default)]
pub(super) struct CommitQueue {
    state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<QueuedCommit>,
    leaders: usize,
}

/// A commit as it is sent.
#[derive(Debug)]
struct QueuedCommit {
    command: Vec<u8>,
    /// The fence that it was prepared under.
    fence: u64,
    until: Instant,
    slot: Arc<ReplySlot>,
}

/// Where a caller waits.
#[derive(Debug, Default)]
struct ReplySlot {
    state: Mutex<SlotState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SlotState {
    outcome: Option<Queued>,
    leads: bool,
}

impl ReplySlot {
    fn finish(&self, outcome: Queued) {
        lock(&self.state).outcome = Some(outcome);
        self.changed.notify_one();
    }

    fn promote(&self) {
        lock(&self.state).leads = true;
        self.changed.notify_one();
    }

    fn take(&self) -> Option<Queued> {
        lock(&self.state).outcome.take()
    }

    /// Waits for an outcome, or to become the leader; until the time is over. Returns whether to lead.
    fn wait(&self, until: Instant) -> bool {
        let mut state = lock(&self.state);
        while state.outcome.is_none() && !state.leads {
            let left = until.saturating_duration_since(monotonic::now());
            if left.is_zero() {
                return false;
            }
            let (next, _) = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
        }
        std::mem::take(&mut state.leads)
    }
}

impl CommitQueue {
    /// Commits `input`, which was prepared under `fence`, together with what others commit at the same time.
    pub(super) fn commit(
        &self,
        pod: &RedisPod,
        input: &ScriptInput,
        fence: u64,
        until: Instant,
    ) -> Queued {
        let slot = Arc::new(ReplySlot::default());
        let mut leads = self.enter(QueuedCommit {
            command: pod.commit.command(input).get_packed_command(),
            fence,
            until,
            slot: Arc::clone(&slot),
        });
        loop {
            if leads {
                self.lead(pod, until);
            }
            let is_over = || until <= monotonic::now() || !pod.pool.is_up();
            let left = || is_over().then(|| self.leave(&slot));
            let outcome = slot.take().or_else(left);
            if let Some(outcome) = outcome {
                // Whoever was promoted has to lead or to pass it on, else the others would wait in vain.
                if leads || lock(&slot.state).leads {
                    self.pass_on();
                }
                return outcome;
            }
            leads = leads || slot.wait(until);
        }
    }

    /// Queues a commit; returns whether its caller leads.
    fn enter(&self, commit: QueuedCommit) -> bool {
        let mut state = lock(&self.state);
        state.waiting.push_back(commit);
        let leads = state.leaders < LEADERS;
        state.leaders += usize::from(leads);
        leads
    }

    /// Takes back what was not sent yet.
    fn leave(&self, slot: &Arc<ReplySlot>) -> Queued {
        let mut state = lock(&self.state);
        let own = |commit: &QueuedCommit| Arc::ptr_eq(&commit.slot, slot);
        let at = state.waiting.iter().position(own);
        match at.and_then(|at| state.waiting.remove(at)) {
            Some(_) => Queued::NotSent,
            // A leader has it: what it gets comes too late.
            None => slot.take().unwrap_or(Queued::Lost),
        }
    }

    /// Makes the first that waits a leader.
    fn pass_on(&self) {
        let mut state = lock(&self.state);
        match state.waiting.front() {
            Some(next) => next.slot.promote(),
            None => state.leaders -= 1,
        }
    }

    /// Sends what waits in one round trip.
    fn lead(&self, pod: &RedisPod, until: Instant) {
        // Read before the connection is taken: no commit carries a fence that is newer than its connection.
        let fence = pod.identity.fence();
        let Some(mut pooled) = pod.pool.acquire(until) else {
            return;
        };
        let batch = self.take_batch(fence);
        let Some(latest) = batch.iter().map(|commit| commit.until).max() else {
            return pod.pool.release(pooled);
        };
        let mut commands =
            Vec::with_capacity(batch.iter().map(|commit| commit.command.len()).sum());
        for commit in &batch {
            commands.extend_from_slice(&commit.command);
        }
        let sent = monotonic::now();
        let left = latest.saturating_duration_since(sent);
        let connection = &mut pooled.connection;
        let replies = connection
            .set_read_timeout(Some(left))
            .and_then(|()| connection.set_write_timeout(Some(left)))
            .and_then(|()| connection.req_packed_commands(&commands, 0, batch.len()));
        count(&pod.counts.round_trips);
        match replies {
            Ok(replies) => {
                pod.pool.release(pooled);
                let mut replies = replies.into_iter();
                for commit in batch {
                    commit.slot.finish(match replies.next() {
                        None | Some(Value::ServerError(_)) => Queued::Lost,
                        Some(reply) => Queued::Replied(sent, reply),
                    });
                }
            }
            Err(error) => {
                pod.discard_because(pooled, &error, &pod.reason(&error));
                for commit in batch {
                    commit.slot.finish(Queued::Lost);
                }
            }
        }
    }

    /// What is sent over a connection that was taken after the fence was `fence`.
    fn take_batch(&self, fence: u64) -> Vec<QueuedCommit> {
        let mut state = lock(&self.state);
        let mut bytes = 0;
        let fits = |commit: &&QueuedCommit| {
            let first = bytes == 0;
            bytes += commit.command.len();
            commit.fence <= fence && (first || bytes <= MOST_BYTES)
        };
        let many = state.waiting.iter().take(MOST_COMMITS).take_while(fits);
        let many = many.count();
        state.waiting.drain(..many).collect()
    }
}
