//! A store that forgets everything when its process ends: for tests, trials and short lives.
//!
//! It is also the model of the others: one lock, all cells in maps, the log as a list.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::{CellKey, CellKeys, CellMap, DigestKey, Id};

use crate::capacity::{Capacity, after_eviction};
use crate::census::Census;
use crate::codec::{RecordBody, RecordContent};
use crate::draft::{ActivePolicy, Draft};
use crate::encoded_record::{ChainHead, EncodedRecord};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::in_force::{InForce, StandingOrders};
use crate::listing::{SessionCursor, SessionQuery};
use crate::log_index::{NOTES, places};
use crate::note::{Note, Noted};
use crate::prune::{Prune, Pruned, cut};
use crate::query::{LogQuery, LogScope, Page, Session, SessionSummary, page_size};
use crate::random::secret;
use crate::record::Record;
use crate::sharing::sharing;
use crate::store::{Store, StoreStatus};
use crate::store_state::StoreState;
use crate::view::{Base, Checkpoint, LogView, RawRecord, WrittenCells};

/// A store in memory.
#[derive(Debug)]
pub struct MemoryStore {
    key: DigestKey,
    capacity: Capacity,
    inner: Mutex<MemoryState>,
}

#[derive(Debug, Default)]
struct MemoryState {
    state: StoreState,
    policies: HashMap<String, Arc<ActivePolicy>>,
    log: Log,
    in_force: InForce,
    /// Where the log starts: what its forgotten part left behind.
    base: Base,
}

#[derive(Debug, Default)]
struct Log {
    head: ChainHead,
    rows: VecDeque<(Vec<u8>, Hash)>,
    /// Which records touched a cell.
    index: BTreeSet<(u64, u64)>,
}

impl MemoryStore {
    /// An empty store with the default capacity.
    pub fn new() -> Result<Self, StoreError> {
        Self::with_capacity(Capacity::default())
    }

    /// An empty store that keeps at most `capacity`.
    pub fn with_capacity(capacity: Capacity) -> Result<Self, StoreError> {
        Ok(Self {
            key: DigestKey::new(&secret()?),
            capacity,
            inner: Mutex::default(),
        })
    }

    /// A panic while the lock was held can't leave half an event behind that matters more than
    /// going on guarding.
    fn inner(&self) -> MutexGuard<'_, MemoryState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn decide(&self, mut draft: Draft) -> Result<Record, StoreError> {
        let mut inner = self.inner();
        inner.state.admit(&mut draft, self.capacity)?;
        let (verdict, keys) = inner.state.decide(&mut draft)?;
        let policy = Arc::clone(&draft.policy);
        inner.learn(&policy);
        let encoded = inner.log.head.event(draft, verdict);
        let record = inner.log.append(encoded, Some(&keys));
        inner.make_room(self.capacity, &keys, &record)?;
        Ok(record)
    }

    fn note(&self, note: Note) -> Result<Record, StoreError> {
        note.check()?;
        let mut inner = self.inner();
        inner.learn(&note.policy);
        let encoded = inner
            .log
            .head
            .note(note.at, &note.policy.digest, note.what)?;
        let record = inner.log.append(encoded, None);
        inner.in_force.apply(&record);
        Ok(record)
    }

    fn orders(&self) -> Result<StandingOrders, StoreError> {
        Ok(self.inner().in_force.orders.clone())
    }

    fn noted_policy(&self) -> Result<Option<String>, StoreError> {
        Ok(self.inner().in_force.policy.clone())
    }

    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError> {
        Ok(self.inner().state.session(id))
    }

    fn knows_session(&self, id: &Id) -> Result<bool, StoreError> {
        Ok(self.inner().state.cells.session(id.as_str()).is_some())
    }

    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
        Ok(self.inner().state.sessions(query))
    }

    fn count_sessions(&self, query: &SessionQuery) -> Result<u64, StoreError> {
        Ok(self.inner().state.count_sessions(query))
    }

    fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        let inner = self.inner();
        let wanted = inner.scope(&query.scope)?;
        let first = inner.log.first();
        let last = inner.log.head.seq;
        let wants = |seq: &u64| wanted.as_ref().is_none_or(|set| set.contains(seq));
        let size = page_size(query.limit);
        let mut seqs: Vec<u64> = if query.newest_first {
            let before = query
                .after
                .map_or(last, |after| after.saturating_sub(1).min(last));
            (first..=before)
                .rev()
                .filter(wants)
                .take(size + 1)
                .collect()
        } else {
            let start = query
                .after
                .map_or(first, |after| after.saturating_add(1).max(first));
            (start..=last).filter(wants).take(size + 1).collect()
        };
        let more = seqs.len() > size;
        seqs.truncate(size);
        let next = seqs.last().copied().filter(|_| more);
        let items = seqs.iter().map(|seq| inner.record(*seq));
        Ok(Page {
            items: items.collect::<Result<_, _>>()?,
            next,
        })
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, StoreError> {
        Ok(Box::new(MemoryView(self.inner())))
    }

    fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, StoreError> {
        let view = MemoryView(self.inner());
        let through = cut(&view, &prune.retention, prune.at)?;
        let mut inner = view.0;
        let before = inner.log.rows.len();
        let keep = inner
            .log
            .head
            .seq
            .saturating_sub(through.max(inner.base.after));
        inner.forget_records(usize::try_from(keep).unwrap_or(usize::MAX))?;
        let records = u64::try_from(before - inner.log.rows.len()).unwrap_or(u64::MAX);
        if records == 0 {
            return Ok(Pruned::default());
        }
        let what = Noted::Pruned { through, records };
        let encoded = inner.log.head.note(prune.at, &prune.policy.digest, what)?;
        inner.log.append(encoded, None);
        Ok(Pruned { through, records })
    }

    fn digest_key(&self) -> DigestKey {
        self.key.clone()
    }

    fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn census(&self) -> Result<Census, StoreError> {
        Ok(self.inner().state.census())
    }

    fn status(&self) -> StoreStatus {
        let inner = self.inner();
        StoreStatus {
            kind: "memory",
            last_seq: inner.log.head.seq,
            last_hash: inner.log.head.hash,
            sessions: inner.state.sessions_count(),
            others: inner.state.others_count(),
            pending: 0,
            degraded: self.capacity.full_of_marks(inner.state.marks_count()),
        }
    }
}

/// The log while nobody else may touch it.
struct MemoryView<'a>(MutexGuard<'a, MemoryState>);

impl LogView for MemoryView<'_> {
    fn base(&self) -> Result<Base, StoreError> {
        Ok(self.0.base.clone())
    }

    fn scan(
        &self,
        after: u64,
        visit: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for (seq, (body, hash)) in (self.0.log.first()..).zip(&self.0.log.rows) {
            let row = RawRecord {
                seq,
                body,
                hash: *hash,
            };
            if seq > after && visit(row).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn policy_text(&self, digest: &str) -> Result<Option<String>, StoreError> {
        let policy = self.0.policies.get(digest);
        Ok(policy.map(|policy| policy.text.clone()))
    }

    fn written_cells(&self, _after: u64) -> Result<Option<WrittenCells>, StoreError> {
        Ok(None)
    }

    fn cells(&self) -> Result<CellMap, StoreError> {
        Ok(self.0.state.cells.clone())
    }

    fn checkpoints(&self) -> Result<Option<Vec<Checkpoint>>, StoreError> {
        Ok(None)
    }
}

impl MemoryState {
    fn learn(&mut self, policy: &Arc<ActivePolicy>) {
        if !self.policies.contains_key(&policy.digest) {
            self.policies
                .insert(policy.digest.clone(), Arc::clone(policy));
        }
    }

    /// Forgets what is over the capacity after `record`.
    fn make_room(
        &mut self,
        capacity: Capacity,
        keys: &CellKeys,
        record: &Record,
    ) -> Result<(), StoreError> {
        for eviction in self.state.make_room(capacity, keys, record.at) {
            let what = Noted::Evicted(eviction);
            let encoded = self.log.head.note(record.at, &record.policy, what)?;
            self.log.append(encoded, None);
        }
        if self.log.rows.len() > capacity.records {
            self.forget_records(after_eviction(capacity.records))?;
        }
        Ok(())
    }

    /// Folds the oldest records into the base until `keep` are left.
    fn forget_records(&mut self, keep: usize) -> Result<(), StoreError> {
        while self.log.rows.len() > keep {
            let Some((body, hash)) = self.log.rows.pop_front() else {
                break;
            };
            let seq = self.base.after.saturating_add(1);
            let damaged = |what: String| StoreError::Damaged {
                place: format!("record {seq}"),
                what,
            };
            let body = RecordBody::decode(&body).map_err(|error| damaged(error.to_string()))?;
            match body.content {
                RecordContent::Event { observation, .. } => {
                    let policy = self.policies.get(body.policy);
                    let policy =
                        policy.ok_or_else(|| damaged("its policy is unknown".to_owned()))?;
                    self.base.cells.fold(&policy.policy, &observation)?;
                }
                RecordContent::Note { note, .. } => note.apply(&mut self.base.cells),
            }
            self.base.after = seq;
            self.base.hash = hash;
        }
        let base = self.base.after;
        self.log.index.retain(|(_, seq)| *seq > base);
        Ok(())
    }

    fn record(&self, seq: u64) -> Result<Record, StoreError> {
        let damaged = |what: String| StoreError::Damaged {
            place: format!("record {seq}"),
            what,
        };
        let (body, hash) = self
            .log
            .row(seq)
            .ok_or_else(|| damaged("it is missing".to_owned()))?;
        let prev = match seq.checked_sub(1).and_then(|before| self.log.row(before)) {
            Some((_, hash)) => *hash,
            None => self.base.hash,
        };
        let raw = RawRecord {
            seq,
            body,
            hash: *hash,
        };
        raw.read(prev)
    }

    fn scope(&self, scope: &LogScope) -> Result<Option<BTreeSet<u64>>, StoreError> {
        let touching = |cell: u64| {
            self.log
                .index
                .range((cell, 0)..=(cell, u64::MAX))
                .map(|(_, seq)| *seq)
        };
        Ok(match scope {
            LogScope::All => None,
            LogScope::Notes => Some(touching(NOTES).collect()),
            LogScope::Session(id) => Some(touching(CellKey::Session(id.clone()).index()).collect()),
            LogScope::Flow(id) => Some(touching(CellKey::Flow(id.clone()).index()).collect()),
            LogScope::Sharing(id) | LogScope::Recorded(id) => Some(sharing(
                id,
                |cell| Ok(touching(cell).collect()),
                |seq| self.record(seq),
                |digest| {
                    let policy = self.policies.get(digest);
                    let is_any = matches!(scope, LogScope::Sharing(_));
                    Ok(is_any || policy.is_none_or(|known| known.policy.counts_agents()))
                },
            )?),
        })
    }
}

impl Log {
    fn first(&self) -> u64 {
        let rows = u64::try_from(self.rows.len()).unwrap_or(u64::MAX);
        self.head.seq.saturating_sub(rows).saturating_add(1)
    }

    fn row(&self, seq: u64) -> Option<&(Vec<u8>, Hash)> {
        let place = seq.checked_sub(self.first())?;
        self.rows.get(usize::try_from(place).ok()?)
    }

    fn append(&mut self, encoded: EncodedRecord, keys: Option<&CellKeys>) -> Record {
        self.head = encoded.head();
        for place in places(keys) {
            self.index.insert((place, self.head.seq));
        }
        self.rows.push_back((encoded.body, self.head.hash));
        encoded.record
    }
}
