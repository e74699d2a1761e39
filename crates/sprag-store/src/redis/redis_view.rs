//! The log in Redis up to the record that was the last when the view was opened: for verify, replay and
//! archive, which read all of it.

use std::ops::ControlFlow;

use redis::{Value, cmd};
use sprag_core::{CellKey, CellMap, Id, Timestamp};

use super::cell_value::{CellVersion, read_memory, read_session, reads_as_new_after};
use super::commit::{hash_text, read_hash};
use super::log_reader::{CHUNK, RedisReader};
use super::redis_pod::{RedisPod, SharedError};
use super::reply::text;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::pack::unpack_cell;
use crate::store_state::StoreState;
use crate::view::{Base, Checkpoint, LogView, RawRecord, WrittenCells};

/// The log up to one record.
#[derive(Debug)]
pub(super) struct RedisView<'a> {
    pod: &'a RedisPod,
    last: u64,
    at: Timestamp,
}

/// The hash of a record as `commit.lua` computes it. Redis offers scripts no better hash than SHA-1.
pub(super) fn link(prev: &Hash, seq: u64, body: &[u8]) -> Hash {
    let mut sha1 = sha1_smol::Sha1::new();
    if *prev != Hash::GENESIS {
        sha1.update(hash_text(prev).as_bytes());
    }
    sha1.update(&seq.to_be_bytes());
    sha1.update(body);
    read_hash(sha1.digest().to_string().as_bytes()).unwrap_or_default()
}

impl<'a> RedisView<'a> {
    pub(super) fn open(pod: &'a RedisPod) -> Result<Self, StoreError> {
        let (_, last) = pod.read(|reader| Ok(reader.bounds()?))?;
        let at = pod.time.now().unwrap_or_default();
        Ok(Self { pod, last, at })
    }

    /// Compares some cells with what the log makes of them. Returns the first that differs.
    fn compare(
        &self,
        reader: &mut RedisReader<'_>,
        keys: &[CellKey],
        folded: &CellMap,
    ) -> Result<Option<CellKey>, SharedError> {
        let mut command = cmd("MGET");
        for key in keys {
            command.arg(self.pod.keys.cell(key));
            // Two keys for each cell, so that all replies look alike. Only sessions use the second.
            match key {
                CellKey::Session(id) => command.arg(self.pod.keys.memory(id)),
                _ => command.arg(&self.pod.keys.base),
            };
        }
        let values: Vec<Value> = command.query(reader.connection)?;
        for (key, pair) in keys.iter().zip(values.chunks(2)) {
            let parts: Vec<_> = pair
                .iter()
                .map(|value| text(value).and_then(CellVersion::split))
                .collect();
            if !self.is_same(key, &parts, folded)? {
                return Ok(Some(key.clone()));
            }
        }
        Ok(None)
    }

    fn is_same(
        &self,
        key: &CellKey,
        parts: &[Option<(CellVersion, &[u8])>],
        folded: &CellMap,
    ) -> Result<bool, StoreError> {
        let [Some((version, bytes)), memory, ..] = parts else {
            return Ok(self.reads_as_new(key, folded));
        };
        // It was changed after this view was opened.
        if version.seq() > self.last {
            return Ok(true);
        }
        let mut state = StoreState::default();
        match key {
            CellKey::Session(id) => {
                read_session(id, bytes, &mut state)?;
                if let (Some((_, memory)), Some(cell)) = (memory, state.cells.sessions.get_mut(id))
                {
                    cell.put_memory(read_memory(id, memory)?);
                }
            }
            _ => unpack_cell(&mut state.cells, key.clone(), bytes)?,
        }
        Ok(state.cells.same_one(folded, key))
    }

    /// Whether Redis may have dropped this cell: only one that reads as new may be missing.
    fn reads_as_new(&self, key: &CellKey, folded: &CellMap) -> bool {
        let is_forgettable = match key {
            CellKey::Session(id) => folded
                .session(id.as_str())
                .is_some_and(sprag_core::SessionCell::is_forgettable),
            _ => true,
        };
        let touched = folded.touched(key).unwrap_or_default();
        is_forgettable && reads_as_new_after(key).is_some_and(|life| self.at.since(touched) >= life)
    }
}

impl LogView for RedisView<'_> {
    fn base(&self) -> Result<Base, StoreError> {
        let fields: Vec<(Vec<u8>, Vec<u8>)> = self.pod.read(|reader| {
            Ok(cmd("HGETALL")
                .arg(&self.pod.keys.base)
                .query(reader.connection)?)
        })?;
        let mut base = Base::default();
        for (field, value) in fields {
            let field = String::from_utf8_lossy(&field).into_owned();
            match field.as_str() {
                "after" => {
                    let text = String::from_utf8_lossy(&value);
                    base.after = text.parse().unwrap_or(0);
                }
                "hash" => base.hash = read_hash(&value).unwrap_or_default(),
                _ => {
                    let key = field
                        .split_once(':')
                        .and_then(|(kind, name)| CellKey::parse(kind.parse().ok()?, name));
                    let key = key.ok_or_else(|| StoreError::Damaged {
                        place: format!("cell {field} in the base of the log"),
                        what: "it has no known kind".to_owned(),
                    })?;
                    unpack_cell(&mut base.cells, key, &value)?;
                }
            }
        }
        Ok(base)
    }

    fn scan(
        &self,
        after: u64,
        visit: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut from = after.saturating_add(1);
        while from <= self.last {
            let rows = self
                .pod
                .read(|reader| Ok(reader.range(from, self.last, CHUNK)?))?;
            let Some(last) = rows.last() else {
                return Ok(());
            };
            from = last.seq.saturating_add(1);
            for row in &rows {
                if visit(row.raw()).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn policy_text(&self, digest: &str) -> Result<Option<String>, StoreError> {
        self.pod.read(|reader| {
            Ok(cmd("HGET")
                .arg(&self.pod.keys.policies)
                .arg(digest)
                .query(reader.connection)?)
        })
    }

    fn written_cells(&self, _after: u64) -> Result<Option<WrittenCells>, StoreError> {
        Ok(None)
    }

    fn cells(&self) -> Result<CellMap, StoreError> {
        let ids: Vec<String> = self.pod.read(|reader| {
            Ok(cmd("ZRANGE")
                .arg(&self.pod.keys.sessions)
                .arg(0)
                .arg(-1)
                .query(reader.connection)?)
        })?;
        let mut cells = CellMap::default();
        for id in ids.iter().filter_map(|id| Id::new(id).ok()) {
            let session = self.pod.read(|reader| reader.session(&id))?;
            if let Some(session) = session {
                cells.sessions.insert(id, session.cell);
            }
        }
        Ok(cells)
    }

    fn link(&self, prev: &Hash, seq: u64, body: &[u8]) -> Hash {
        link(prev, seq, body)
    }

    fn first_difference(&self, folded: &CellMap) -> Result<Option<CellKey>, StoreError> {
        let keys = folded.keys();
        for keys in keys.chunks(CHUNK) {
            let different = self.pod.read(|reader| self.compare(reader, keys, folded))?;
            if different.is_some() {
                return Ok(different);
            }
        }
        Ok(None)
    }

    fn checkpoints(&self) -> Result<Option<Vec<Checkpoint>>, StoreError> {
        Ok(None)
    }
}
