//! Listing sessions: by their last event, each with its small part only.

use redis::{Value, cmd};
use sprag_core::Id;

use super::pod::{Pod, Trouble};
use super::reading::Rows;
use super::reply::text;
use super::shelf::Fresh;
use super::value::{Version, read_memory, read_session};
use crate::cell_key::CellKey;
use crate::live::Live;
use crate::query::{Page, Session, SessionCursor, SessionQuery, SessionSummary, page_size};

/// Sessions looked at in one go.
const CHUNK: usize = 200;

impl Rows<'_> {
    /// The small parts of some sessions, as they stand.
    fn hot_parts(&mut self, pod: &Pod, ids: &[Id]) -> Result<Vec<Option<Vec<u8>>>, Trouble> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = cmd("MGET");
        for id in ids {
            command.arg(pod.keys.cell(&CellKey::Session(id.clone())));
        }
        let values: Vec<Value> = command.query(self.connection)?;
        let bytes = values.iter().map(|value| text(value).map(<[u8]>::to_vec));
        Ok(bytes.collect())
    }

    /// Takes the present state of some sessions to hand.
    pub(super) fn refresh(&mut self, pod: &Pod, ids: &[Id]) -> Result<(), Trouble> {
        for ids in ids.chunks(CHUNK) {
            for (id, value) in ids.iter().zip(self.hot_parts(pod, ids)?) {
                let key = CellKey::Session(id.clone());
                pod.shelf.refresh(&Fresh::Cell(&key, value.as_deref()))?;
            }
        }
        Ok(())
    }

    /// One session, whole.
    pub(super) fn session(&mut self, pod: &Pod, id: &Id) -> Result<Option<Session>, Trouble> {
        let values: Vec<Value> = cmd("MGET")
            .arg(pod.keys.cell(&CellKey::Session(id.clone())))
            .arg(pod.keys.memory(id))
            .query(self.connection)?;
        let parts: Vec<_> = values
            .iter()
            .map(|value| text(value).and_then(Version::split))
            .collect();
        let [Some((_, hot)), memory] = parts.as_slice() else {
            return Ok(None);
        };
        let mut live = Live::default();
        read_session(id, hot, &mut live)?;
        if let (Some((_, memory)), Some(cell)) = (memory, live.cells.sessions.get_mut(id)) {
            cell.put_memory(read_memory(id, memory)?);
        }
        Ok(live.session(id))
    }

    /// A page of sessions, the latest first.
    pub(super) fn sessions(
        &mut self,
        pod: &Pod,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, Trouble> {
        let most = query
            .after
            .as_ref()
            .map_or("+inf".to_owned(), |after| after.touched.0.to_string());
        let wanted = page_size(query.limit) + 1;
        let mut found = Vec::new();
        let mut skip = 0;
        loop {
            let ids: Vec<String> = cmd("ZREVRANGEBYSCORE")
                .arg(&pod.keys.sessions)
                .arg(&most)
                .arg("-inf")
                .arg("LIMIT")
                .arg(skip)
                .arg(CHUNK)
                .query(self.connection)?;
            skip += ids.len();
            let contains = query.contains.as_deref().unwrap_or_default();
            let is_last = ids.len() < CHUNK;
            let ids: Vec<Id> = ids
                .iter()
                .filter(|id| id.contains(contains))
                .filter_map(|id| Id::new(id).ok())
                .collect();
            found.extend(self.summaries(pod, &ids, query)?);
            // Among equally old ones Redis sorts the other way round: a chunk that ends among them
            // is read on before the page is cut.
            if is_last || found.len() >= wanted + CHUNK {
                break;
            }
        }
        found.sort_by(|a: &SessionSummary, b| (b.touched, &a.id).cmp(&(a.touched, &b.id)));
        Ok(SessionQuery::page(found, query.limit))
    }

    fn summaries(
        &mut self,
        pod: &Pod,
        ids: &[Id],
        query: &SessionQuery,
    ) -> Result<Vec<SessionSummary>, Trouble> {
        let mut found = Vec::new();
        for (id, value) in ids.iter().zip(self.hot_parts(pod, ids)?) {
            // One that expired since is no session any more.
            let Some((_, bytes)) = value.as_deref().and_then(Version::split) else {
                continue;
            };
            let mut live = Live::default();
            read_session(id, bytes, &mut live)?;
            let summary = live.session_summary(id);
            found.extend(summary.filter(|summary| query.wants(summary)));
        }
        Ok(found)
    }
}
