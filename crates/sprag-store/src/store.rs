//! The one trait under which every store works.
//!
//! A store does three things as one: it judges (resolve, load the cells, fold), it remembers (write
//! the cells back) and it tells (append the record to the log). No rule is ever written for a store; a
//! store only finds cells. The calls are blocking and short; a remote store may retry inside
//! `decide`, because judging the same draft again on newer cells is always right.

use std::ops::ControlFlow;

use sprag_core::{DigestKey, Id};

use crate::draft::Draft;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::note::Note;
use crate::prune::{Prune, Pruned};
use crate::query::{LogQuery, Page, Session, SessionCursor, SessionQuery, SessionSummary};
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

/// Where cells and the log are kept.
pub trait Store: Send + Sync {
    /// Judges an event, appends it to the log and remembers, all or nothing. A kill, block or reset is
    /// durable when this returns; anything else within 50 ms.
    fn decide(&self, draft: Draft) -> Result<Record, StoreError>;

    /// Appends a note to the log, durably.
    fn note(&self, note: Note) -> Result<Record, StoreError>;

    /// All that is remembered of a session.
    fn session(&self, id: &Id) -> Result<Option<Session>, StoreError>;

    /// The agent that stuck to a session. It never changes, so what is at hand will do.
    fn agent_of(&self, id: &Id) -> Result<Option<Id>, StoreError> {
        Ok(self.session(id)?.and_then(|session| session.summary.agent))
    }

    /// Sessions, the latest first.
    fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError>;

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

    /// Whether other processes may write to it too: what was read a moment ago may be old then.
    fn others_write(&self) -> bool {
        false
    }

    /// How the store is doing.
    fn status(&self) -> StoreStatus;
}
