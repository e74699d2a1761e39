//! Many processes that share one memory in Redis: a session killed by one is dead for all, and
//! windows count over all.
//!
//! Every rule stays in Rust. A pod judges an event on the cells it has at hand and sends what came of it
//! with the versions it judged on; one script compares and writes everything, the record included,
//! or sends the fresh cells back, and the pod judges again. Cells that nobody else changed cost one
//! round trip. Without Redis a pod goes on with what it has, says so, and brings Redis up to date
//! when it is back. `docs/redis.md` says what is promised.

mod alone;
mod attempt;
mod clock;
mod counts;
mod deciding;
mod eviction;
mod fail;
mod keeper;
mod keys;
mod line;
mod listing;
mod mono;
mod options;
mod place;
mod pod;
mod pruning;
mod reading;
mod reply;
mod script;
mod shelf;
mod short;
mod ticket;
mod value;
mod view;

use std::sync::Arc;
use std::thread::JoinHandle;

use redis::cmd;
use sprag_core::{DigestKey, Id, Timestamp};

pub use alone::Alone;
pub use counts::RedisCounts;
pub use options::{Fail, FailError, FailModes, OnAlone, RedisOptions};

use keeper::Hello;
use place::Place;
use pod::{Pod, lock};
use ticket::Identity;
use view::RedisView;

use crate::census::Census;
use crate::draft::Draft;
use crate::error::StoreError;
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::Note;
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, LogScope, Page, Session, SessionSummary};
use crate::random::secret;
use crate::record::Record;
use crate::store::{Store, StoreStatus};
use crate::view::LogView;

/// How long the first connection may take.
const FIRST_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// A store in Redis that many processes share.
#[derive(Debug)]
pub struct RedisStore {
    pod: Arc<Pod>,
    keeper: Option<JoinHandle<()>>,
}

impl RedisStore {
    /// Connects to Redis and joins the namespace; makes it where it is new.
    ///
    /// # Errors
    /// Where the address makes no sense, or Redis can't be reached: a pod that never saw the
    /// namespace can't judge for it.
    pub fn open(mut options: RedisOptions) -> Result<Self, StoreError> {
        let place = Place::parse(&options.url, options.ca.take())?;
        let keys = keys::Keys::new(&options.namespace);
        let away = |error: redis::RedisError| StoreError::Redis {
            place: place.shown(),
            why: reply::why(&error),
        };
        let mut connection = place.connect(&keys.head, FIRST_WAIT).map_err(away)?;
        let hello = Hello::say(&mut connection, &keys.head, &secret()?, None).map_err(away)?;
        drop(connection);
        // A process that starts again is another pod: its own records start at one.
        let [a, b, c, d, ..] = secret()?;
        let identity = Identity::new([a, b, c, d]);
        options.pod = format!("{} {}", options.pod, identity.digits());
        let pod = Arc::new(Pod::new(options, place, hello.secret, identity));
        pod.come_back().map_err(|trouble| pod.told(trouble))?;
        let keeper = {
            let pod = Arc::clone(&pod);
            let thread = std::thread::Builder::new().name("sprag redis".to_owned());
            thread.spawn(move || pod.keep())
        };
        let keeper = keeper.map_err(|error| pod.away(format!("no thread: {error}")))?;
        Ok(Self {
            pod,
            keeper: Some(keeper),
        })
    }

    /// What this pod counted since it started.
    #[must_use]
    pub fn counts(&self) -> RedisCounts {
        self.pod.counts.read()
    }

    /// The time as Redis tells it, so that pods whose clocks differ agree.
    #[must_use]
    pub fn now(&self) -> Option<Timestamp> {
        self.pod.time.now()
    }

    /// What this pod is called in the log.
    #[must_use]
    pub fn pod(&self) -> &str {
        &self.pod.options.pod
    }

    /// The last notes are asked for before every decision: as long as nobody wrote another, and
    /// while Redis is gone, what was read before is good enough.
    fn last_notes(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        let pod = &*self.pod;
        {
            let notes = lock(&pod.notes);
            if let Some((at, known, page)) = &notes.page
                && known == query
                && (*at >= notes.latest || !pod.line.is_up())
            {
                return Ok(page.clone());
            }
        }
        let latest = lock(&pod.notes).latest;
        let page = pod.read(|rows| rows.page(query))?;
        lock(&pod.notes).page = Some((latest, query.clone(), page.clone()));
        Ok(page)
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.pod.line.close();
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
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

    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError> {
        self.pod.read(|rows| rows.session(&self.pod, id))
    }

    fn agent_of(&self, id: &Id) -> Result<Option<Id>, StoreError> {
        if let Some(agent) = self.pod.shelf.agent_of(id) {
            return Ok(Some(agent));
        }
        if !self.pod.line.is_up() {
            return Ok(None);
        }
        let session = self.session(id)?;
        Ok(session.and_then(|session| session.summary.agent))
    }

    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
        self.pod.read(|rows| rows.sessions(&self.pod, query))
    }

    fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        if query.scope == LogScope::Notes && query.newest_first && query.after.is_none() {
            return self.last_notes(query);
        }
        self.pod.read(|rows| rows.page(query))
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, StoreError> {
        Ok(Box::new(RedisView::open(&self.pod)?))
    }

    fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, StoreError> {
        pruning::prune(&self.pod, prune)
    }

    fn digest_key(&self) -> DigestKey {
        self.pod.key.clone()
    }

    fn others_write(&self) -> bool {
        true
    }

    fn census(&self) -> Result<Census, StoreError> {
        self.pod.read(|rows| rows.census(&self.pod))
    }

    fn decided_alone(&self) -> u64 {
        self.counts().alone
    }

    fn sync(&self) -> Result<(), StoreError> {
        match lock(&self.pod.fork).waiting() {
            0 => Ok(()),
            waiting => {
                let trouble = self.pod.line.trouble().unwrap_or_default();
                Err(self
                    .pod
                    .away(format!("{waiting} records wait for it: {trouble}")))
            }
        }
    }

    fn status(&self) -> StoreStatus {
        let pod = &*self.pod;
        let read: Result<(u64, Option<Vec<u8>>, u64), _> = pod.read(|rows| {
            let (seq, hash): (Option<u64>, Option<Vec<u8>>) = cmd("HMGET")
                .arg(&pod.keys.head)
                .arg(&["seq", "hash"])
                .query(rows.connection)?;
            let sessions = cmd("ZCARD")
                .arg(&pod.keys.sessions)
                .query(rows.connection)?;
            Ok((seq.unwrap_or(0), hash, sessions))
        });
        let head = *lock(&pod.head);
        let pending = u64::try_from(lock(&pod.fork).waiting()).unwrap_or(u64::MAX);
        let (trouble, (seq, hash, sessions)) = match read {
            Ok((seq, hash, sessions)) => {
                let hash = hash.and_then(|hash| attempt::read_hash(&hash));
                let trouble = lock(&pod.stranded).clone();
                (trouble, (seq, hash.unwrap_or_default(), sessions))
            }
            Err(error) => {
                let trouble = format!("{error}; this pod goes on with what it remembers");
                (Some(trouble), (head.seq, head.hash, 0))
            }
        };
        StoreStatus {
            kind: "redis",
            last_seq: seq,
            last_hash: hash,
            sessions,
            others: 0,
            pending,
            degraded: trouble,
        }
    }
}
