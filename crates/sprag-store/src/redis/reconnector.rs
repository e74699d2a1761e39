//! The reconnector: one thread that keeps a pod connected, brings it back after an outage and evicts
//! idle sessions.
//!
//! After an outage the order is fixed. First the fence is raised, so that nothing from before is
//! written late. Then the kills that Redis does not have are restored. Then the offline records are
//! published. Only then do decisions go through Redis again.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use redis::{Connection, Pipeline, RedisResult, Value, cmd};
use sprag_core::{Policy, RULES_VERSION, Timestamp};

use super::commit::{CommitOutcome, CommitReply, note_input, read_hash};
use super::keys::{FORMAT, RedisKeys};
use super::log_reader::RedisReader;
use super::monotonic;
use super::offline_log::{OfflineLog, QueuedRecord};
use super::redis_pod::{LastNote, RedisPod, SharedError, lock};
use super::reply::{list, number, read_orders, text, unexpected_reply};
use super::script::{LuaScript, ScriptInput};
use crate::capacity::after_eviction;
use crate::draft::ActivePolicy;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::in_force::{PANIC, PAUSE, StandingOrders};
use crate::note::Pool;
use crate::random::secret;

/// How long connecting and each step of rejoining may take.
const WAIT: Duration = Duration::from_secs(1);

/// Notes that are published in one round trip.
const AT_ONCE: usize = 100;

/// The first and the longest pause between attempts to reconnect; it doubles in between.
const FIRST_REST: Duration = Duration::from_millis(50);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// The number of the last note, the pause and the panic.
type HeartbeatNote = (Option<u64>, Option<Vec<u8>>, Option<Vec<u8>>);

/// The reply of `join.lua`.
#[derive(Debug)]
pub(super) struct JoinReply {
    pub(super) secret: [u8; 32],
    pub(super) epoch: Vec<u8>,
    rules: u64,
    head: ChainHead,
    note: u64,
    orders: StandingOrders,
    time: (u64, u64),
}

impl JoinReply {
    /// Joins the namespace and raises the fence. A new namespace is created with the secret `ours`.
    pub(super) fn request(
        connection: &mut Connection,
        keys: &RedisKeys,
        ours: &[u8],
        fence: Option<(String, [u64; 2])>,
    ) -> RedisResult<Self> {
        let mut input = ScriptInput {
            keys: keys.shared(),
            args: Vec::new(),
        };
        input.number(u64::from(RULES_VERSION));
        input.arg(ours);
        let epoch = secret().map_err(|_| unexpected_reply())?;
        input.arg(epoch.to_vec());
        input.number(FORMAT);
        if let Some((key, numbers)) = fence {
            input.keys.push(key);
            for number in numbers {
                input.number(number);
            }
        }
        let answer = LuaScript::new(include_str!("join.lua")).run(connection, &input)?;
        Self::read(&answer).ok_or_else(unexpected_reply)
    }

    fn read(value: &Value) -> Option<Self> {
        let [
            seconds,
            micros,
            rules,
            secret,
            epoch,
            seq,
            hash,
            note,
            orders,
        ] = list(value)?
        else {
            return None;
        };
        Some(Self {
            secret: text(secret)?.try_into().ok()?,
            epoch: text(epoch)?.to_vec(),
            rules: number(rules)?,
            head: ChainHead {
                seq: number(seq)?,
                hash: read_hash(text(hash)?)?,
            },
            note: number(note)?,
            orders: read_orders(orders)?,
            time: (number(seconds)?, number(micros)?),
        })
    }
}

impl RedisPod {
    /// Connects and joins the namespace. The fence is raised in the same step, so from here on no commit of
    /// this pod from before is written any more.
    pub(super) fn join(&self) -> Result<Connection, SharedError> {
        let mut connection = self.address.connect(&self.keys.head, WAIT)?;
        let sent = monotonic::now();
        let fence = Some(self.raised_fence());
        let joined = JoinReply::request(&mut connection, &self.keys, &self.secret, fence)?;
        self.time.observe(sent, joined.time.0, joined.time.1);
        if joined.rules > u64::from(RULES_VERSION) {
            let why = format!(
                "its sessions are judged under rules version {}, this build has {RULES_VERSION}; use \
                 a newer `sprag`",
                joined.rules
            );
            return Err(SharedError::Store(self.unavailable(why)));
        }
        *lock(&self.restart_reason) = (joined.secret != self.secret).then(|| {
            "the namespace was created again with another secret, so this pod computes other \
             digests than the rest: restart it"
                .to_owned()
        });
        // Redis lost data if the namespace was created again, or if its log is shorter than before.
        let is_other = lock(&self.epoch).replace(joined.epoch.clone()) != Some(joined.epoch);
        let mut head = lock(&self.head);
        if is_other || joined.head.seq < head.seq {
            lock(&self.offline).lose_published();
        }
        // Taken as it is, also backwards: the numbers after it will be given again.
        *head = joined.head;
        drop(head);
        *lock(&self.last_note) = LastNote {
            seq: joined.note,
            orders: joined.orders,
        };
        // Policy texts may be lost too. They are sent again with the next decision.
        lock(&self.saved_policies).clear();
        Ok(connection)
    }

    /// Brings the pod back to Redis: joins, restores kills, publishes the offline log, and puts the pool back
    /// into service.
    pub(super) fn rejoin(&self) -> Result<(), SharedError> {
        let mut connection = self.join()?;
        self.pool.set_returning(true);
        let published = self.publish_offline_log(&mut connection);
        let Ok(mut offline) = published else {
            self.pool.set_returning(false);
            return published.map(drop);
        };
        // Still under the lock of the offline log: nobody can decide offline between the last
        // published record and the restored pool.
        offline.end();
        self.pool.restore(vec![connection]);
        Ok(())
    }

    /// Restores the kills in Redis and then publishes the offline records. Returns the offline log, locked
    /// and with nothing left to publish.
    fn publish_offline_log(
        &self,
        connection: &mut Connection,
    ) -> Result<MutexGuard<'_, OfflineLog>, SharedError> {
        self.restore_all_kills(connection)?;
        loop {
            let mut offline = lock(&self.offline);
            let mut waiting = offline.next(&self.options.pod, AT_ONCE);
            if waiting.is_empty() {
                // Sessions may have been killed offline while records were published.
                let kills = offline.kills();
                if kills.iter().all(|one| self.cache.is_killed(&one.session)) {
                    return Ok(offline);
                }
            }
            drop(offline);
            if waiting.is_empty() {
                self.restore_all_kills(connection)?;
            } else if let Err(error) = self.publish_notes(connection, &mut waiting) {
                lock(&self.offline).put_back(waiting);
                return Err(error);
            }
        }
    }

    /// Appends many notes in one round trip, each exactly once: those that an earlier attempt wrote
    /// without a reply are left out.
    fn publish_notes(
        &self,
        connection: &mut Connection,
        waiting: &mut Vec<QueuedRecord>,
    ) -> Result<(), SharedError> {
        let until = monotonic::now() + WAIT;
        connection.set_read_timeout(Some(WAIT))?;
        // The fence is raised, so this search is final.
        let unsure: Vec<_> = waiting.iter().flat_map(QueuedRecord::unsure).collect();
        let written = self.written(connection, &unsure)?;
        waiting.retain_mut(|one| one.resolve_sent(&written));
        let mut pipe = Pipeline::with_capacity(waiting.len());
        for one in waiting.iter_mut() {
            self.save_policy(connection, &one.policy, until)?;
            let digest = &one.policy.digest;
            let encoded = ChainHead::default().note(one.at, digest, one.what.clone())?;
            let header = one.about_to_publish(self);
            let input = note_input(self, header, &encoded);
            pipe.add_command(self.commit.command(&input));
        }
        // In a pipeline a missing script could not be sent again without changing the order.
        self.commit.load(connection)?;
        let answers: Vec<Value> = pipe.query(connection)?;
        for answer in &answers {
            let reply = CommitReply::read(answer)?;
            lock(&self.last_note).observe(reply.note, reply.orders);
            match reply.outcome {
                CommitOutcome::Done { seq, hash, .. } => {
                    *lock(&self.head) = ChainHead { seq, hash }
                }
                CommitOutcome::Rules(found) => return Err(self.other_rules(found).into()),
                CommitOutcome::Stale(_) => return Err(SharedError::Contended),
                CommitOutcome::Fenced => return Err(SharedError::Forgotten),
            }
        }
        Ok(())
    }

    /// Makes sure that every session that this pod knows as killed is killed in Redis.
    fn restore_all_kills(&self, connection: &mut Connection) -> Result<(), SharedError> {
        let made_offline = lock(&self.offline).kills();
        // Read what Redis has of all of them. A cached kill that is missing there becomes a lost kill.
        let mut known = self.cache.killed();
        known.extend(made_offline.iter().map(|lost| lost.session.clone()));
        RedisReader::new(self, connection).refresh(&known)?;
        let missing = made_offline
            .into_iter()
            .filter(|lost| !self.cache.is_killed(&lost.session));
        let policy = Arc::new(self.any_policy());
        for lost in self.cache.lost_kills().into_iter().chain(missing) {
            if !self.cache.is_killed(&lost.session) {
                let until = monotonic::now() + WAIT;
                self.restore_kill(connection, &lost, &policy, self.now(), until)?;
            }
        }
        Ok(())
    }

    /// A policy for restored kills: a kill is judged alike under every policy.
    pub(super) fn any_policy(&self) -> ActivePolicy {
        ActivePolicy::new(Policy::default())
    }

    pub(super) fn now(&self) -> Timestamp {
        self.time.now().unwrap_or_default()
    }

    /// Runs until the pool is closed.
    pub(super) fn run_reconnector(&self) {
        let wanted = self.options.connections.max(1);
        let mut rest = FIRST_REST;
        loop {
            let goes_on = if self.pool.is_up() {
                rest = FIRST_REST;
                let is_complete = self.open_missing_connections(wanted);
                self.heartbeat();
                // If a connection can't be opened, one missing is no reason to wake up at once.
                let wanted = if is_complete { wanted } else { 0 };
                self.pool.wait_for_work(LONGEST_REST, true, wanted)
            } else if let Err(error) = self.rejoin() {
                self.pool.set_down_reason(why(&self.store_error(error)));
                let pause = rest;
                rest = (rest * 2).min(LONGEST_REST);
                self.pool.wait_for_work(pause, false, 0)
            } else {
                true
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Opens the missing connections. Returns false if that fails.
    fn open_missing_connections(&self, wanted: usize) -> bool {
        for _ in 0..self.pool.missing(wanted) {
            match self.address.connect(&self.keys.head, WAIT) {
                Ok(connection) => self.pool.add(connection),
                Err(_) => return false,
            }
        }
        true
    }

    /// Once a second: renews the fence, looks for a pause or a panic, and notices an outage even if
    /// nobody asks for decisions. Evicts idle sessions if there are too many.
    fn heartbeat(&self) {
        let read: Result<_, StoreError> = self.read(|reader| {
            self.renew_fence(reader.connection)?;
            let note: HeartbeatNote = cmd("HMGET")
                .arg(&self.keys.head)
                .arg(&["note", PAUSE, PANIC])
                .query(reader.connection)?;
            let sessions: usize = cmd("ZCARD")
                .arg(&self.keys.sessions)
                .query(reader.connection)?;
            let marked: usize = cmd("HLEN")
                .arg(&self.keys.marked)
                .query(reader.connection)?;
            Ok((note, sessions, marked))
        });
        let Ok(((note, pause, panic), sessions, marked)) = read else {
            return;
        };
        let (pause, panic) = (pause.unwrap_or_default(), panic.unwrap_or_default());
        if let Ok(orders) = StandingOrders::from_bytes(&pause, &panic) {
            lock(&self.last_note).observe(note.unwrap_or(0), orders);
        }
        // What could not be evicted now is looked at again in a second.
        let capacity = self.options.capacity;
        let is_full = marked >= capacity.marks;
        if is_full {
            let excess = (marked - after_eviction(capacity.marks)).max(1);
            let _ = self.forget_sessions(Pool::Marks, excess);
        }
        self.is_full_of_marks.store(is_full, Ordering::Relaxed);
        let unmarked = sessions.saturating_sub(marked);
        if unmarked > capacity.sessions {
            let excess = unmarked - after_eviction(capacity.sessions);
            let _ = self.forget_sessions(Pool::Sessions, excess);
        }
    }
}

/// The reason alone: the address is added where it is reported.
fn why(error: &StoreError) -> String {
    match error {
        StoreError::Redis { why, .. } => why.clone(),
        other => other.to_string(),
    }
}
