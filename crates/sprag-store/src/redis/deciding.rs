//! How a pod decides: with Redis in as few round trips as it takes, or alone.

use std::sync::Arc;
use std::time::Instant;

use redis::{Connection, RedisResult, cmd};
use sprag_core::{Observed, Timestamp};

use super::attempt::{Answer, Attempt};
use super::counts::count;
use super::fail::who;
use super::mono;
use super::pod::{Pod, Trouble, lock};
use super::reading::applied;
use super::shelf::LostKill;
use crate::cell_key::CellKey;
use crate::draft::{ActivePolicy, Draft};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::judge::Head;
use crate::promise::Promise;
use crate::record::Record;

/// A decision that met this many changed cells in a row is made alone.
const MAX_TRIES: usize = 64;

/// Connections that may break under one decision before it is made alone.
const MAX_BROKEN: usize = 3;

impl Pod {
    /// Decides with Redis, or without it where it can't be asked in time.
    pub(super) fn decide(&self, draft: Draft) -> Result<Record, StoreError> {
        let until = mono::now() + self.options.deadline;
        let why = match self.decide_shared(&draft, until) {
            Ok(record) => return Ok(record),
            Err(Trouble::Store(error)) => return Err(error),
            Err(Trouble::Redis(error)) => error.to_string(),
            Err(Trouble::Slow) => {
                let trouble = self.line.trouble();
                let slow = || format!("no answer within {} ms", self.options.deadline.as_millis());
                trouble.unwrap_or_else(slow)
            }
            Err(Trouble::Contended) => format!("others were faster {MAX_TRIES} times"),
        };
        self.decide_alone(draft, &why)
    }

    fn decide_shared(&self, draft: &Draft, until: Instant) -> Result<Record, Trouble> {
        let (_, session) = who(&draft.observation.what);
        let turns = u64::try_from(self.turns.len()).unwrap_or(1);
        let turn = CellKey::Session(session.clone()).index() % turns;
        let turn = usize::try_from(turn).ok().and_then(|at| self.turns.get(at));
        let _turn = turn.map(lock);
        let mut sent = None;
        for broken in 1.. {
            let Some(mut lent) = self.line.take(until) else {
                return Err(Trouble::Slow);
            };
            let decided = self.decide_on(&mut lent.connection, draft, until, &mut sent);
            match decided {
                Err(Trouble::Redis(error)) => {
                    let is_over = broken >= MAX_BROKEN || !error.is_connection_dropped();
                    self.broken(lent, &error);
                    if is_over {
                        return Err(Trouble::Redis(error));
                    }
                }
                other => {
                    self.line.give_back(lent);
                    return other;
                }
            }
        }
        Err(Trouble::Slow)
    }

    /// Decides over one connection. `sent` holds what was sent without an answer.
    pub(super) fn decide_on(
        &self,
        connection: &mut Connection,
        draft: &Draft,
        until: Instant,
        sent: &mut Option<Vec<u8>>,
    ) -> Result<Record, Trouble> {
        self.learn(connection, &draft.policy, until)?;
        for _ in 0..MAX_TRIES {
            let now = self.time.now().unwrap_or_default();
            let attempt = Attempt::prepare(&self.shelf, &self.keys, draft.clone(), now)?;
            let unsure = sent.replace(attempt.body().to_vec());
            let heard = self.run(connection, &attempt.input, until)?;
            *sent = None;
            match heard.answer {
                Answer::Done { seq, prev, hash } => {
                    let promise = attempt.promise;
                    let record = self.done(attempt, seq, prev, hash);
                    self.replicate(connection, promise);
                    return Ok(record);
                }
                Answer::Stale(fresh) => {
                    count(&self.counts.conflicts);
                    attempt.refresh(&self.shelf, &fresh)?;
                    if let (Some(body), Some(seq)) = (unsure, attempt.last_change(&fresh))
                        && let Some((prev, hash)) = applied(self, connection, seq, &body)?
                    {
                        return Ok(self.done(attempt, seq, prev, hash));
                    }
                    self.restore_kills(connection, draft, until)?;
                }
                Answer::Rules(found) => return Err(self.other_rules(found).into()),
            }
        }
        Err(Trouble::Contended)
    }

    fn done(&self, attempt: Attempt, seq: u64, prev: Hash, hash: Hash) -> Record {
        count(&self.counts.decisions);
        let mut head = lock(&self.head);
        if seq > head.seq {
            *head = Head { seq, hash };
        }
        attempt.done(&self.shelf, seq, prev, hash)
    }

    /// Gives Redis back the kills that it lost.
    fn restore_kills(
        &self,
        connection: &mut Connection,
        like: &Draft,
        until: Instant,
    ) -> Result<(), Trouble> {
        // A kill does not lose others, but it may meet one that was lost.
        if matches!(like.observation.what, Observed::Kill(_)) {
            return Ok(());
        }
        for lost in self.shelf.lost() {
            self.kill_again(connection, &lost, &like.policy, like.observation.at, until)?;
        }
        Ok(())
    }

    /// Kills a session that should be.
    pub(super) fn kill_again(
        &self,
        connection: &mut Connection,
        lost: &LostKill,
        policy: &Arc<ActivePolicy>,
        at: Timestamp,
        until: Instant,
    ) -> Result<(), Trouble> {
        let draft = lost.draft(at, policy);
        self.decide_on(connection, &draft, until, &mut None)?;
        count(&self.counts.kills_restored);
        Ok(())
    }

    /// Waits until as many replicas as wanted have what must not be lost.
    fn replicate(&self, connection: &mut Connection, promise: Promise) {
        if promise != Promise::Durable || self.options.replicas == 0 {
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

    fn decide_alone(&self, draft: Draft, why: &str) -> Result<Record, StoreError> {
        if matches!(draft.observation.what, Observed::Reset(_)) {
            return Err(self.away(format!("{why}; nothing was reset")));
        }
        let pod = &self.options.pod;
        let mut fork = lock(&self.fork);
        // The keeper ends a fork under the same lock, so none is left behind with the line up.
        if self.line.interrupt(why) {
            count(&self.counts.outages);
        }
        let (record, alone) = fork.decide(&self.shelf, &self.options.fail, pod, draft, why)?;
        drop(fork);
        count(&self.counts.alone);
        if let Some(hear) = &self.options.on_alone {
            hear(&alone);
        }
        let head = *lock(&self.head);
        Ok(Record {
            seq: head.seq,
            ..record
        })
    }
}
