//! A store in Redis that many processes share: a session killed by one is dead for all, and windows
//! count over all. Each such process is called a pod.
//!
//! All rules stay in Rust. A pod judges an event on its cached cells, and sends the result with the
//! versions that it judged on. One script compares the versions and writes everything, the record
//! included. If a cell has changed, the script returns the fresh one instead, and the pod judges
//! again. If nobody else changed the cells, a decision takes one round trip. Without Redis a pod
//! decides on what it has cached, reports it, and publishes its records when Redis is back.
//! `docs/redis.md` lists what is promised.

mod cell_cache;
mod cell_value;
mod commit;
mod commit_id;
mod commit_queue;
mod connection_pool;
mod decide;
mod decide_together;
mod fail_modes;
mod keys;
mod log_pruning;
mod log_reader;
mod monotonic;
mod offline_log;
mod options;
mod reconnector;
mod redis_address;
mod redis_counts;
mod redis_pod;
mod redis_time;
mod redis_view;
mod reply;
mod script;
mod session_eviction;
mod session_listing;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use redis::cmd;
use sprag_core::{CellKey, DigestKey, Id, Timestamp};

pub use fail_modes::{FailModeError, RuleFailMode, RuleFailModes};
pub use offline_log::OfflineDecision;
pub use options::{OnOfflineDecision, RedisOptions};
pub use redis_counts::RedisCounts;

use commit_id::PodIdentity;
use reconnector::JoinReply;
use redis_address::RedisAddress;
use redis_pod::{RedisPod, lock};
use redis_view::RedisView;

use crate::census::Census;
use crate::draft::Draft;
use crate::error::StoreError;
use crate::in_force::{POLICY, StandingOrders};
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::Note;
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, Page, Session, SessionSummary};
use crate::random::secret;
use crate::record::Record;
use crate::store::{Store, StoreStatus};
use crate::view::LogView;

/// How long the first connection may take.
const FIRST_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// A store in Redis that many processes share.
#[derive(Debug)]
pub struct RedisStore {
    pod: Arc<RedisPod>,
    reconnector: Option<JoinHandle<()>>,
}

impl RedisStore {
    /// Connects to Redis and joins the namespace, which is created if it is new.
    ///
    /// # Errors
    /// Returns an error if the address is not valid, or if Redis can't be reached: only Redis has the secret
    /// that events are digested under.
    pub fn open(mut options: RedisOptions) -> Result<Self, StoreError> {
        let address = RedisAddress::parse(&options.url, options.ca.take())?;
        let address = address.with_password(options.password.take());
        let keys = keys::RedisKeys::new(&options.namespace);
        let away = |error: redis::RedisError| StoreError::Redis {
            place: address.shown(),
            why: reply::why(&error),
        };
        let mut connection = address.connect(&keys.head, FIRST_WAIT).map_err(away)?;
        let joined = JoinReply::request(&mut connection, &keys, &secret()?, None).map_err(away)?;
        drop(connection);
        // A process that restarts is another pod: its offline records start at one again.
        let [a, b, c, d, ..] = secret()?;
        let identity = PodIdentity::new([a, b, c, d]);
        options.pod = format!("{} {}", options.pod, identity.digits());
        let pod = Arc::new(RedisPod::new(options, address, joined.secret, identity));
        pod.rejoin().map_err(|error| pod.store_error(error))?;
        let reconnector = {
            let pod = Arc::clone(&pod);
            let thread = std::thread::Builder::new().name("sprag redis".to_owned());
            thread.spawn(move || pod.run_reconnector())
        };
        let reconnector = reconnector
            .map_err(|error| pod.unavailable(format!("no thread could be started: {error}")))?;
        Ok(Self {
            pod,
            reconnector: Some(reconnector),
        })
    }

    /// The counters of this pod since it started.
    #[must_use]
    pub fn counts(&self) -> RedisCounts {
        self.pod.counts.read()
    }

    /// Redis' time, so that pods whose clocks differ agree.
    #[must_use]
    pub fn now(&self) -> Option<Timestamp> {
        self.pod.time.now()
    }

    /// The name of this pod in the log.
    #[must_use]
    pub fn pod(&self) -> &str {
        &self.pod.options.pod
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.pod.pool.close();
        if let Some(reconnector) = self.reconnector.take() {
            let _ = reconnector.join();
        }
    }
}

impl Store for RedisStore {
    fn decide(&self, draft: Draft) -> Result<Record, StoreError> {
        self.pod.decide(draft)
    }

    fn note(&self, note: Note) -> Result<Record, StoreError> {
        self.pod.note(note)
    }

    /// What the last reply of Redis carried. A pod that sends nothing else asks once a second.
    fn orders(&self) -> Result<StandingOrders, StoreError> {
        Ok(lock(&self.pod.last_note).orders.clone())
    }

    fn noted_policy(&self) -> Result<Option<String>, StoreError> {
        self.pod.read(|reader| {
            Ok(cmd("HGET")
                .arg(&self.pod.keys.head)
                .arg(POLICY)
                .query(reader.connection)?)
        })
    }

    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError> {
        self.pod.read(|reader| reader.session(id))
    }

    fn knows_session(&self, id: &Id) -> Result<bool, StoreError> {
        if self.pod.cache.knows(id) || !self.pod.pool.is_up() {
            return Ok(true);
        }
        // It is asked with every decision, and may take no longer than one.
        let deadline = self.pod.options.deadline;
        let until = monotonic::now() + deadline;
        let Some(mut pooled) = self.pod.pool.acquire(until) else {
            return Ok(true);
        };
        let key = self.pod.keys.cell(&CellKey::Session(id.clone()));
        let ready = pooled.connection.set_read_timeout(Some(deadline));
        match ready.and_then(|()| cmd("EXISTS").arg(key).query(&mut pooled.connection)) {
            Ok(is_known) => {
                self.pod.pool.release(pooled);
                Ok(is_known)
            }
            Err(error) => {
                self.pod.discard(pooled, &error);
                Ok(true)
            }
        }
    }

    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
        self.pod.read(|reader| reader.sessions(query))
    }

    fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        self.pod.read(|reader| reader.page(query))
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, StoreError> {
        Ok(Box::new(RedisView::open(&self.pod)?))
    }

    fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, StoreError> {
        log_pruning::prune(&self.pod, prune)
    }

    fn digest_key(&self) -> DigestKey {
        self.pod.key.clone()
    }

    fn others_write(&self) -> bool {
        true
    }

    fn census(&self) -> Result<Census, StoreError> {
        self.pod.read(|reader| reader.census())
    }

    fn decided_offline(&self) -> u64 {
        self.counts().offline
    }

    fn sync(&self) -> Result<(), StoreError> {
        match lock(&self.pod.offline).waiting() {
            0 => Ok(()),
            waiting => {
                let reason = self.pod.pool.down_reason().unwrap_or_default();
                Err(self
                    .pod
                    .unavailable(format!("{waiting} records wait to be written: {reason}")))
            }
        }
    }

    fn status(&self) -> StoreStatus {
        let pod = &*self.pod;
        let read: Result<(u64, Option<Vec<u8>>, u64), _> = pod.read(|reader| {
            let (seq, hash): (Option<u64>, Option<Vec<u8>>) = cmd("HMGET")
                .arg(&pod.keys.head)
                .arg(&["seq", "hash"])
                .query(reader.connection)?;
            let sessions = cmd("ZCARD")
                .arg(&pod.keys.sessions)
                .query(reader.connection)?;
            Ok((seq.unwrap_or(0), hash, sessions))
        });
        let head = *lock(&pod.head);
        let pending = u64::try_from(lock(&pod.offline).waiting()).unwrap_or(u64::MAX);
        let (degraded, (seq, hash, sessions)) = match read {
            Ok((seq, hash, sessions)) => {
                let hash = hash.and_then(|hash| commit::read_hash(&hash));
                let degraded = lock(&pod.restart_reason).clone().or_else(|| {
                    let is_full = pod.is_full_of_marks.load(Ordering::Relaxed);
                    let marks = pod.options.capacity.marks;
                    is_full.then(|| StoreError::TooManyMarks { marks }.to_string())
                });
                (degraded, (seq, hash.unwrap_or_default(), sessions))
            }
            Err(error) => {
                let degraded = format!("{error}; this pod decides on what it remembers");
                (Some(degraded), (head.seq, head.hash, 0))
            }
        };
        StoreStatus {
            kind: "redis",
            last_seq: seq,
            last_hash: hash,
            sessions,
            others: 0,
            pending,
            degraded,
        }
    }
}
