//! The one trait under which every store works.
//!
//! A store does three things as one: it judges (resolve, load the cells, fold), it remembers (write
//! the cells back) and it tells (append the record to the log). No rule is ever written for a store; a
//! store only finds cells. The calls are blocking and short; a remote store may retry inside
//! `decide`, because judging the same draft again on newer cells is always right.

use std::ops::ControlFlow;

use sprag_core::{DigestKey, Id};

use crate::Wait;
use crate::census::Census;
use crate::draft::Draft;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::in_force::StandingOrders;
use crate::listing::{SessionCursor, SessionQuery};
use crate::note::Note;
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, Page, Session, SessionState, SessionSummary};
use crate::record::Record;
use crate::view::{Base, LogView, RawRecord};

/// How a store is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStatus {
    /// What it is: `memory`, `sqlite`.
    pub kind: &'static str,
    /// The number of the last record.
    pub last_seq: u64,
    /// The hash of the last record.
    pub last_hash: Hash,
    /// Sessions remembered.
    pub sessions: u64,
    /// Other cells remembered.
    pub others: u64,
    /// Records that are not durable yet.
    pub pending: u64,
    /// What doesn't work, and what that means; none when all is well.
    pub degraded: Option<String>,
}

/// A decision whose answer may have to wait for the disk.
#[derive(Debug)]
pub struct Decided {
    /// The record with the verdict.
    pub record: Record,
    /// What to wait for before the verdict is told; none where it may be told at once.
    pub wait: Option<Wait>,
}

/// Where cells and the log are kept.
pub trait Store: Send + Sync {
    /// Judges an event, appends it to the log and remembers, all or nothing. A kill, block or reset is
    /// durable when this returns; anything else within 50 ms.
    fn decide(&self, draft: Draft) -> Result<Record, StoreError>;

    /// The same without waiting: where the answer must wait, it says for what.
    fn decide_soon(&self, draft: Draft) -> Result<Decided, StoreError> {
        let record = self.decide(draft)?;
        Ok(Decided { record, wait: None })
    }

    /// Appends a note to the log, durably.
    fn note(&self, note: Note) -> Result<Record, StoreError>;

    /// The pause and the panic that were noted last and not ended by a note; a pause may have run out. Asked
    /// before every event, so this must be cheap.
    fn orders(&self) -> Result<StandingOrders, StoreError>;

    /// The digest of the policy that a note named last.
    fn noted_policy(&self) -> Result<Option<String>, StoreError>;

    /// All that is remembered of a session.
    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError>;

    /// Whether a session is known. Asked before every event of a server, so this must be cheap.
    fn knows_session(&self, id: &Id) -> Result<bool, StoreError> {
        Ok(self.session(id)?.is_some())
    }

    /// Sessions, the latest first.
    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError>;

    /// How many sessions a query finds on all of its pages together.
    fn count_sessions(&self, query: &SessionQuery) -> Result<u64, StoreError> {
        let mut query = SessionQuery {
            after: None,
            skip: 0,
            limit: 0,
            ..query.clone()
        };
        let mut count = 0_u64;
        loop {
            let page = self.sessions(&query)?;
            count = count.saturating_add(u64::try_from(page.items.len()).unwrap_or(u64::MAX));
            match page.next {
                Some(next) => query.after = Some(next),
                None => return Ok(count),
            }
        }
    }

    /// Records of the log; `next` is the `after` of the next query.
    fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError>;

    /// The log at this moment, for those who read all of it.
    fn view(&self) -> Result<Box<dyn LogView + '_>, StoreError>;

    /// Removes the oldest records, after writing down the cells that they left behind, so that what
    /// is left still verifies. `policies` reads the policies that the records name.
    fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, StoreError>;

    /// The secret under which everything that enters this store is digested.
    fn digest_key(&self) -> DigestKey;

    /// Shows every record after number `after` in order, as it stands in the log, until told to stop.
    fn scan(
        &self,
        after: u64,
        visit: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.view()?.scan(after, visit)
    }

    /// Where the log that is left starts.
    fn base(&self) -> Result<Base, StoreError> {
        self.view()?.base()
    }

    /// The text of a policy that records name.
    fn policy_text(&self, digest: &str) -> Result<Option<String>, StoreError> {
        self.view()?.policy_text(digest)
    }

    /// Waits until all that was decided so far is durable.
    fn sync(&self) -> Result<(), StoreError>;

    /// Writes everything and gives the store back, before its last user is gone. Nothing is decided after
    /// this.
    fn close(&self) -> Result<(), StoreError> {
        self.sync()
    }

    /// Whether other processes may write to it too: what was read a moment ago may be old then.
    fn others_write(&self) -> bool {
        false
    }

    /// How many sessions are in which state. A store that keeps no count looks through the marked ones.
    fn census(&self) -> Result<Census, StoreError> {
        let blocked = self.count_in(SessionState::Blocked)?;
        let killed = self.count_in(SessionState::Killed)?;
        let all = self.status().sessions;
        Ok(Census {
            active: all.saturating_sub(blocked).saturating_sub(killed),
            blocked,
            killed,
        })
    }

    /// How many sessions are in one state.
    fn count_in(&self, state: SessionState) -> Result<u64, StoreError> {
        self.count_sessions(&SessionQuery {
            state: Some(state),
            ..SessionQuery::default()
        })
    }

    /// How many events were decided without the shared store since this process started.
    fn decided_offline(&self) -> u64 {
        0
    }

    /// How the store is doing.
    fn status(&self) -> StoreStatus;
}
