//! One process among many that share a namespace: what it has at hand and how it decides.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::{Connection, RedisError, cmd};
use sprag_core::{DigestKey, RULES_VERSION, Timestamp};

use super::alone::Fork;
use super::attempt::{Answer, Heard, Size, start};
use super::clock::RedisTime;
use super::counts::{Counting, count};
use super::keys::Keys;
use super::line::{Lent, Line};
use super::mono;
use super::options::RedisOptions;
use super::place::Place;
use super::reading::{LogIndex, Rows};
use super::reply::why;
use super::script::{Input, Script};
use super::shelf::Shelf;
use super::ticket::Identity;
use crate::draft::ActivePolicy;
use crate::error::StoreError;
use crate::judge::Head;
use crate::note::Noted;
use crate::record::Record;

/// How long reading for people may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sessions of this pod that take turns: more than anyone has threads.
const TURNS: usize = 64;

/// What a pod says that Redis lost.
pub(super) const UNKNOWN: &str = "it does not know this pod any more";

/// What a pod says of a connection that it must not use any more.
pub(super) const OUTDATED: &str = "the connection is from before an outage";

/// Why Redis did not decide.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The event is wrong, or what is stored is.
    Store(StoreError),
    /// The connection or the server failed.
    Redis(RedisError),
    /// The time was up.
    Slow,
    /// Others were faster, again and again.
    Contended,
    /// Redis does not know this pod any more.
    Unknown,
    /// The connection is from before an outage: only a newer one may be used.
    Outdated,
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<RedisError> for Trouble {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

/// One process.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) options: RedisOptions,
    pub(super) place: Place,
    pub(super) keys: Keys,
    pub(super) identity: Identity,
    /// Where this pod's fence is.
    pub(super) fence: String,
    pub(super) commit: Script,
    pub(super) line: Line,
    pub(super) shelf: Shelf,
    pub(super) fork: Mutex<Fork>,
    pub(super) time: RedisTime,
    pub(super) counts: Counting,
    pub(super) notes: Mutex<Notes>,
    pub(super) index: Mutex<LogIndex>,
    /// The policies whose text Redis has.
    pub(super) learned: Mutex<HashSet<String>>,
    pub(super) head: Mutex<Head>,
    pub(super) key: DigestKey,
    pub(super) secret: [u8; 32],
    /// Which making of the namespace this pod knows.
    pub(super) epoch: Mutex<Option<Vec<u8>>>,
    /// Why this pod must be restarted, where it must.
    pub(super) stranded: Mutex<Option<String>>,
    pub(super) turns: Vec<Mutex<()>>,
}

/// The last notes, as long as nobody wrote another.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) latest: u64,
    pub(super) page: Option<(u64, crate::query::LogQuery, crate::query::Page<Record, u64>)>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pod {
    pub(super) fn new(
        options: RedisOptions,
        place: Place,
        secret: [u8; 32],
        identity: Identity,
    ) -> Self {
        let keys = Keys::new(&options.namespace);
        Self {
            fence: keys.fence(&identity.digits()),
            identity,
            keys,
            commit: Script::new(include_str!("commit.lua")),
            line: Line::default(),
            shelf: Shelf::new(options.capacity.sessions),
            fork: Mutex::default(),
            time: RedisTime::default(),
            counts: Counting::default(),
            notes: Mutex::default(),
            index: Mutex::default(),
            learned: Mutex::default(),
            head: Mutex::default(),
            key: DigestKey::new(&secret),
            secret,
            epoch: Mutex::default(),
            stranded: Mutex::default(),
            turns: (0..TURNS).map(|_| Mutex::default()).collect(),
            place,
            options,
        }
    }

    pub(super) fn away(&self, why: impl Into<String>) -> StoreError {
        StoreError::Redis {
            place: self.place.shown(),
            why: why.into(),
        }
    }

    /// Puts away a connection that failed, and the whole line where the server did.
    pub(super) fn broken(&self, lent: Lent, error: &RedisError) {
        if error.is_connection_dropped() {
            self.line.drop_one(lent, &why(error));
        } else {
            self.line.fail(lent, &why(error));
        }
        if !self.line.is_up() {
            count(&self.counts.outages);
        }
    }

    pub(super) fn other_rules(&self, found: u64) -> StoreError {
        self.away(format!(
            "its sessions are judged under rules {found}, this build knows {RULES_VERSION}; use \
             the same `sprag` everywhere"
        ))
    }

    /// Runs the commit and hears what it tells.
    pub(super) fn run(
        &self,
        connection: &mut Connection,
        input: &Input,
        until: Instant,
    ) -> Result<Heard, Trouble> {
        let sent = mono::now();
        let Some(left) = until
            .checked_duration_since(sent)
            .filter(|left| !left.is_zero())
        else {
            return Err(Trouble::Slow);
        };
        connection.set_read_timeout(Some(left))?;
        connection.set_write_timeout(Some(left))?;
        count(&self.counts.round_trips);
        let heard = Heard::read(&self.commit.run(connection, input)?)?;
        self.time.hear(sent, heard.seconds, heard.micros);
        let mut notes = lock(&self.notes);
        notes.latest = heard.note;
        Ok(heard)
    }

    /// The same for what is not urgent.
    pub(super) fn run_patiently(
        &self,
        connection: &mut Connection,
        input: &Input,
    ) -> Result<Answer, Trouble> {
        Ok(self.run(connection, input, mono::now() + PATIENCE)?.answer)
    }

    /// Tells Redis the text of a policy, once.
    pub(super) fn learn(
        &self,
        connection: &mut Connection,
        policy: &ActivePolicy,
        until: Instant,
    ) -> Result<(), Trouble> {
        if lock(&self.learned).contains(&policy.digest) {
            return Ok(());
        }
        let left = until.checked_duration_since(mono::now());
        let left = left.filter(|left| !left.is_zero()).ok_or(Trouble::Slow)?;
        connection.set_read_timeout(Some(left))?;
        cmd("HSETNX")
            .arg(&self.keys.policies)
            .arg(&policy.digest)
            .arg(&policy.text)
            .exec(connection)?;
        lock(&self.learned).insert(policy.digest.clone());
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
    ) -> Result<Record, Trouble> {
        self.learn(connection, policy, until)?;
        let sealed = Head::default().note(at, &policy.digest, what)?;
        let input = start(self, self.stamp(), "n", &sealed.body, Size::default());
        match self.run(connection, &input, until)?.answer {
            Answer::Done { seq, prev, hash } => {
                *lock(&self.head) = Head { seq, hash };
                Ok(Record {
                    seq,
                    prev,
                    hash,
                    ..sealed.record
                })
            }
            Answer::Rules(found) => Err(self.other_rules(found).into()),
            Answer::Stale(_) => Err(Trouble::Contended),
            Answer::Fenced => Err(Trouble::Unknown),
        }
    }

    /// The same for those who ask.
    pub(super) fn told(&self, trouble: Trouble) -> StoreError {
        match trouble {
            Trouble::Store(error) => error,
            Trouble::Redis(error) => self.away(why(&error)),
            Trouble::Slow => self.away("no answer in time"),
            Trouble::Contended => self.away("others were faster"),
            Trouble::Unknown => self.away(UNKNOWN),
            Trouble::Outdated => self.away(OUTDATED),
        }
    }

    /// Does something for which there is time.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&mut Rows<'_>) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let until = mono::now() + PATIENCE;
        let Some(mut lent) = self.line.take(until) else {
            let trouble = self.line.trouble();
            return Err(self.away(trouble.unwrap_or_else(|| "all connections are busy".to_owned())));
        };
        let ready = lent.connection.set_read_timeout(Some(PATIENCE));
        let mut rows = Rows::new(self, &mut lent.connection);
        match ready.map_err(Trouble::from).and_then(|()| read(&mut rows)) {
            Err(Trouble::Redis(error)) => {
                let why = why(&error);
                if error.is_io_error() || error.redirect_node().is_some() {
                    self.broken(lent, &error);
                } else {
                    self.line.give_back(lent);
                }
                Err(self.away(why))
            }
            done => {
                self.line.give_back(lent);
                if matches!(done, Err(Trouble::Unknown)) && self.line.interrupt(UNKNOWN) {
                    count(&self.counts.outages);
                }
                done.map_err(|trouble| self.told(trouble))
            }
        }
    }

    /// Appends a note, or keeps it until Redis is back.
    pub(super) fn note(&self, note: crate::note::Note) -> Result<Record, StoreError> {
        note.check()?;
        {
            let mut fork = lock(&self.fork);
            if !self.line.is_up() {
                return fork.note(note);
            }
        }
        let until = mono::now() + PATIENCE;
        self.read(|rows| {
            let what = note.what.clone();
            self.note_on(rows.connection, note.at, &note.policy, what, until)
        })
    }
}
