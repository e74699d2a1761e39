//! Deciding without Redis: on the cells that this pod has cached, with a record of every decision.
//!
//! The pod goes on from the cells it last knew and chains its own records, with numbers of their own.
//! When Redis is back, its kills are restored there first. Then its records are appended as
//! `offline` notes. The cells in Redis are not changed by them, because other pods went on
//! meanwhile.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sprag_core::{CellKey, Decision, Id, Observation, Observed, Order, RuleId, Timestamp};

use super::cell_cache::{CellCache, LostKill};
use super::commit_id::{CommitHeader, CommitId, SentCommit};
use super::fail_modes::{RuleFailModes, agent_and_session};
use super::redis_pod::RedisPod;
use crate::capacity::Capacity;
use crate::cell_source::{CellSource, FoldResult};
use crate::draft::{ActivePolicy, Draft};
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::note::{Note, Noted, Offline};
use crate::record::Record;
use crate::store_state::StoreState;

/// The most records that wait for Redis. Beyond it the oldest are dropped, and a note counts them.
const MAX_WAITING: usize = 10_000;

/// A decision that was made without Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineDecision {
    /// The session of the event.
    pub session: Id,
    /// The decision that was returned.
    pub verdict: Decision,
    /// The rule behind it.
    pub rule: Option<RuleId>,
    /// Why it was decided without Redis.
    pub why: String,
}

/// A record that waits for Redis.
#[derive(Debug)]
pub(super) struct QueuedRecord {
    pub(super) at: Timestamp,
    pub(super) policy: Arc<ActivePolicy>,
    pub(super) what: Noted,
    /// The commit of the same event, if it was sent to Redis before it was decided offline.
    pub(super) sent: Option<SentCommit>,
    /// The commit of this note, if it was sent and its outcome is unknown.
    pub(super) published: Option<SentCommit>,
}

impl QueuedRecord {
    /// The commits that may have been written.
    pub(super) fn unsure(&self) -> impl Iterator<Item = SentCommit> + use<> {
        self.sent.into_iter().chain(self.published)
    }

    /// Records which of the unsure commits were written. Returns false if the note itself was: then it must
    /// not be appended again.
    pub(super) fn resolve_sent(&mut self, written: &HashMap<CommitId, u64>) -> bool {
        let seq = |sent: SentCommit| written.get(&sent.id).copied();
        if let (Noted::Offline(offline), Some(sent)) = (&mut self.what, self.sent.take()) {
            offline.also = seq(sent);
        }
        self.published.take().and_then(seq).is_none()
    }

    /// Marks the note as sent: from now on it may have been written.
    pub(super) fn about_to_publish(&mut self, pod: &RedisPod) -> CommitHeader {
        let sent = pod.about_to_send();
        self.published = Some(sent);
        CommitHeader {
            id: sent.id,
            ..pod.header()
        }
    }
}

/// What this pod decided offline: its own cells, its own chain of records, and those not yet published.
#[derive(Debug, Default)]
pub(super) struct OfflineLog {
    state: StoreState,
    head: ChainHead,
    waiting: VecDeque<QueuedRecord>,
    dropped: u64,
    /// Policies without the rules that fail open, by the digest of the whole policy.
    opened: HashMap<String, Arc<ActivePolicy>>,
}

/// The cells to judge on offline: those changed offline first, then the cached ones.
struct OfflineCells<'a> {
    offline: &'a StoreState,
    cache: &'a CellCache,
}

impl CellSource for OfflineCells<'_> {
    fn fetch(&self, key: &CellKey, state: &mut StoreState) -> Result<bool, StoreError> {
        if self.offline.cells.copy_one(key, &mut state.cells) {
            if let CellKey::Session(id) = key {
                state.tallies.insert(id.clone(), self.offline.tally(id));
            }
            return Ok(true);
        }
        Ok(self.cache.copy(key, state).is_some())
    }
}

impl OfflineLog {
    /// Decides on the cells at hand.
    pub(super) fn decide(
        &mut self,
        cache: &CellCache,
        fail: &RuleFailModes,
        pod: &str,
        draft: Draft,
        (why, sent): (&str, Option<SentCommit>),
    ) -> Result<(Record, OfflineDecision), StoreError> {
        // A kill that Redis lost holds here, whatever the rules are set to.
        for lost in cache.lost_kills() {
            self.kill(cache, &lost, &draft)?;
        }
        let mut draft = draft;
        draft.policy = self.open(&draft.policy, fail);
        let verdict = match fail.refusal(&draft, why) {
            Some(verdict) => verdict,
            None => self.judge(cache, &mut draft)?,
        };
        let (_, session) = agent_and_session(&draft.observation.what);
        let decision = OfflineDecision {
            session: session.clone(),
            verdict: verdict.decision,
            rule: verdict.rule,
            why: why.to_owned(),
        };
        // The record continues this pod's own chain, which `verify` checks later in the notes.
        let (at, policy) = (draft.observation.at, Arc::clone(&draft.policy));
        let encoded = self.head.event(draft, verdict);
        self.head = encoded.head();
        let what = Noted::Offline(Offline {
            pod: pod.to_owned(),
            number: encoded.record.seq,
            hash: encoded.record.hash,
            session: decision.session.clone(),
            verdict: decision.verdict,
            rule: decision.rule,
            why: why.to_owned(),
            record: hex(&encoded.body),
            also: None,
        });
        self.wait(QueuedRecord {
            at,
            policy,
            what,
            sent,
            published: None,
        });
        Ok((encoded.record, decision))
    }

    fn judge(
        &mut self,
        cache: &CellCache,
        draft: &mut Draft,
    ) -> Result<sprag_core::Verdict, StoreError> {
        let both = OfflineCells {
            offline: &self.state,
            cache,
        };
        let folded = FoldResult::decide(&both, draft)?;
        for key in CellKey::all(&folded.keys) {
            folded.state.cells.copy_one(&key, &mut self.state.cells);
            if let CellKey::Session(id) = &key {
                let tally = folded.state.tally(id);
                self.state.tallies.insert(id.clone(), tally);
            }
        }
        let at = draft.observation.at;
        self.state.make_room(Capacity::default(), &folded.keys, at);
        Ok(folded.verdict)
    }

    /// Marks a session as killed, unless it is.
    fn kill(&mut self, cache: &CellCache, lost: &LostKill, like: &Draft) -> Result<(), StoreError> {
        let known = self.state.cells.session(lost.session.as_str());
        if known.is_some_and(|cell| cell.killed().is_some()) {
            return Ok(());
        }
        let mut draft = lost.draft(like.observation.at, &like.policy);
        self.judge(cache, &mut draft).map(drop)
    }

    /// The policy without the rules that fail open.
    fn open(&mut self, policy: &Arc<ActivePolicy>, fail: &RuleFailModes) -> Arc<ActivePolicy> {
        let rules = fail.open_rules();
        if rules.is_empty() {
            return Arc::clone(policy);
        }
        if let Some(opened) = self.opened.get(&policy.digest) {
            return Arc::clone(opened);
        }
        // Few policies are in force during one outage, so a full cache is simply emptied.
        if self.opened.len() > 16 {
            self.opened.clear();
        }
        let opened = Arc::new(ActivePolicy::new(policy.policy.without(&rules)));
        self.opened
            .insert(policy.digest.clone(), Arc::clone(&opened));
        opened
    }

    /// Queues a note for Redis.
    pub(super) fn note(&mut self, note: Note) -> Result<Record, StoreError> {
        let encoded = self
            .head
            .note(note.at, &note.policy.digest, note.what.clone())?;
        self.wait(QueuedRecord {
            at: note.at,
            policy: note.policy,
            what: note.what,
            sent: None,
            published: None,
        });
        Ok(encoded.record)
    }

    fn wait(&mut self, waiting: QueuedRecord) {
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
            self.dropped = self.dropped.saturating_add(1);
        }
        self.waiting.push_back(waiting);
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes the next records to publish. If some were dropped, the note that counts them comes first, in
    /// their place in the chain.
    pub(super) fn next(&mut self, pod: &str, most: usize) -> Vec<QueuedRecord> {
        let Some(first) = self.waiting.front() else {
            return Vec::new();
        };
        let lost = (self.dropped > 0).then(|| QueuedRecord {
            at: first.at,
            policy: Arc::clone(&first.policy),
            what: Noted::OfflineLost {
                pod: pod.to_owned(),
                records: std::mem::take(&mut self.dropped),
            },
            sent: None,
            published: None,
        });
        let most = most.min(self.waiting.len());
        lost.into_iter().chain(self.waiting.drain(..most)).collect()
    }

    /// Puts back records that could not be published, in their order.
    pub(super) fn put_back(&mut self, waiting: Vec<QueuedRecord>) {
        for one in waiting.into_iter().rev() {
            self.waiting.push_front(one);
        }
    }

    /// Redis lost records, perhaps also those of this chain. Counts all published ones as dropped, so that
    /// the log has a note instead of a gap.
    pub(super) fn lose_published(&mut self) {
        let waiting = u64::try_from(self.waiting.len()).unwrap_or(u64::MAX);
        let published = self.head.seq.saturating_sub(waiting);
        self.dropped = self.dropped.max(published);
    }

    /// The sessions that are killed in the offline cells.
    pub(super) fn kills(&self) -> Vec<LostKill> {
        let sessions = self.state.cells.sessions.iter();
        let killed = sessions.filter_map(|(id, cell)| {
            Some(LostKill {
                session: id.clone(),
                generation: cell.generation(),
                mark: cell.killed()?.clone(),
            })
        });
        killed.collect()
    }

    /// Drops the offline cells: from now on those in Redis count. The chain goes on in the next outage.
    pub(super) fn end(&mut self) {
        self.state = StoreState::default();
    }
}

impl LostKill {
    /// The order that restores this kill.
    pub(super) fn draft(&self, at: Timestamp, policy: &Arc<ActivePolicy>) -> Draft {
        let order = Order {
            session: self.session.clone(),
            by: self.mark.by.clone().or_else(|| Some("sprag".into())),
            why: Some(self.mark.why.as_str().into()),
        };
        Draft {
            observation: Observation::new(at, Observed::Kill(order)),
            policy: Arc::clone(policy),
            captured: None,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
