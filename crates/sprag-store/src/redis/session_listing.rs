//! Listing sessions by their last event. Only the small part of each session is read.

use redis::{Value, cmd};
use sprag_core::{CellKey, Id};

use super::cell_cache::FreshCell;
use super::cell_value::{CellVersion, read_memory, read_session};
use super::log_reader::RedisReader;
use super::redis_pod::SharedError;
use super::reply::text;
use crate::census::Census;
use crate::listing::{SessionCursor, SessionQuery, SessionSort, SortValue};
use crate::query::{Page, Session, SessionState, SessionSummary};
use crate::store_state::StoreState;

/// Sessions read in one round trip.
const CHUNK: usize = 200;

impl RedisReader<'_> {
    /// The values of the small parts of some sessions; none for those that do not exist.
    fn hot_parts(&mut self, ids: &[Id]) -> Result<Vec<Option<Vec<u8>>>, SharedError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = cmd("MGET");
        for id in ids {
            command.arg(self.pod.keys.cell(&CellKey::Session(id.clone())));
        }
        let values: Vec<Value> = command.query(self.connection)?;
        let bytes = values.iter().map(|value| text(value).map(<[u8]>::to_vec));
        Ok(bytes.collect())
    }

    /// Reads the small parts of some sessions into the cache.
    pub(super) fn refresh(&mut self, ids: &[Id]) -> Result<(), SharedError> {
        for ids in ids.chunks(CHUNK) {
            for (id, value) in ids.iter().zip(self.hot_parts(ids)?) {
                let key = CellKey::Session(id.clone());
                self.pod
                    .cache
                    .refresh(&FreshCell::Cell(&key, value.as_deref()))?;
            }
        }
        Ok(())
    }

    /// One session with its step memory.
    pub(super) fn session(&mut self, id: &Id) -> Result<Option<Session>, SharedError> {
        let values: Vec<Value> = cmd("MGET")
            .arg(self.pod.keys.cell(&CellKey::Session(id.clone())))
            .arg(self.pod.keys.memory(id))
            .query(self.connection)?;
        let parts: Vec<_> = values
            .iter()
            .map(|value| text(value).and_then(CellVersion::split))
            .collect();
        let [Some((_, hot)), memory] = parts.as_slice() else {
            return Ok(None);
        };
        let mut state = StoreState::default();
        read_session(id, hot, &mut state)?;
        if let (Some((_, memory)), Some(cell)) = (memory, state.cells.sessions.get_mut(id)) {
            cell.put_memory(read_memory(id, memory)?);
        }
        Ok(state.session(id))
    }

    /// A page of sessions.
    pub(super) fn sessions(
        &mut self,

        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, SharedError> {
        let found = match query.state {
            Some(state) if state != SessionState::Active => self.marked(state)?,
            _ => self.by_last_event(query)?,
        };
        Ok(query.choose(found.into_iter()))
    }

    /// How many sessions are in which state.
    pub(super) fn census(&mut self) -> Result<Census, SharedError> {
        let all: u64 = cmd("ZCARD")
            .arg(&self.pod.keys.sessions)
            .query(self.connection)?;
        let states: Vec<String> = cmd("HVALS")
            .arg(&self.pod.keys.marked)
            .query(self.connection)?;
        let count = |state: SessionState| {
            let those = states.iter().filter(|word| *word == state.as_str());
            u64::try_from(those.count()).unwrap_or(u64::MAX)
        };
        let (blocked, killed) = (count(SessionState::Blocked), count(SessionState::Killed));
        Ok(Census {
            active: all.saturating_sub(blocked).saturating_sub(killed),
            blocked,
            killed,
        })
    }

    fn marked(&mut self, state: SessionState) -> Result<Vec<SessionSummary>, SharedError> {
        let states: Vec<(String, String)> = cmd("HGETALL")
            .arg(&self.pod.keys.marked)
            .query(self.connection)?;
        let ids: Vec<Id> = states
            .iter()
            .filter(|(_, word)| word == state.as_str())
            .filter_map(|(id, _)| Id::new(id).ok())
            .collect();
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(CHUNK) {
            found.extend(self.summaries(ids)?);
        }
        Ok(found)
    }

    /// The latest sessions, as many as a page needs. Any other order needs all sessions.
    fn by_last_event(&mut self, query: &SessionQuery) -> Result<Vec<SessionSummary>, SharedError> {
        let is_by_time = query.sort == SessionSort::Touched && !query.ascending;
        let most = match &query.after {
            Some(after) if is_by_time => match after.value {
                SortValue::Number(touched) => touched.to_string(),
                SortValue::Name(_) => "+inf".to_owned(),
            },
            _ => "+inf".to_owned(),
        };
        let mut found = Vec::new();
        let mut skip = 0;
        loop {
            let next: Vec<(String, u64)> = cmd("ZREVRANGEBYSCORE")
                .arg(&self.pod.keys.sessions)
                .arg(&most)
                .arg("-inf")
                .arg("WITHSCORES")
                .arg("LIMIT")
                .arg(skip)
                .arg(CHUNK)
                .query(self.connection)?;
            skip += next.len();
            let Some((_, oldest)) = next.last() else {
                break;
            };
            let ids: Vec<Id> = next.iter().filter_map(|(id, _)| Id::new(id).ok()).collect();
            found.extend(self.summaries(&ids)?);
            // Sessions with the same time are sorted by name, so all of them are read before the page
            // ends.
            let page = query.choose(found.iter().cloned());
            let is_enough = |last: &SessionSummary| page.next.is_some() && last.touched.0 > *oldest;
            if is_by_time && page.items.last().is_some_and(is_enough) {
                break;
            }
        }
        Ok(found)
    }

    fn summaries(&mut self, ids: &[Id]) -> Result<Vec<SessionSummary>, SharedError> {
        let mut found = Vec::new();
        for (id, value) in ids.iter().zip(self.hot_parts(ids)?) {
            // It expired and is only left in the index.
            let Some((_, bytes)) = value.as_deref().and_then(CellVersion::split) else {
                continue;
            };
            let mut state = StoreState::default();
            read_session(id, bytes, &mut state)?;
            found.extend(state.session_summary(id));
        }
        Ok(found)
    }
}
