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
use crate::capacity::MARK_LIFE;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::note::{Eviction, Noted, Pool};

/// Sessions evicted in one commit.
const AT_ONCE: usize = 200;

/// Sessions looked at in one go: most of the oldest may belong to the other pool.
const LOOKED_AT: usize = 2_000;

/// A session that may be evicted, with the versions it was read at.
struct IdleSession {
    id: Id,
    touched: Timestamp,
    hot: CellVersion,
    memory: CellVersion,
}

impl RedisPod {
    /// Evicts about `excess` sessions of a pool. Of those with a mark only old ones go.
    pub(super) fn forget_sessions(&self, pool: Pool, excess: usize) -> Result<(), StoreError> {
        let mut left = excess;
        let mut skip = 0;
        while left > 0 {
            let some = self.read(|reader| self.forget_some(reader, pool, skip, left));
            let (forgotten, looked) = some?;
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
        pool: Pool,
        skip: usize,
        most: usize,
    ) -> Result<(usize, usize), SharedError> {
        let mut oldest = self.oldest(reader, pool, skip)?;
        let looked = oldest.len();
        self.retain_pool(reader, pool, &mut oldest)?;
        oldest.truncate(most.min(AT_ONCE));
        let idle = self.idle(reader, pool, &oldest)?;
        let Some(last) = idle.last() else {
            return Ok((0, looked));
        };
        let what = Noted::Evicted(Eviction {
            pool,
            kept: Vec::new(),
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
            // An active session is not in the index of marks.
            input.arg(if pool == Pool::Marks { "active" } else { "" });
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

    /// The longest idle sessions after the first `skip`, of both pools. For marks only old ones.
    fn oldest(
        &self,
        reader: &mut RedisReader<'_>,
        pool: Pool,
        skip: usize,
    ) -> Result<Vec<(String, u64)>, SharedError> {
        let until = match pool {
            Pool::Marks => self.now().0.saturating_sub(MARK_LIFE.0).to_string(),
            Pool::Sessions | Pool::Others => "+inf".to_owned(),
        };
        Ok(cmd("ZRANGEBYSCORE")
            .arg(&self.keys.sessions)
            .arg("-inf")
            .arg(until)
            .arg("WITHSCORES")
            .arg("LIMIT")
            .arg(skip)
            .arg(LOOKED_AT)
            .query(reader.connection)?)
    }

    /// Leaves only those that belong to the pool, by the index of marks.
    fn retain_pool(
        &self,
        reader: &mut RedisReader<'_>,
        pool: Pool,
        oldest: &mut Vec<(String, u64)>,
    ) -> Result<(), SharedError> {
        if oldest.is_empty() {
            return Ok(());
        }
        let mut asked = cmd("HMGET");
        asked.arg(&self.keys.marked);
        for (id, _) in oldest.iter() {
            asked.arg(id);
        }
        let marks: Vec<Option<String>> = asked.query(reader.connection)?;
        let mut marks = marks.into_iter();
        oldest.retain(|_| marks.next().flatten().is_some() == (pool == Pool::Marks));
        Ok(())
    }

    /// Those of `oldest` with their versions.
    fn idle(
        &self,
        reader: &mut RedisReader<'_>,
        pool: Pool,
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
            if hot.is_none_or(|(_, state)| (state == b"a") == (pool == Pool::Sessions)) {
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
