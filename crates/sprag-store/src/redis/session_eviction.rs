//! Evicting the longest idle sessions if Redis holds too many.
//!
//! An eviction changes what later events are judged on, so it is a commit like any other: a note in the
//! log that names the last session, and the deletions, in one step. A replay evicts the same ones.

use redis::{Pipeline, Value, cmd};
use sprag_core::{CellKey, Id, Timestamp};

use super::cell_value::CellVersion;
use super::commit::{CommitOutcome, CommitSize, commit_input};
use super::log_reader::RedisReader;
use super::redis_pod::{RedisPod, SharedError};
use super::reply::text;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::note::{Eviction, Noted, Pool};

/// Sessions evicted in one commit.
const AT_ONCE: usize = 200;

/// A session that may be evicted, with the versions it was read at.
struct IdleSession {
    id: Id,
    touched: Timestamp,
    hot: CellVersion,
    memory: CellVersion,
}

impl RedisPod {
    /// Evicts about `excess` sessions. Sessions with a mark stay.
    pub(super) fn forget_sessions(&self, excess: usize) -> Result<(), StoreError> {
        let mut left = excess;
        let mut skip = 0;
        while left > 0 {
            let (forgotten, looked) = self.read(|reader| self.forget_some(reader, skip, left))?;
            if looked == 0 {
                break;
            }
            left = left.saturating_sub(forgotten);
            skip += looked - forgotten;
        }
        Ok(())
    }

    /// Evicts the longest idle sessions after the first `skip`. Returns how many were evicted, and how many
    /// were looked at.
    fn forget_some(
        &self,
        reader: &mut RedisReader<'_>,
        skip: usize,
        most: usize,
    ) -> Result<(usize, usize), SharedError> {
        let most = most.min(AT_ONCE);
        let oldest: Vec<(String, u64)> = cmd("ZRANGE")
            .arg(&self.keys.sessions)
            .arg(skip)
            .arg(skip + most - 1)
            .arg("WITHSCORES")
            .query(reader.connection)?;
        let idle = self.idle(reader, &oldest)?;
        let Some(last) = idle.last() else {
            return Ok((0, oldest.len()));
        };
        let what = Noted::Evicted(Eviction {
            pool: Pool::Sessions,
            touched: last.touched,
            last: CellKey::Session(last.id.clone()),
            cells: u64::try_from(idle.len()).unwrap_or(u64::MAX),
        });
        let encoded = ChainHead::default().note(self.now(), "", what)?;
        let size = CommitSize {
            cells: idle.len() * 2,
            sessions: idle.len(),
        };
        let mut input = commit_input(self, self.header(), "n", &encoded.body, size);
        // Remove each from the index of sessions.
        for one in &idle {
            input.arg("-");
            input.arg(one.id.as_str());
            input.arg("");
        }
        // Delete both keys of each, if they are still at the version that was read.
        for one in &idle {
            let hot = self.keys.cell(&CellKey::Session(one.id.clone()));
            for (key, version) in [(hot, one.hot), (self.keys.memory(&one.id), one.memory)] {
                input.keys.push(key);
                input.arg(version.expected());
                input.arg("-");
                input.arg("-");
            }
        }
        match self.run_commit_patiently(reader.connection, &input)? {
            CommitOutcome::Done { .. } => Ok((idle.len(), oldest.len())),
            // One of them had an event meanwhile, so none was evicted. The next heartbeat
            // tries again.
            _ => Ok((0, 0)),
        }
    }

    /// Those of `oldest` that have no mark, with their versions.
    fn idle(
        &self,
        reader: &mut RedisReader<'_>,
        oldest: &[(String, u64)],
    ) -> Result<Vec<IdleSession>, SharedError> {
        let ids: Vec<(Id, u64)> = oldest
            .iter()
            .filter_map(|(id, touched)| Some((Id::new(id).ok()?, *touched)))
            .collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipe = Pipeline::new();
        for (id, _) in &ids {
            let hot = self.keys.cell(&CellKey::Session(id.clone()));
            pipe.cmd("GETRANGE").arg(hot).arg(0).arg(16);
            pipe.cmd("GETRANGE")
                .arg(self.keys.memory(id))
                .arg(0)
                .arg(15);
        }
        let values: Vec<Value> = pipe.query(reader.connection)?;
        let mut idle = Vec::new();
        for ((id, touched), pair) in ids.into_iter().zip(values.chunks(2)) {
            let mut parts = pair.iter().filter_map(text);
            let (Some(hot), Some(memory)) = (parts.next(), parts.next()) else {
                continue;
            };
            let hot = CellVersion::split(hot);
            // One that expired by itself is only left in the index.
            if hot.is_none_or(|(_, state)| state == b"a") {
                idle.push(IdleSession {
                    id,
                    touched: Timestamp(touched),
                    hot: hot.map_or_else(CellVersion::default, |(version, _)| version),
                    memory: CellVersion::split(memory)
                        .map_or_else(CellVersion::default, |(version, _)| version),
                });
            }
        }
        Ok(idle)
    }
}
