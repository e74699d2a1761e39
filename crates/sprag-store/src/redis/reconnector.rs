//! The keeper: one thread that connects, brings a pod back to Redis after an outage, and tidies up.
//!
//! After an outage the order is fixed: the kills that Redis does not have go first, then the
//! records of what was decided alone, and only then decisions go through Redis again.

use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use redis::{Connection, Pipeline, RedisResult, Value, cmd};
use sprag_core::{Policy, RULES_VERSION, Timestamp};

use super::commit::{CommitOutcome, CommitReply, CommitSize, commit_input, read_hash};
use super::log_reader::RedisReader;
use super::monotonic;
use super::offline_log::{OfflineLog, QueuedRecord};
use super::redis_pod::{RedisPod, SharedError, lock};
use super::reply::{list, number, text, unexpected_reply};
use super::script::{Script, ScriptInput};
use crate::capacity::after_eviction;
use crate::draft::ActivePolicy;
use crate::error::StoreError;
use crate::judge::Head;
use crate::random::secret;

/// How long connecting and each step of coming back may take.
const WAIT: Duration = Duration::from_secs(1);

/// Notes that are told at once.
const AT_ONCE: usize = 100;

/// The first and the longest rest between tries.
const FIRST_REST: Duration = Duration::from_millis(50);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// What a namespace tells whoever comes.
#[derive(Debug)]
pub(super) struct JoinReply {
    pub(super) secret: [u8; 32],
    pub(super) epoch: Vec<u8>,
    rules: u64,
    head: Head,
    note: u64,
    time: (u64, u64),
}

impl JoinReply {
    /// Greets the namespace, which is made with `ours` where it is new, and raises the fence.
    pub(super) fn request(
        connection: &mut Connection,
        head: &str,
        ours: &[u8],
        fence: Option<(String, [u64; 2])>,
    ) -> RedisResult<Self> {
        let mut input = ScriptInput {
            keys: vec![head.to_owned()],
            args: Vec::new(),
        };
        input.number(u64::from(RULES_VERSION));
        input.arg(ours);
        let epoch = secret().map_err(|_| unexpected_reply())?;
        input.arg(epoch.to_vec());
        if let Some((key, numbers)) = fence {
            input.keys.push(key);
            for number in numbers {
                input.number(number);
            }
        }
        let answer = Script::new(include_str!("join.lua")).run(connection, &input)?;
        Self::read(&answer).ok_or_else(unexpected_reply)
    }

    fn read(value: &Value) -> Option<Self> {
        let [seconds, micros, rules, secret, epoch, seq, hash, note] = list(value)? else {
            return None;
        };
        Some(Self {
            secret: text(secret)?.try_into().ok()?,
            epoch: text(epoch)?.to_vec(),
            rules: number(rules)?,
            head: Head {
                seq: number(seq)?,
                hash: read_hash(text(hash)?)?,
            },
            note: number(note)?,
            time: (number(seconds)?, number(micros)?),
        })
    }
}

impl RedisPod {
    /// Connects and greets; before this nobody may judge.
    pub(super) fn join(&self) -> Result<Connection, SharedError> {
        let mut connection = self.address.connect(&self.keys.head, WAIT)?;
        let sent = monotonic::now();
        let fence = Some(self.raised_fence());
        let joined = JoinReply::request(&mut connection, &self.keys.head, &self.secret, fence)?;
        self.time.observe(sent, joined.time.0, joined.time.1);
        if joined.rules > u64::from(RULES_VERSION) {
            let why = format!(
                "its sessions are judged under rules {}, this build knows {RULES_VERSION}; use a \
                 newer `sprag`",
                joined.rules
            );
            return Err(SharedError::Store(self.unavailable(why)));
        }
        *lock(&self.restart_reason) = (joined.secret != self.secret).then(|| {
            "the namespace was made anew under another secret: this pod sees other digests than \
             the rest, restart it"
                .to_owned()
        });
        let is_other = lock(&self.epoch).replace(joined.epoch.clone()) != Some(joined.epoch);
        let mut head = lock(&self.head);
        if is_other || joined.head.seq < head.seq {
            lock(&self.offline).lose_published();
        }
        *head = joined.head;
        drop(head);
        lock(&self.notes).latest = joined.note;
        lock(&self.saved_policies).clear();
        Ok(connection)
    }

    /// Brings the pod back to Redis.
    pub(super) fn rejoin(&self) -> Result<(), SharedError> {
        let mut connection = self.join()?;
        self.pool.set_returning(true);
        let published = self.publish_offline_log(&mut connection);
        let Ok(mut offline) = published else {
            self.pool.set_returning(false);
            return published.map(drop);
        };
        offline.end();
        self.pool.restore(vec![connection]);
        Ok(())
    }

    /// Gives Redis the kills and then the records of what was decided alone. Answers with the fork
    /// locked, and nothing left in it.
    fn publish_offline_log(
        &self,
        connection: &mut Connection,
    ) -> Result<MutexGuard<'_, OfflineLog>, SharedError> {
        self.restore_all_kills(connection)?;
        loop {
            let mut offline = lock(&self.offline);
            let mut waiting = offline.next(&self.options.pod, AT_ONCE);
            if waiting.is_empty() {
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

    /// Appends many notes with one round trip, each once: what was written although nobody heard of
    /// it is left out.
    fn publish_notes(
        &self,
        connection: &mut Connection,
        waiting: &mut Vec<QueuedRecord>,
    ) -> Result<(), SharedError> {
        let until = monotonic::now() + WAIT;
        connection.set_read_timeout(Some(WAIT))?;
        let unsure: Vec<_> = waiting.iter().flat_map(QueuedRecord::unsure).collect();
        let written = self.written(connection, &unsure)?;
        waiting.retain_mut(|one| one.resolve_sent(&written));
        let mut pipe = Pipeline::with_capacity(waiting.len());
        for one in waiting.iter_mut() {
            self.save_policy(connection, &one.policy, until)?;
            let digest = &one.policy.digest;
            let sealed = Head::default().note(one.at, digest, one.what.clone())?;
            let header = one.about_to_publish(self);
            let input = commit_input(self, header, "n", &sealed.body, CommitSize::default());
            pipe.add_command(self.commit.command(&input));
        }
        self.commit.load(connection)?;
        let answers: Vec<Value> = pipe.query(connection)?;
        for answer in &answers {
            match CommitReply::read(answer)?.outcome {
                CommitOutcome::Done { seq, hash, .. } => *lock(&self.head) = Head { seq, hash },
                CommitOutcome::Rules(found) => return Err(self.other_rules(found).into()),
                CommitOutcome::Stale(_) => return Err(SharedError::Contended),
                CommitOutcome::Fenced => return Err(SharedError::Forgotten),
            }
        }
        Ok(())
    }

    /// Every killed session that this pod knows must be killed in Redis.
    fn restore_all_kills(&self, connection: &mut Connection) -> Result<(), SharedError> {
        let made_offline = lock(&self.offline).kills();
        let mut known = self.cache.killed();
        known.extend(made_offline.iter().map(|lost| lost.session.clone()));
        RedisReader::new(self, connection).refresh(self, &known)?;
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

    /// A kill is judged alike under every policy.
    pub(super) fn any_policy(&self) -> ActivePolicy {
        ActivePolicy::new(Policy::default())
    }

    pub(super) fn now(&self) -> Timestamp {
        self.time.now().unwrap_or_default()
    }

    /// Works until the line is closed.
    pub(super) fn run_reconnector(&self) {
        let wanted = self.options.connections.max(1);
        let mut rest = FIRST_REST;
        loop {
            let is_up = self.pool.is_up();
            let pause = if is_up {
                rest = FIRST_REST;
                let complete = self.open_missing_connections(wanted);
                self.heartbeat();
                if !self
                    .line
                    .wait_for_work(LONGEST_REST, true, if complete { wanted } else { 0 })
                {
                    return;
                }
                continue;
            } else {
                match self.rejoin() {
                    Ok(()) => continue,
                    Err(error) => self.pool.set_down_reason(why(&self.store_error(error))),
                }
                let pause = rest;
                rest = (rest * 2).min(LONGEST_REST);
                pause
            };
            if !self.pool.wait_for_work(pause, false, 0) {
                return;
            }
        }
    }

    /// Opens the connections that are missing; false where that does not work.
    fn open_missing_connections(&self, wanted: usize) -> bool {
        for _ in 0..self.pool.missing(wanted) {
            match self.address.connect(&self.keys.head, WAIT) {
                Ok(connection) => self.pool.add(connection),
                Err(_) => return false,
            }
        }
        true
    }

    /// A pod that is not asked anything still hears of pauses and notices an outage; one of many
    /// forgets the longest idle sessions where there are too many.
    fn heartbeat(&self) {
        let read: Result<(Option<u64>, usize), StoreError> = self.read(|reader| {
            self.renew_fence(reader.connection)?;
            let note = cmd("HGET")
                .arg(&self.keys.head)
                .arg("note")
                .query(reader.connection)?;
            let sessions = cmd("ZCARD")
                .arg(&self.keys.sessions)
                .query(reader.connection)?;
            Ok((note, sessions))
        });
        let Ok((note, sessions)) = read else {
            return;
        };
        {
            let mut notes = lock(&self.notes);
            notes.latest = notes.latest.max(note.unwrap_or(0));
        }
        let limit = self.options.capacity.sessions;
        if sessions > limit {
            // What could not be forgotten now is looked at again in a second.
            let _ = self.forget_sessions(sessions - after_eviction(limit));
        }
    }
}

/// What is wrong with Redis, without where it is.
fn why(error: &StoreError) -> String {
    match error {
        StoreError::Redis { why, .. } => why.clone(),
        other => other.to_string(),
    }
}
