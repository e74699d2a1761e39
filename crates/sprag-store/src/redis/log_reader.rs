//! Reading the log in Redis: a stream whose ids are the numbers of the records.
//!
//! Redis has no index from a cell to its records. A pod that is asked for the records of one session or
//! flow reads the log once and keeps such an index in memory.

use std::collections::BTreeSet;

use redis::{Connection, Pipeline, RedisResult, Value, cmd};
use sprag_core::{CellKey, Id, Observed};

use super::commit::read_hash;
use super::fail_modes::agent_and_session;
use super::redis_pod::{RedisPod, SharedError, lock};
use super::reply::{list, text, unexpected_reply};
use crate::durability::Durability;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::log_index::NOTES;
use crate::query::{LogQuery, LogScope, Page, page_size};
use crate::record::{Record, RecordKind};
use crate::sharing::{cells_of, sharing};
use crate::view::RawRecord;

/// Records read at once.
pub(super) const CHUNK: usize = 500;

/// Which records touched which cell, as far as this pod has read the log.
#[derive(Debug, Default)]
pub(super) struct LogIndex {
    through: u64,
    /// Pairs of [`CellKey::index`] and the number of a record.
    places: BTreeSet<(u64, u64)>,
}

/// One record as the stream holds it.
#[derive(Debug, Clone)]
pub(super) struct LogEntry {
    pub(super) seq: u64,
    pub(super) body: Vec<u8>,
    pub(super) hash: Hash,
    /// The id of the commit that wrote it.
    pub(super) commit: Vec<u8>,
}

impl LogEntry {
    pub(super) fn raw(&self) -> RawRecord<'_> {
        RawRecord {
            seq: self.seq,
            body: &self.body,
            hash: self.hash,
        }
    }
}

/// Reads the log and the sessions over one connection.
pub(super) struct RedisReader<'a> {
    pub(super) pod: &'a RedisPod,
    pub(super) connection: &'a mut Connection,
}

fn read_rows(value: &Value) -> RedisResult<Vec<LogEntry>> {
    let rows = list(value).and_then(|rows| rows.iter().map(read_row).collect());
    rows.ok_or_else(unexpected_reply)
}

fn read_row(value: &Value) -> Option<LogEntry> {
    let [id, fields] = list(value)? else {
        return None;
    };
    let id = std::str::from_utf8(text(id)?).ok()?;
    let [_, body, _, hash, commit @ ..] = list(fields)? else {
        return None;
    };
    Some(LogEntry {
        seq: id.split('-').next()?.parse().ok()?,
        body: text(body)?.to_vec(),
        hash: read_hash(text(hash)?)?,
        commit: commit.last().and_then(text).unwrap_or_default().to_vec(),
    })
}

impl<'a> RedisReader<'a> {
    pub(super) fn new(pod: &'a RedisPod, connection: &'a mut Connection) -> Self {
        Self { pod, connection }
    }

    /// The records from `from` through `to`, at most `most`.
    pub(super) fn range(&mut self, from: u64, to: u64, most: usize) -> RedisResult<Vec<LogEntry>> {
        let value = cmd("XRANGE")
            .arg(&self.pod.keys.log)
            .arg(format!("{from}-0"))
            .arg(format!("{to}-0"))
            .arg("COUNT")
            .arg(most)
            .query(self.connection)?;
        read_rows(&value)
    }

    /// The numbers of the first and the last record in the log.
    pub(super) fn bounds(&mut self) -> RedisResult<(u64, u64)> {
        let first = self.range(0, u64::MAX, 1)?.first().map_or(1, |row| row.seq);
        let last: Option<u64> = cmd("HGET")
            .arg(&self.pod.keys.head)
            .arg("seq")
            .query(self.connection)?;
        Ok((first, last.unwrap_or(0)))
    }

    /// The hash of the record before `seq`, even if that one was pruned.
    pub(super) fn hash_before(&mut self, seq: u64) -> RedisResult<Hash> {
        let Some(before) = seq.checked_sub(1).filter(|before| *before > 0) else {
            return Ok(Hash::GENESIS);
        };
        if let Some(row) = self.range(before, before, 1)?.first() {
            return Ok(row.hash);
        }
        let hash: Option<Vec<u8>> = cmd("HGET")
            .arg(&self.pod.keys.base)
            .arg("hash")
            .query(self.connection)?;
        Ok(hash.and_then(|hash| read_hash(&hash)).unwrap_or_default())
    }

    /// The records with these numbers, in the order given. Those that were pruned are left out.
    pub(super) fn records(&mut self, seqs: &[u64]) -> Result<Vec<Record>, SharedError> {
        let mut pipe = Pipeline::with_capacity(seqs.len());
        for seq in seqs {
            pipe.cmd("XRANGE")
                .arg(&self.pod.keys.log)
                .arg(format!("{}-0", seq.saturating_sub(1)))
                .arg(format!("{seq}-0"));
        }
        if seqs.is_empty() {
            return Ok(Vec::new());
        }
        let values: Vec<Value> = pipe.query(self.connection)?;
        let mut records = Vec::with_capacity(seqs.len());
        for (seq, value) in seqs.iter().zip(&values) {
            let rows = read_rows(value)?;
            let Some(row) = rows.iter().find(|row| row.seq == *seq) else {
                continue;
            };
            let prev = match rows.iter().find(|row| row.seq + 1 == *seq) {
                Some(before) => before.hash,
                None => self.hash_before(*seq)?,
            };
            records.push(row.raw().read(prev)?);
        }
        Ok(records)
    }

    /// A page of records.
    pub(super) fn page(&mut self, query: &LogQuery) -> Result<Page<Record, u64>, SharedError> {
        let (first, last) = self.bounds()?;
        let size = page_size(query.limit);
        let (from, to) = if query.newest_first {
            let before = query.after.map_or(last, |after| after.saturating_sub(1));
            (first, before.min(last))
        } else {
            let from = query.after.map_or(first, |after| after.saturating_add(1));
            (from.max(first), last)
        };
        // One more than a page shows whether there is another.
        let mut seqs = self.chosen(&query.scope, from, to, query.newest_first, size + 1)?;
        let more = seqs.len() > size;
        seqs.truncate(size);
        let next = seqs.last().copied().filter(|_| more);
        let items = self.records(&seqs)?;
        self.cache_marks(&items)?;
        Ok(Page { items, next })
    }

    /// Caches the sessions that these records killed, blocked or reset. Another pod may have done it, and
    /// if Redis goes down next, it must hold here too.
    fn cache_marks(&mut self, records: &[Record]) -> Result<(), SharedError> {
        let mut ids = BTreeSet::new();
        for record in records {
            if let Some(observation) = record.observation()
                && Durability::of(observation, &record.verdict) == Durability::Durable
            {
                // What this pod decided itself is cached already.
                let ours = &self.pod.cache;
                let outdated = |id: &&Id| ours.is_older(id, record.seq);
                ids.extend(sessions_of(&observation.what).filter(outdated).cloned());
            }
        }
        self.refresh(&Vec::from_iter(ids))
    }

    fn chosen(
        &mut self,
        scope: &LogScope,
        from: u64,
        to: u64,
        newest_first: bool,
        most: usize,
    ) -> Result<Vec<u64>, SharedError> {
        if from > to {
            return Ok(Vec::new());
        }
        Ok(match scope {
            LogScope::All => take(from..=to, newest_first, most),
            LogScope::Notes => {
                let (command, start, end) = if newest_first {
                    ("ZREVRANGEBYSCORE", to, from)
                } else {
                    ("ZRANGEBYSCORE", from, to)
                };
                cmd(command)
                    .arg(&self.pod.keys.notes)
                    .arg(start)
                    .arg(end)
                    .arg("LIMIT")
                    .arg(0)
                    .arg(most)
                    .query(self.connection)?
            }
            LogScope::Session(id) => self.touching(
                &CellKey::Session(id.clone()),
                from,
                to,
                (newest_first, most),
            )?,
            LogScope::Flow(id) => {
                self.touching(&CellKey::Flow(id.clone()), from, to, (newest_first, most))?
            }
            LogScope::Sharing(id) | LogScope::Recorded(id) => {
                self.index(to)?;
                let seqs = self.sharing(id)?;
                take(seqs.range(from..=to).copied(), newest_first, most)
            }
        })
    }

    fn touching(
        &mut self,
        key: &CellKey,
        from: u64,
        to: u64,
        (newest_first, most): (bool, usize),
    ) -> Result<Vec<u64>, SharedError> {
        self.index(to)?;
        let place = key.index();
        let index = lock(&self.pod.index);
        let seqs = index.places.range((place, from)..=(place, to));
        Ok(take(seqs.map(|(_, seq)| *seq), newest_first, most))
    }

    fn sharing(&mut self, id: &Id) -> Result<BTreeSet<u64>, SharedError> {
        let pod = self.pod;
        let touching = |place: u64| {
            let index = lock(&pod.index);
            let seqs = index.places.range((place, 0)..=(place, u64::MAX));
            Ok(seqs.map(|(_, seq)| *seq).collect())
        };
        let mut failed = None;
        let record = |seq| {
            let mut read = self.records(&[seq]).map_err(|error| match error {
                SharedError::Store(error) => error,
                other => {
                    failed = Some(other);
                    pod.unavailable("the log can't be read")
                }
            })?;
            read.pop().ok_or_else(|| StoreError::Damaged {
                place: format!("record {seq}"),
                what: "it is missing".to_owned(),
            })
        };
        let found = sharing(id, touching, record, |_| Ok(true));
        match failed {
            Some(error) => Err(error),
            None => Ok(found?),
        }
    }

    /// Extends the index up to record `to`, and drops what was pruned.
    fn index(&mut self, to: u64) -> Result<(), SharedError> {
        let mut index = lock(&self.pod.index);
        let (oldest, last) = self.bounds()?;
        if last < index.through {
            // The log is shorter than it was: Redis lost some of it.
            *index = LogIndex::default();
        }
        index.places.retain(|(_, seq)| *seq >= oldest);
        while index.through < to {
            let from = index.through.saturating_add(1).max(oldest);
            let rows = self.range(from, to, CHUNK)?;
            let Some(last) = rows.last() else {
                break;
            };
            index.through = last.seq;
            for row in &rows {
                let record = row.raw().read(Hash::GENESIS)?;
                for place in places(&record) {
                    index.places.insert((place, row.seq));
                }
            }
        }
        Ok(())
    }
}

fn take(seqs: impl DoubleEndedIterator<Item = u64>, newest_first: bool, most: usize) -> Vec<u64> {
    if newest_first {
        seqs.rev().take(most).collect()
    } else {
        seqs.take(most).collect()
    }
}

/// The sessions that an event is about: its own, and the receiver of a message.
fn sessions_of(observed: &Observed) -> impl Iterator<Item = &Id> {
    let (_, session) = agent_and_session(observed);
    let peer = match observed {
        Observed::Message(message) => Some(&message.to),
        _ => None,
    };
    std::iter::once(session).chain(peer)
}

/// The index entries of a record: its sessions, and the cells it may have touched under any policy.
fn places(record: &Record) -> Vec<u64> {
    let observation = match &record.kind {
        RecordKind::Note(_) => return vec![NOTES],
        RecordKind::Event { observation, .. } => observation,
    };
    let sessions: Vec<CellKey> = sessions_of(&observation.what)
        .map(|id| CellKey::Session(id.clone()))
        .collect();
    // What a sub-agent spends counts for the sessions above it.
    let is_usage = matches!(observation.what, Observed::Usage(_));
    let cells = cells_of(observation);
    let others = cells.into_iter().filter(|key| match key {
        CellKey::Session(_) => is_usage && !sessions.contains(key),
        _ => true,
    });
    let others: Vec<CellKey> = others.collect();
    sessions.iter().chain(&others).map(CellKey::index).collect()
}
