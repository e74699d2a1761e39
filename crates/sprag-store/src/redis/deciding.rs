//! How a pod decides: with Redis in as few round trips as it takes, or alone.

use std::sync::Arc;
use std::time::Instant;

use redis::{Connection, RedisResult, cmd};
use sprag_core::{Observed, Timestamp};

use super::attempt::{Answer, Attempt};
use super::counts::count;
use super::fail::who;
use super::mono;
use super::pod::{OUTDATED, Pod, Trouble, UNKNOWN, lock};
use super::shelf::LostKill;
use super::ticket::{Sent, Stamp, Ticket};
use crate::cell_key::CellKey;
use crate::draft::{ActivePolicy, Draft};
use crate::error::StoreError;
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
        let mut ticket = self.ticket();
        let why = match self.decide_shared(&draft, until, &mut ticket) {
            Ok(record) => return Ok(record),
            Err(Trouble::Store(error)) => return Err(error),
            Err(Trouble::Redis(error)) if error.is_timeout() => self.slow(),
            Err(Trouble::Redis(error)) => error.to_string(),
            Err(Trouble::Slow) => self.line.trouble().unwrap_or_else(|| self.slow()),
            Err(Trouble::Contended) => format!("others were faster {MAX_TRIES} times"),
            Err(Trouble::Unknown) => UNKNOWN.to_owned(),
            Err(Trouble::Outdated) => OUTDATED.to_owned(),
        };
        let sent = ticket.unanswered.map(|_| ticket.sent);
        self.decide_alone(draft, &why, sent)
    }

    fn slow(&self) -> String {
        format!("no answer within {} ms", self.options.deadline.as_millis())
    }

    fn decide_shared(
        &self,
        draft: &Draft,
        until: Instant,
        ticket: &mut Ticket,
    ) -> Result<Record, Trouble> {
        let (_, session) = who(&draft.observation.what);
        let turns = u64::try_from(self.turns.len()).unwrap_or(1);
        let turn = CellKey::Session(session.clone()).index() % turns;
        let turn = usize::try_from(turn).ok().and_then(|at| self.turns.get(at));
        let _turn = turn.map(lock);
        let mut broken = 0;
        loop {
            // Before the connection: one that is older than its fence could be heard too late.
            let fence = self.identity.fence();
            let Some(mut lent) = self.line.take(until) else {
                return Err(Trouble::Slow);
            };
            let decided = self.decide_on(&mut lent.connection, draft, until, fence, ticket);
            match decided {
                Err(Trouble::Redis(error)) => {
                    broken += 1;
                    let is_over = broken >= MAX_BROKEN || !error.is_connection_dropped();
                    self.broken(lent, &error);
                    if is_over {
                        return Err(Trouble::Redis(error));
                    }
                }
                Err(Trouble::Outdated) => self.line.give_back(lent),
                other => {
                    self.line.give_back(lent);
                    return other;
                }
            }
        }
    }

    /// Decides over one connection.
    ///
    /// What got no answer before is sent again as it was: either it is written now, or it was before
    /// and is found in the log. It can't be both, since it is judged on the same versions.
    pub(super) fn decide_on(
        &self,
        connection: &mut Connection,
        draft: &Draft,
        until: Instant,
        fence: u64,
        ticket: &mut Ticket,
    ) -> Result<Record, Trouble> {
        self.learn(connection, &draft.policy, until)?;
        for _ in 0..MAX_TRIES {
            let again = ticket.unanswered.take();
            let may_be_written = again.is_some();
            let name = ticket.sent.name;
            let attempt = match again {
                Some(attempt) => attempt,
                None => Attempt::prepare(self, draft.clone(), Stamp { fence, name })?,
            };
            let answer = match self.run(connection, &attempt.input, until) {
                Ok(heard) => heard.answer,
                Err(trouble) => {
                    ticket.unanswered = Some(attempt);
                    return Err(trouble);
                }
            };
            let is_fenced = matches!(answer, Answer::Fenced);
            match answer {
                Answer::Done { seq, prev, hash } => {
                    let promise = attempt.promise;
                    self.count_decision(Head { seq, hash });
                    let record = attempt.done(&self.shelf, seq, prev, hash);
                    self.replicate(connection, promise);
                    return Ok(record);
                }
                Answer::Stale(fresh) => {
                    count(&self.counts.conflicts);
                    attempt.refresh(&self.shelf, &fresh)?;
                }
                Answer::Fenced if attempt.fence == self.identity.fence() => {
                    ticket.unanswered = Some(attempt).filter(|_| may_be_written);
                    return Err(Trouble::Unknown);
                }
                Answer::Fenced => {}
                Answer::Rules(found) => return Err(self.other_rules(found).into()),
            }
            if may_be_written
                && let Some(record) = self.written_before(connection, ticket, attempt)?
            {
                return Ok(record);
            }
            if is_fenced {
                return Err(Trouble::Outdated);
            }
            self.restore_kills(connection, draft, until)?;
        }
        Err(Trouble::Contended)
    }

    /// The record of what got no answer, where it was written all the same.
    fn written_before(
        &self,
        connection: &mut Connection,
        ticket: &mut Ticket,
        attempt: Attempt,
    ) -> Result<Option<Record>, Trouble> {
        let found = self.written_record(connection, ticket.sent);
        if found.is_err() {
            ticket.unanswered = Some(attempt);
        }
        let found = found?;
        if let Some(record) = &found {
            self.count_decision(record.head());
        }
        Ok(found)
    }

    fn count_decision(&self, at: Head) {
        count(&self.counts.decisions);
        let mut head = lock(&self.head);
        if at.seq > head.seq {
            *head = at;
        }
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
        let fence = self.identity.fence();
        self.decide_on(connection, &draft, until, fence, &mut self.ticket())?;
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

    fn decide_alone(
        &self,
        draft: Draft,
        why: &str,
        sent: Option<Sent>,
    ) -> Result<Record, StoreError> {
        if matches!(draft.observation.what, Observed::Reset(_)) {
            return Err(self.away(format!("{why}; nothing was reset")));
        }
        let pod = &self.options.pod;
        let mut fork = lock(&self.fork);
        // The keeper ends a fork under the same lock, so none is left behind with the line up.
        if self.line.interrupt(why) {
            count(&self.counts.outages);
        }
        let (record, alone) =
            fork.decide(&self.shelf, &self.options.fail, pod, draft, (why, sent))?;
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
