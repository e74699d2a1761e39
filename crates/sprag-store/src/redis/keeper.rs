//! The keeper: one thread that connects, brings a pod back to Redis after an outage, and tidies up.
//!
//! After an outage the order is fixed: the kills that Redis does not have go first, then the
//! records of what was decided alone, and only then decisions go through Redis again.

use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use redis::{Connection, Pipeline, RedisResult, Value, cmd};
use sprag_core::{Policy, RULES_VERSION, Timestamp};

use super::alone::{Fork, Waiting};
use super::attempt::{Answer, Heard, Size, read_hash, start};
use super::mono;
use super::pod::{Pod, Trouble, lock};
use super::reading::Rows;
use super::reply::{list, number, odd, text};
use super::script::{Input, Script};
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
pub(super) struct Hello {
    pub(super) secret: [u8; 32],
    pub(super) epoch: Vec<u8>,
    rules: u64,
    head: Head,
    note: u64,
    time: (u64, u64),
}

impl Hello {
    /// Greets the namespace, which is made with `ours` where it is new, and raises the fence.
    pub(super) fn say(
        connection: &mut Connection,
        head: &str,
        ours: &[u8],
        fence: Option<(String, [u64; 2])>,
    ) -> RedisResult<Self> {
        let mut input = Input {
            keys: vec![head.to_owned()],
            args: Vec::new(),
        };
        input.number(u64::from(RULES_VERSION));
        input.arg(ours);
        let epoch = secret().map_err(|_| odd())?;
        input.arg(epoch.to_vec());
        if let Some((key, numbers)) = fence {
            input.keys.push(key);
            for number in numbers {
                input.number(number);
            }
        }
        let answer = Script::new(include_str!("hello.lua")).run(connection, &input)?;
        Self::read(&answer).ok_or_else(odd)
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

impl Pod {
    /// Connects and greets; before this nobody may judge.
    pub(super) fn greet(&self) -> Result<Connection, Trouble> {
        let mut connection = self.place.connect(&self.keys.head, WAIT)?;
        let sent = mono::now();
        let fence = Some(self.raised_fence());
        let hello = Hello::say(&mut connection, &self.keys.head, &self.secret, fence)?;
        self.time.hear(sent, hello.time.0, hello.time.1);
        if hello.rules > u64::from(RULES_VERSION) {
            let why = format!(
                "its sessions are judged under rules {}, this build knows {RULES_VERSION}; use a \
                 newer `sprag`",
                hello.rules
            );
            return Err(Trouble::Store(self.away(why)));
        }
        *lock(&self.stranded) = (hello.secret != self.secret).then(|| {
            "the namespace was made anew under another secret: this pod sees other digests than \
             the rest, restart it"
                .to_owned()
        });
        let is_other = lock(&self.epoch).replace(hello.epoch.clone()) != Some(hello.epoch);
        let mut head = lock(&self.head);
        if is_other || hello.head.seq < head.seq {
            lock(&self.fork).lose_what_was_told();
        }
        *head = hello.head;
        drop(head);
        lock(&self.notes).latest = hello.note;
        lock(&self.learned).clear();
        Ok(connection)
    }

    /// Brings the pod back to Redis.
    pub(super) fn come_back(&self) -> Result<(), Trouble> {
        let mut connection = self.greet()?;
        self.line.set_returning(true);
        let told = self.tell_all(&mut connection);
        let Ok(mut fork) = told else {
            self.line.set_returning(false);
            return told.map(drop);
        };
        fork.end();
        self.line.up(vec![connection]);
        Ok(())
    }

    /// Gives Redis the kills and then the records of what was decided alone. Answers with the fork
    /// locked, and nothing left in it.
    fn tell_all(&self, connection: &mut Connection) -> Result<MutexGuard<'_, Fork>, Trouble> {
        self.restore_all_kills(connection)?;
        loop {
            let mut fork = lock(&self.fork);
            let mut waiting = fork.next(&self.options.pod, AT_ONCE);
            if waiting.is_empty() {
                let kills = fork.kills();
                if kills.iter().all(|one| self.shelf.is_killed(&one.session)) {
                    return Ok(fork);
                }
            }
            drop(fork);
            if waiting.is_empty() {
                self.restore_all_kills(connection)?;
            } else if let Err(trouble) = self.tell(connection, &mut waiting) {
                lock(&self.fork).put_back(waiting);
                return Err(trouble);
            }
        }
    }

    /// Appends many notes with one round trip, each once: what was written although nobody heard of
    /// it is left out.
    fn tell(&self, connection: &mut Connection, waiting: &mut Vec<Waiting>) -> Result<(), Trouble> {
        let until = mono::now() + WAIT;
        connection.set_read_timeout(Some(WAIT))?;
        let unsure: Vec<_> = waiting.iter().flat_map(Waiting::unsure).collect();
        let written = self.written(connection, &unsure)?;
        waiting.retain_mut(|one| one.settle(&written));
        let mut pipe = Pipeline::with_capacity(waiting.len());
        for one in waiting.iter_mut() {
            self.learn(connection, &one.policy, until)?;
            let digest = &one.policy.digest;
            let sealed = Head::default().note(one.at, digest, one.what.clone())?;
            let stamp = one.about_to_tell(self);
            let input = start(self, stamp, "n", &sealed.body, Size::default());
            pipe.add_command(self.commit.command(&input));
        }
        self.commit.load(connection)?;
        let answers: Vec<Value> = pipe.query(connection)?;
        for answer in &answers {
            match Heard::read(answer)?.answer {
                Answer::Done { seq, hash, .. } => *lock(&self.head) = Head { seq, hash },
                Answer::Rules(found) => return Err(self.other_rules(found).into()),
                Answer::Stale(_) => return Err(Trouble::Contended),
                Answer::Fenced => return Err(Trouble::Unknown),
            }
        }
        Ok(())
    }

    /// Every killed session that this pod knows must be killed in Redis.
    fn restore_all_kills(&self, connection: &mut Connection) -> Result<(), Trouble> {
        let made_alone = lock(&self.fork).kills();
        let mut known = self.shelf.killed();
        known.extend(made_alone.iter().map(|lost| lost.session.clone()));
        Rows::new(self, connection).refresh(self, &known)?;
        let missing = made_alone
            .into_iter()
            .filter(|lost| !self.shelf.is_killed(&lost.session));
        let policy = Arc::new(self.any_policy());
        for lost in self.shelf.lost().into_iter().chain(missing) {
            if !self.shelf.is_killed(&lost.session) {
                let until = mono::now() + WAIT;
                self.kill_again(connection, &lost, &policy, self.now(), until)?;
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
    pub(super) fn keep(&self) {
        let wanted = self.options.connections.max(1);
        let mut rest = FIRST_REST;
        loop {
            let is_up = self.line.is_up();
            let pause = if is_up {
                rest = FIRST_REST;
                let complete = self.fill(wanted);
                self.tidy();
                if !self
                    .line
                    .rest(LONGEST_REST, true, if complete { wanted } else { 0 })
                {
                    return;
                }
                continue;
            } else {
                match self.come_back() {
                    Ok(()) => continue,
                    Err(trouble) => self.line.still_down(why(&self.told(trouble))),
                }
                let pause = rest;
                rest = (rest * 2).min(LONGEST_REST);
                pause
            };
            if !self.line.rest(pause, false, 0) {
                return;
            }
        }
    }

    /// Opens the connections that are missing; false where that does not work.
    fn fill(&self, wanted: usize) -> bool {
        for _ in 0..self.line.missing(wanted) {
            match self.place.connect(&self.keys.head, WAIT) {
                Ok(connection) => self.line.add(connection),
                Err(_) => return false,
            }
        }
        true
    }

    /// A pod that is not asked anything still hears of pauses and notices an outage; one of many
    /// forgets the longest idle sessions where there are too many.
    fn tidy(&self) {
        let heard: Result<(Option<u64>, usize), StoreError> = self.read(|rows| {
            self.renew_fence(rows.connection)?;
            let note = cmd("HGET")
                .arg(&self.keys.head)
                .arg("note")
                .query(rows.connection)?;
            let sessions = cmd("ZCARD")
                .arg(&self.keys.sessions)
                .query(rows.connection)?;
            Ok((note, sessions))
        });
        let Ok((note, sessions)) = heard else {
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
