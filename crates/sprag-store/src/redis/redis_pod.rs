//! One process of those that share a namespace: all that it holds, and its calls to Redis.
//!
//! Deciding, reading and reconnecting are in files of their own. Locks are taken in this order: a turn,
//! the offline log, the connection pool; the others are held for a moment only.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::{Connection, RedisError, cmd};
use sprag_core::{DigestKey, RULES_VERSION, Timestamp};

use super::cell_cache::CellCache;
use super::commit::{CommitOutcome, CommitReply, note_input};
use super::commit_id::PodIdentity;
use super::commit_queue::CommitQueue;
use super::connection_pool::{ConnectionPool, PooledConnection};
use super::keys::RedisKeys;
use super::log_reader::{LogIndex, RedisReader};
use super::monotonic;
use super::offline_log::OfflineLog;
use super::options::RedisOptions;
use super::redis_address::RedisAddress;
use super::redis_counts::{Counters, count};
use super::redis_time::RedisTime;
use super::reply::why;
use super::script::{LuaScript, ScriptInput};
use crate::draft::ActivePolicy;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::in_force::StandingOrders;
use crate::note::Noted;
use crate::record::Record;

/// How long a request may take that is not a decision.
const PATIENCE: Duration = Duration::from_secs(5);

/// Locks for sessions that take turns: more than any pod has threads.
const TURNS: usize = 64;

/// The reason if Redis lost the pod's fence.
pub(super) const FORGOTTEN: &str = "it lost what it knew about this pod";

/// The reason if only an outdated connection was at hand.
pub(super) const STALE_CONNECTION: &str = "the connection is from before an outage";

/// Why an operation on the shared store failed.
#[derive(Debug)]
pub(super) enum SharedError {
    /// The event is invalid, or a stored value is damaged.
    Store(StoreError),
    /// The connection failed, or the server returned an error.
    Redis(RedisError),
    /// The deadline is over.
    Timeout,
    /// Other pods changed the same cells in every attempt.
    Contended,
    /// Redis lost this pod's fence. The pod must join again.
    Forgotten,
    /// The connection is from before an outage. A newer one must be used.
    StaleConnection,
}

impl From<StoreError> for SharedError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<RedisError> for SharedError {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

/// This process as one of those that share a namespace.
#[derive(Debug)]
pub(super) struct RedisPod {
    pub(super) options: RedisOptions,
    pub(super) address: RedisAddress,
    pub(super) keys: RedisKeys,
    pub(super) identity: PodIdentity,
    /// The key of this pod's fence.
    pub(super) fence: String,
    pub(super) commit: LuaScript,
    pub(super) pool: ConnectionPool,
    pub(super) queue: CommitQueue,
    pub(super) cache: CellCache,
    pub(super) offline: Mutex<OfflineLog>,
    pub(super) time: RedisTime,
    pub(super) counts: Counters,
    pub(super) last_note: Mutex<LastNote>,
    /// There are as many marks as there may be: new sessions are refused. As of the last heartbeat.
    pub(super) is_full_of_marks: AtomicBool,
    pub(super) index: Mutex<LogIndex>,
    /// Digests of the policies whose text Redis has.
    pub(super) saved_policies: Mutex<HashSet<String>>,
    pub(super) head: Mutex<ChainHead>,
    pub(super) key: DigestKey,
    pub(super) secret: [u8; 32],
    /// Changes when the namespace is created again.
    pub(super) epoch: Mutex<Option<Vec<u8>>>,
    /// Why this pod must be restarted, if it must.
    pub(super) restart_reason: Mutex<Option<String>>,
    /// Events of one session take turns, by the hash of its id.
    pub(super) turns: Vec<Mutex<()>>,
}

/// The number of the last note that this pod knows of, and the standing orders as of then.
#[derive(Debug, Default)]
pub(super) struct LastNote {
    pub(super) seq: u64,
    pub(super) orders: StandingOrders,
}

impl LastNote {
    /// Takes over what a reply carries. Replies on several connections may come out of order: an older
    /// one must not end a pause or panic that this pod already knows of.
    pub(super) fn observe(&mut self, seq: u64, orders: StandingOrders) {
        if seq >= self.seq {
            *self = Self { seq, orders };
        }
    }

    /// Takes over a pause or panic, or its end, that Redis does not have yet.
    fn apply(&mut self, record: &Record) {
        self.orders.apply(record);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RedisPod {
    pub(super) fn new(
        options: RedisOptions,
        address: RedisAddress,
        secret: [u8; 32],
        identity: PodIdentity,
    ) -> Self {
        let keys = RedisKeys::new(&options.namespace);
        Self {
            fence: keys.fence(&identity.digits()),
            identity,
            keys,
            commit: LuaScript::new(include_str!("commit.lua")),
            pool: ConnectionPool::default(),
            queue: CommitQueue::default(),
            cache: CellCache::new(options.capacity.sessions),
            offline: Mutex::default(),
            time: RedisTime::default(),
            counts: Counters::default(),
            last_note: Mutex::default(),
            is_full_of_marks: AtomicBool::new(false),
            index: Mutex::default(),
            saved_policies: Mutex::default(),
            head: Mutex::default(),
            key: DigestKey::new(&secret),
            secret,
            epoch: Mutex::default(),
            restart_reason: Mutex::default(),
            turns: (0..TURNS).map(|_| Mutex::default()).collect(),
            address,
            options,
        }
    }

    /// The error that Redis can't be used.
    pub(super) fn unavailable(&self, why: impl Into<String>) -> StoreError {
        StoreError::Redis {
            place: self.address.shown(),
            why: why.into(),
        }
    }

    /// Drops a connection that broke; takes the pool down if the server itself failed.
    pub(super) fn discard(&self, pooled: PooledConnection, error: &RedisError) {
        self.discard_because(pooled, error, &why(error));
    }

    /// The same, with the reason as people read it.
    pub(super) fn discard_because(
        &self,
        pooled: PooledConnection,
        error: &RedisError,
        reason: &str,
    ) {
        if error.is_connection_dropped() {
            self.pool.discard(pooled, reason);
        } else {
            self.pool.trip(pooled, reason);
        }
        if !self.pool.is_up() {
            count(&self.counts.outages);
        }
    }

    pub(super) fn other_rules(&self, found: u64) -> StoreError {
        self.unavailable(format!(
            "its sessions are judged under rules version {found}, this build has {RULES_VERSION}; \
             use the same `sprag` everywhere"
        ))
    }

    /// Runs a commit, and takes in what every reply carries: Redis' time, the latest note and the
    /// pause.
    pub(super) fn run_commit(
        &self,
        connection: &mut Connection,
        input: &ScriptInput,
        until: Instant,
    ) -> Result<CommitReply, SharedError> {
        let sent = monotonic::now();
        let Some(left) = until
            .checked_duration_since(sent)
            .filter(|left| !left.is_zero())
        else {
            return Err(SharedError::Timeout);
        };
        connection.set_read_timeout(Some(left))?;
        connection.set_write_timeout(Some(left))?;
        count(&self.counts.round_trips);
        let reply = CommitReply::read(&self.commit.run(connection, input)?)?;
        self.observe(sent, &reply);
        Ok(reply)
    }

    /// Takes in what every reply to a commit carries, which was sent at `sent`.
    pub(super) fn observe(&self, sent: Instant, reply: &CommitReply) {
        self.time.observe(sent, reply.seconds, reply.micros);
        lock(&self.last_note).observe(reply.note, reply.orders.clone());
    }

    /// Runs a commit that is not urgent.
    pub(super) fn run_commit_patiently(
        &self,
        connection: &mut Connection,
        input: &ScriptInput,
    ) -> Result<CommitOutcome, SharedError> {
        Ok(self
            .run_commit(connection, input, monotonic::now() + PATIENCE)?
            .outcome)
    }

    /// Stores the text of a policy in Redis, once. A record names its policy by digest only.
    pub(super) fn save_policy(
        &self,
        connection: &mut Connection,
        policy: &ActivePolicy,
        until: Instant,
    ) -> Result<(), SharedError> {
        if lock(&self.saved_policies).contains(&policy.digest) {
            return Ok(());
        }
        let left = until.checked_duration_since(monotonic::now());
        let left = left
            .filter(|left| !left.is_zero())
            .ok_or(SharedError::Timeout)?;
        connection.set_read_timeout(Some(left))?;
        cmd("HSETNX")
            .arg(&self.keys.policies)
            .arg(&policy.digest)
            .arg(&policy.text)
            .exec(connection)?;
        lock(&self.saved_policies).insert(policy.digest.clone());
        Ok(())
    }

    /// Appends a note over one connection.
    pub(super) fn note_on(
        &self,
        connection: &mut Connection,
        at: Timestamp,
        policy: &ActivePolicy,
        what: Noted,
        until: Instant,
    ) -> Result<Record, SharedError> {
        self.save_policy(connection, policy, until)?;
        let encoded = ChainHead::default().note(at, &policy.digest, what)?;
        let input = note_input(self, self.header(), &encoded);
        match self.run_commit(connection, &input, until)?.outcome {
            CommitOutcome::Done { seq, prev, hash } => {
                *lock(&self.head) = ChainHead { seq, hash };
                Ok(Record {
                    seq,
                    prev,
                    hash,
                    ..encoded.record
                })
            }
            CommitOutcome::Rules(found) => Err(self.other_rules(found).into()),
            CommitOutcome::Stale(_) => Err(SharedError::Contended),
            CommitOutcome::Fenced => Err(SharedError::Forgotten),
        }
    }

    /// The error as callers of the store see it.
    pub(super) fn store_error(&self, error: SharedError) -> StoreError {
        match error {
            SharedError::Store(error) => error,
            SharedError::Redis(error) => self.unavailable(why(&error)),
            SharedError::Timeout => self.unavailable("no answer in time"),
            SharedError::Contended => self.unavailable("other pods changed the same cells first"),
            SharedError::Forgotten => self.unavailable(FORGOTTEN),
            SharedError::StaleConnection => self.unavailable(STALE_CONNECTION),
        }
    }

    /// Runs a request that is not a decision.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&mut RedisReader<'_>) -> Result<T, SharedError>,
    ) -> Result<T, StoreError> {
        let until = monotonic::now() + PATIENCE;
        let Some(mut pooled) = self.pool.acquire(until) else {
            let error = self.pool.down_reason();
            return Err(
                self.unavailable(error.unwrap_or_else(|| "all connections are busy".to_owned()))
            );
        };
        let ready = pooled.connection.set_read_timeout(Some(PATIENCE));
        let mut reader = RedisReader::new(self, &mut pooled.connection);
        match ready
            .map_err(SharedError::from)
            .and_then(|()| read(&mut reader))
        {
            Err(SharedError::Redis(error)) => {
                let why = why(&error);
                if error.is_io_error() || error.redirect_node().is_some() {
                    self.discard(pooled, &error);
                } else {
                    self.pool.release(pooled);
                }
                Err(self.unavailable(why))
            }
            done => {
                self.pool.release(pooled);
                if matches!(done, Err(SharedError::Forgotten)) && self.pool.trip_if_up(FORGOTTEN) {
                    count(&self.counts.outages);
                }
                done.map_err(|error| self.store_error(error))
            }
        }
    }

    /// Appends a note. If Redis is down, the note is kept and published later.
    pub(super) fn note(&self, note: crate::note::Note) -> Result<Record, StoreError> {
        note.check()?;
        {
            // Under the lock of the offline log, so that the pool can't come up in between.
            let mut offline = lock(&self.offline);
            if !self.pool.is_up() {
                let record = offline.note(note)?;
                // Until Redis is back, this pod at least follows what it noted itself.
                lock(&self.last_note).apply(&record);
                return Ok(record);
            }
        }
        let until = monotonic::now() + PATIENCE;
        self.read(|reader| {
            let what = note.what.clone();
            self.note_on(reader.connection, note.at, &note.policy, what, until)
        })
    }
}
