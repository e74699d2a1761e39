//! Deciding without Redis: on what this pod has at hand, with a word about every such decision.
//!
//! The pod forks: it goes on from the cells it last knew and keeps its own records, chained with
//! numbers of their own. When Redis is back the fork ends. Its kills are given to Redis first, then
//! its records are appended as `offline` notes; the cells in Redis are not changed by them, because
//! other pods went on elsewhere meanwhile.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sprag_core::{Decision, Id, Observation, Observed, Order, RuleId, Timestamp};

use super::cell_cache::{CellCache, LostKill};
use super::commit_id::{CommitHeader, CommitId, SentCommit};
use super::fail_modes::{RuleFailModes, agent_and_session};
use super::redis_pod::RedisPod;
use crate::capacity::Capacity;
use crate::cell_key::CellKey;
use crate::draft::{ActivePolicy, Draft};
use crate::error::StoreError;
use crate::gather::{Cellar, Gathered};
use crate::judge::Head;
use crate::live::Live;
use crate::note::{Note, Noted, Offline};
use crate::record::Record;

/// The most records that wait for Redis; past it the oldest go, and the log is told how many.
const MAX_WAITING: usize = 10_000;

/// A decision that was made without Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineDecision {
    /// The session.
    pub session: Id,
    /// What was answered.
    pub verdict: Decision,
    /// The rule that spoke.
    pub rule: Option<RuleId>,
    /// Why Redis was not asked.
    pub why: String,
}

/// What waits for Redis.
#[derive(Debug)]
pub(super) struct QueuedRecord {
    pub(super) at: Timestamp,
    pub(super) policy: Arc<ActivePolicy>,
    pub(super) what: Noted,
    /// The decision itself, where it was sent before it was made alone.
    pub(super) sent: Option<SentCommit>,
    /// The note, where it was sent and nobody knows what came of it.
    pub(super) published: Option<SentCommit>,
}

impl QueuedRecord {
    /// What may have been written.
    pub(super) fn unsure(&self) -> impl Iterator<Item = SentCommit> + use<> {
        self.sent.into_iter().chain(self.published)
    }

    /// Takes note of what was; false where nothing is left to tell.
    pub(super) fn resolve_sent(&mut self, written: &HashMap<CommitId, u64>) -> bool {
        let seq = |sent: SentCommit| written.get(&sent.id).copied();
        if let (Noted::Offline(offline), Some(sent)) = (&mut self.what, self.sent.take()) {
            offline.also = seq(sent);
        }
        self.published.take().and_then(seq).is_none()
    }

    /// From now on it may have been written.
    pub(super) fn about_to_publish(&mut self, pod: &RedisPod) -> CommitHeader {
        let sent = pod.about_to_send();
        self.published = Some(sent);
        CommitHeader {
            id: sent.id,
            ..pod.header()
        }
    }
}

/// The fork of this pod.
#[derive(Debug, Default)]
pub(super) struct OfflineLog {
    live: Live,
    head: Head,
    waiting: VecDeque<QueuedRecord>,
    dropped: u64,
    /// The policies in force with the rules off that fail open, by the digest of the whole one.
    opened: HashMap<String, Arc<ActivePolicy>>,
}

/// The fork first, then what was at hand before.
struct OfflineCells<'a> {
    offline: &'a Live,
    cache: &'a CellCache,
}

impl Cellar for OfflineCells<'_> {
    fn fetch(&self, key: &CellKey, live: &mut Live) -> Result<bool, StoreError> {
        if self.offline.cells.copy_one(key, &mut live.cells) {
            if let CellKey::Session(id) = key {
                live.tallies.insert(id.clone(), self.offline.tally(id));
            }
            return Ok(true);
        }
        Ok(self.cache.copy(key, live).is_some())
    }
}

impl OfflineLog {
    /// Decides on what is at hand.
    pub(super) fn decide(
        &mut self,
        cache: &CellCache,
        fail: &RuleFailModes,
        pod: &str,
        draft: Draft,
        (why, sent): (&str, Option<SentCommit>),
    ) -> Result<(Record, OfflineDecision), StoreError> {
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
        let (at, policy) = (draft.observation.at, Arc::clone(&draft.policy));
        let sealed = self.head.event(draft, verdict)?;
        self.head = sealed.head();
        let what = Noted::Offline(Offline {
            pod: pod.to_owned(),
            number: sealed.record.seq,
            hash: sealed.record.hash,
            session: decision.session.clone(),
            verdict: decision.verdict,
            rule: decision.rule,
            why: why.to_owned(),
            record: hex(&sealed.body),
            also: None,
        });
        self.wait(QueuedRecord {
            at,
            policy,
            what,
            sent,
            published: None,
        });
        Ok((sealed.record, decision))
    }

    fn judge(
        &mut self,
        cache: &CellCache,
        draft: &mut Draft,
    ) -> Result<sprag_core::Verdict, StoreError> {
        let both = OfflineCells {
            offline: &self.live,
            cache,
        };
        let gathered = Gathered::decide(&both, draft)?;
        for key in CellKey::all(&gathered.keys) {
            gathered.live.cells.copy_one(&key, &mut self.live.cells);
            if let CellKey::Session(id) = &key {
                let tally = gathered.live.tally(id);
                self.live.tallies.insert(id.clone(), tally);
            }
        }
        self.live.make_room(Capacity::default());
        Ok(gathered.verdict)
    }

    /// A kill that Redis lost holds here all the same.
    fn kill(&mut self, cache: &CellCache, lost: &LostKill, like: &Draft) -> Result<(), StoreError> {
        let known = self.live.cells.session(lost.session.as_str());
        if known.is_some_and(|cell| cell.killed().is_some()) {
            return Ok(());
        }
        let mut draft = lost.draft(like.observation.at, &like.policy);
        self.judge(cache, &mut draft).map(drop)
    }

    fn open(&mut self, policy: &Arc<ActivePolicy>, fail: &RuleFailModes) -> Arc<ActivePolicy> {
        let rules = fail.open_rules();
        if rules.is_empty() {
            return Arc::clone(policy);
        }
        if let Some(opened) = self.opened.get(&policy.digest) {
            return Arc::clone(opened);
        }
        // Few policies are in force during one outage.
        if self.opened.len() > 16 {
            self.opened.clear();
        }
        let opened = Arc::new(ActivePolicy::new(policy.policy.without(&rules)));
        self.opened
            .insert(policy.digest.clone(), Arc::clone(&opened));
        opened
    }

    /// Keeps a note for later.
    pub(super) fn note(&mut self, note: Note) -> Result<Record, StoreError> {
        let sealed = self
            .head
            .note(note.at, &note.policy.digest, note.what.clone())?;
        self.wait(QueuedRecord {
            at: note.at,
            policy: note.policy,
            what: note.what,
            sent: None,
            published: None,
        });
        Ok(sealed.record)
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

    /// The next that wait for Redis. What was given up is told before what came after it.
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

    /// Puts back what Redis did not take.
    pub(super) fn put_back(&mut self, waiting: Vec<QueuedRecord>) {
        for one in waiting.into_iter().rev() {
            self.waiting.push_front(one);
        }
    }

    /// Redis lost records: what was told of this fork may be gone, and its chain goes on in the middle.
    pub(super) fn lose_published(&mut self) {
        let waiting = u64::try_from(self.waiting.len()).unwrap_or(u64::MAX);
        let published = self.head.seq.saturating_sub(waiting);
        self.dropped = self.dropped.max(published);
    }

    /// The sessions that are killed here.
    pub(super) fn kills(&self) -> Vec<LostKill> {
        let sessions = self.live.cells.sessions();
        let killed = sessions.filter_map(|(id, cell)| {
            Some(LostKill {
                session: id.clone(),
                generation: cell.generation(),
                mark: cell.killed()?.clone(),
            })
        });
        killed.collect()
    }

    /// The fork is over: from now on Redis knows better.
    pub(super) fn end(&mut self) {
        self.live = Live::default();
    }
}

impl LostKill {
    /// The order that kills it again.
    pub(super) fn draft(&self, at: Timestamp, policy: &Arc<ActivePolicy>) -> Draft {
        let order = Order {
            session: self.session.clone(),
            by: self.mark.by.clone().or_else(|| Some("sprag".into())),
            why: Some(self.mark.why.as_str().into()),
        };
        Draft {
            observation: Observation {
                at,
                what: Observed::Kill(order),
            },
            policy: Arc::clone(policy),
            captured: None,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a text can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
