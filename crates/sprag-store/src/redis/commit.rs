//! One attempt to commit: judge on the cached cells, then let `commit.lua` write the result if the
//! cells are still the same.
//!
//! Optimistic concurrency: no lock is held between reading and writing. If another pod changed a cell
//! meanwhile, nothing is written, and the event is judged again on the fresh cells.

use redis::{RedisResult, Value};
use sprag_core::{CellKey, CellKeys, Id, RULES_VERSION, Timestamp};

use super::cell_cache::{CachedVersion, CellCache, FreshCell, ReadSet};
use super::cell_value::{CellVersion, EncodedCell, life_from, write_cell, write_session};
use super::commit_id::CommitHeader;
use super::keys::RedisKeys;
use super::redis_pod::RedisPod;
use super::reply::{list, number, read_orders, text, unexpected_reply};
use super::script::ScriptInput;
use crate::cell_source::FoldResult;
use crate::draft::Draft;
use crate::durability::Durability;
use crate::encoded_record::{ChainHead, EncodedRecord};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::in_force::StandingOrders;
use crate::query::SessionState;
use crate::record::Record;

/// An event that was judged, and the script call that commits it.
#[derive(Debug)]
pub(super) struct CommitAttempt {
    folded: FoldResult,
    encoded: EncodedRecord,
    pub(super) durability: Durability,
    pub(super) fence: u64,
    pub(super) input: ScriptInput,
    /// What the keys after the fixed ones stand for, in order: a stale reply names them by position.
    slots: Vec<CellSlot>,
    /// The cells that are written, and whether their step memory is too.
    written: Vec<(CellKey, bool)>,
}

#[derive(Debug)]
enum CellSlot {
    Cell(CellKey),
    Memory(Id),
}

/// What became of a commit.
#[derive(Debug)]
pub(super) enum CommitOutcome {
    /// It was written as record `seq`.
    Done { seq: u64, prev: Hash, hash: Hash },
    /// Some cells have changed: the position of each, and its present value. Nothing was written.
    Stale(Vec<(usize, Option<Vec<u8>>)>),
    /// Another rules version is in force in this namespace. Nothing was written.
    Rules(u64),
    /// The fence is not the expected one: this pod reconnected since, or Redis lost its fence. Nothing was
    /// written.
    Fenced,
}

/// The reply of `commit.lua`: the outcome, and what every reply carries.
#[derive(Debug)]
pub(super) struct CommitReply {
    pub(super) outcome: CommitOutcome,
    pub(super) seconds: u64,
    pub(super) micros: u64,
    /// The number of the last note in the log, and the standing orders as of then.
    pub(super) note: u64,
    pub(super) orders: StandingOrders,
}

/// The keys and arguments that every commit starts with, in the order that `commit.lua` expects.
pub(super) fn commit_input(
    pod: &RedisPod,
    header: CommitHeader,
    kind: &str,
    body: &[u8],
    size: CommitSize,
) -> ScriptInput {
    let mut keys = pod.keys.shared();
    keys.push(pod.fence.clone());
    let mut input = ScriptInput {
        keys,
        args: Vec::with_capacity(7 + 3 * (size.sessions + size.cells)),
    };
    input.number(u64::from(RULES_VERSION));
    input.arg(kind);
    input.arg(body);
    input.arg(size.cells.to_string());
    input.arg(size.sessions.to_string());
    input.number(header.fence);
    input.arg(header.id.0);
    input
}

/// A commit that appends a note and changes no cell.
pub(super) fn note_input(
    pod: &RedisPod,
    header: CommitHeader,
    note: &EncodedRecord,
) -> ScriptInput {
    let mut input = commit_input(pod, header, "n", &note.body, CommitSize::default());
    if let Some((field, value)) = note.record.puts_in_force() {
        input.arg(field);
        input.arg(value);
    }
    input
}

/// How many cells and sessions follow in a commit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommitSize {
    pub(super) cells: usize,
    pub(super) sessions: usize,
}

impl CommitAttempt {
    /// Judges `draft` on the cached cells and prepares the commit.
    pub(super) fn prepare(
        pod: &RedisPod,
        mut draft: Draft,
        header: CommitHeader,
    ) -> Result<Self, StoreError> {
        let read_set = ReadSet::over(&pod.cache);
        let folded = FoldResult::decide(&read_set, &mut draft)?;
        let durability = Durability::of(&draft.observation, &folded.verdict);
        // Redis assigns the number and the hashes: only the script knows which record comes before.
        let encoded = ChainHead::default().event(draft, folded.verdict.clone());
        let mut attempt = Self {
            folded,
            encoded,
            durability,
            fence: header.fence,
            input: ScriptInput::default(),
            slots: Vec::new(),
            written: Vec::new(),
        };
        attempt.write(pod, header, &read_set.versions());
        Ok(attempt)
    }

    fn write(
        &mut self,
        pod: &RedisPod,
        header: CommitHeader,
        versions: &[(CellKey, CachedVersion)],
    ) {
        let (cache, keys, now) = (&pod.cache, &pod.keys, pod.now());
        let touched: Vec<CellKey> = CellKey::all(&self.folded.keys).collect();
        let CellKeys {
            session,
            peer,
            above,
            ..
        } = &self.folded.keys;
        let sessions: Vec<Id> = session.iter().chain(peer).chain(above).cloned().collect();
        let parts = |key: &CellKey| match key {
            CellKey::Session(_) => 2,
            _ => 1,
        };
        let cells = versions.iter().map(|(key, _)| parts(key)).sum();
        let size = CommitSize {
            cells,
            sessions: sessions.len(),
        };
        self.input = commit_input(pod, header, "e", &self.encoded.body, size);
        // First the index entries of the sessions that the event touched.
        for id in &sessions {
            let summary = self.folded.state.session_summary(id);
            let (touched, state) = summary.map_or((0, SessionState::Active), |summary| {
                (summary.touched.0, summary.state)
            });
            self.input.number(touched);
            self.input.arg(id.as_str());
            // Only a change is written. The comparison of versions proves that the cached state is the
            // present one.
            let is_new = cache.state_of(id) != state;
            self.input.arg(if is_new { state.as_str() } else { "" });
        }
        // Then every cell that was read, whether it is written or not: the verdict depends on all.
        for (key, cached) in versions {
            let is_touched = touched.contains(key);
            match key {
                CellKey::Session(id) => self.session(cache, keys, id, *cached, (is_touched, now)),
                _ => self.cell(cache, keys, key, cached.version, (is_touched, now)),
            }
        }
    }

    fn session(
        &mut self,
        cache: &CellCache,
        keys: &RedisKeys,
        id: &Id,
        cached: CachedVersion,
        (is_touched, now): (bool, Timestamp),
    ) {
        let key = CellKey::Session(id.clone());
        let state = &self.folded.state;
        let at = state.cells.touched(&key).unwrap_or_default();
        let [mut hot, mut memory] = <[EncodedCell; 2]>::default();
        if is_touched {
            let memory_changed = !cache.has_memory(id, state);
            [hot, memory] = write_session(id, state, memory_changed);
            self.written.push((key.clone(), memory_changed));
        }
        self.slot(keys, CellSlot::Cell(key), cached.version, &hot, (at, now));
        self.slot(
            keys,
            CellSlot::Memory(id.clone()),
            cached.memory,
            &memory,
            (at, now),
        );
    }

    fn cell(
        &mut self,
        cache: &CellCache,
        keys: &RedisKeys,
        key: &CellKey,
        version: CellVersion,
        (is_touched, now): (bool, Timestamp),
    ) {
        let state = &self.folded.state;
        let at = state.cells.touched(key).unwrap_or_default();
        let mut cell = EncodedCell::default();
        if is_touched && !cache.has_same(key, state) {
            cell = write_cell(key, &state.cells);
            self.written.push((key.clone(), false));
        }
        self.slot(keys, CellSlot::Cell(key.clone()), version, &cell, (at, now));
    }

    fn slot(
        &mut self,
        keys: &RedisKeys,
        slot: CellSlot,
        expected: CellVersion,
        cell: &EncodedCell,
        (touched, now): (Timestamp, Timestamp),
    ) {
        self.input.keys.push(match &slot {
            CellSlot::Cell(key) => keys.cell(key),
            CellSlot::Memory(id) => keys.memory(id),
        });
        self.input.arg(expected.expected());
        self.input.number(life_from(cell.life, touched, now));
        self.input.arg(cell.bytes.as_slice());
        self.slots.push(slot);
    }

    /// The commit was written: caches its cells and returns its record.
    pub(super) fn done(self, cache: &CellCache, seq: u64, prev: Hash, hash: Hash) -> Record {
        let version = CellVersion::of(seq, hash_text(&hash).as_bytes());
        cache.keep(self.folded.state, &self.written, version);
        Record {
            seq,
            prev,
            hash,
            ..self.encoded.record
        }
    }

    /// Puts the fresh cells of a stale reply into the cache.
    pub(super) fn refresh(
        &self,
        cache: &CellCache,
        fresh: &[(usize, Option<Vec<u8>>)],
    ) -> Result<(), StoreError> {
        for (at, value) in fresh {
            let value = value.as_deref();
            match self.slots.get(*at) {
                Some(CellSlot::Cell(key)) => cache.refresh(&FreshCell::Cell(key, value))?,
                Some(CellSlot::Memory(id)) => cache.refresh(&FreshCell::Memory(id, value))?,
                None => {}
            }
        }
        Ok(())
    }
}

/// A hash as the script writes it: SHA-1 in hex fills the first 40 digits of ours.
pub(super) fn hash_text(hash: &Hash) -> String {
    let mut text = hash.to_string();
    text.truncate(40);
    text
}

/// Reads a hash from the 40 digits of the script; no digits are the hash before the first record.
pub(super) fn read_hash(digits: &[u8]) -> Option<Hash> {
    Hash::from_hex(&format!("{:0<64}", std::str::from_utf8(digits).ok()?))
}

impl CommitReply {
    /// Reads the reply of the script.
    pub(super) fn read(value: &Value) -> RedisResult<Self> {
        Self::parse(value).ok_or_else(unexpected_reply)
    }

    fn parse(value: &Value) -> Option<Self> {
        let [word, seconds, micros, note, orders, rest @ ..] = list(value)? else {
            return None;
        };
        let outcome = match (text(word)?, rest) {
            (b"done", [seq, prev, hash]) => CommitOutcome::Done {
                seq: number(seq)?,
                prev: read_hash(text(prev)?)?,
                hash: read_hash(text(hash)?)?,
            },
            (b"stale", [fresh]) => {
                let pairs = list(fresh)?.chunks_exact(2).map(|pair| match pair {
                    [at, value] => {
                        let at = usize::try_from(number(at)?.checked_sub(1)?).ok()?;
                        Some((at, text(value).map(<[u8]>::to_vec)))
                    }
                    _ => None,
                });
                CommitOutcome::Stale(pairs.collect::<Option<_>>()?)
            }
            (b"fenced", []) => CommitOutcome::Fenced,
            (b"rules", [rules]) => CommitOutcome::Rules(number(rules).unwrap_or(0)),
            _ => return None,
        };
        Some(Self {
            outcome,
            seconds: number(seconds)?,
            micros: number(micros)?,
            note: number(note)?,
            orders: read_orders(orders)?,
        })
    }
}
