//! What an operator does: looks, kills, resets, proves and prunes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use sprag_core::{
    AnswerEvent, ApprovalScope, Event, EventError, Role, RuleState, Timestamp, Verdict,
};
use sprag_core::{Id, IdError};
use sprag_store::{
    Census, LogQuery, Noted, Page, Prune, Pruned, Record, Retention, Session, SessionCursor,
    SessionQuery, SessionSummary, StoreError, StoreStatus, Verification, read_policy, verify,
};

use super::{Guard, GuardError};
use crate::case::CaseHead;

/// After how many records the log is looked at for what may go.
const PRUNE_EVERY: u64 = 8192;

impl Guard {
    /// Sessions, the latest first, page by page.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn sessions(
        &self,
        query: &SessionQuery,
    ) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
        self.inner.store.sessions(query)
    }

    /// How many sessions a query finds on all of its pages together.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn count_sessions(&self, query: &SessionQuery) -> Result<u64, StoreError> {
        self.inner.store.count_sessions(query)
    }

    /// All that is remembered of a session.
    ///
    /// # Errors
    /// Returns an error if the name is not a valid id, or the store can't be read.
    pub fn session(&self, session: &str) -> Result<Option<Session>, GuardError> {
        let id = Id::new(session).map_err(not_an_id)?;
        Ok(self.inner.store.session(&id)?)
    }

    /// How full the rules are for a session.
    ///
    /// # Errors
    /// Returns an error if the name is not a valid id, or the store can't be read.
    pub fn state(&self, session: &str) -> Result<Option<RuleState>, GuardError> {
        let policies = self.inner.policies();
        let state = |session: Session| {
            RuleState::of_session(&session.summary.id, &session.cell, &policies.normal.policy)
        };
        Ok(self.session(session)?.map(state))
    }

    /// Kills a session and its sub-agents. Once this returns, nothing in it is allowed from any
    /// thread or process until a reset.
    ///
    /// # Errors
    /// Returns an error if the name is not a valid id, or the kill could not be made durable.
    pub fn kill(&self, session: &str, by: &str, why: &str) -> Result<Verdict, GuardError> {
        self.order(Event::kill(session)?, by, why)
    }

    /// Resets a session: it starts its next generation with nothing held against it.
    ///
    /// # Errors
    /// Returns an error if the name is not a valid id, or the reset could not be made durable.
    pub fn reset(&self, session: &str, by: &str, why: &str) -> Result<Verdict, GuardError> {
        self.order(Event::reset(session)?, by, why)
    }

    /// Answers a question: approves the call for `scope`, or declines it where that is none.
    ///
    /// # Errors
    /// Returns an error if the question is not open, or the answer could not be made durable.
    pub fn answer(
        &self,
        (session, approval): (&Id, &Id),
        scope: Option<ApprovalScope>,
        by: &str,
        why: Option<&str>,
    ) -> Result<Verdict, GuardError> {
        let mut answer = AnswerEvent::new(session.clone(), approval.clone()).by(by);
        answer.scope = scope.unwrap_or_default();
        answer.why = why.map(Into::into);
        let event = match scope {
            Some(_) => Event::Approve(answer),
            None => Event::Decline(answer),
        };
        self.check_as(Role::Operator, event)
    }

    /// Notes that a person marked a stop as wrong.
    ///
    /// # Errors
    /// Returns an error if the note could not be made durable.
    pub fn mark_wrong(&self, case: &CaseHead) -> Result<(), GuardError> {
        let noted = Noted::StopMarkedWrong {
            seq: case.seq,
            session: case.session.clone(),
            rule: case.rule,
            case: case.case.clone(),
            by: case.by.clone(),
            why: case.why.clone(),
        };
        self.inner.note(self.now(), noted)
    }

    fn order(&self, mut event: Event, by: &str, why: &str) -> Result<Verdict, GuardError> {
        if let Event::Kill(order) | Event::Reset(order) = &mut event {
            order.by = Some(by.into());
            order.why = Some(why.into());
        }
        self.check_as(Role::Operator, event)
    }

    /// Records of the log, page by page.
    ///
    /// # Errors
    /// Returns an error if the log can't be read.
    pub fn records(&self, query: &LogQuery) -> Result<Page<Record, u64>, StoreError> {
        let page = self.inner.store.records(query)?;
        let read = u64::try_from(page.items.len()).unwrap_or(u64::MAX);
        self.inner.records_read.fetch_add(read, Ordering::Relaxed);
        Ok(page)
    }

    /// How many records [`records`](Self::records) read so far: what looking at the log costs.
    #[must_use]
    pub fn records_read(&self) -> u64 {
        self.inner.records_read.load(Ordering::Relaxed)
    }

    /// Proves the log: the chain holds, and every verdict comes out the same again.
    ///
    /// # Errors
    /// Returns an error if the log can't be read; what is wrong with it is in the answer.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        verify(&*self.inner.store.view()?, &read_policy)
    }

    /// Removes the oldest records; what is left still verifies.
    ///
    /// # Errors
    /// Returns an error if the log is damaged or can't be written; nothing is removed then.
    pub fn prune(&self, retention: Retention) -> Result<Pruned, StoreError> {
        self.prune_at(retention, self.now())
    }

    /// Prunes now and then, by the number of records: of many processes that live for one event
    /// each, one in so many does it for all. A log that can't be pruned yet only stays longer, so
    /// the verdict that was just given is not held back by an error.
    pub(super) fn keep_in_bounds(&self, seq: u64) {
        if seq.is_multiple_of(PRUNE_EVERY) {
            let _ = self.prune(self.inner.retention);
        }
    }

    fn prune_at(&self, retention: Retention, at: Timestamp) -> Result<Pruned, StoreError> {
        self.inner.store.prune(&Prune {
            retention,
            at,
            policy: Arc::clone(&self.inner.policies().normal),
            policies: &read_policy,
        })
    }

    /// Waits until all that was decided so far is durable.
    ///
    /// # Errors
    /// Returns an error if it can't be made so.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.inner.store.sync()
    }

    /// Makes everything durable and gives the store back, while clones of this guard may still be around.
    /// They decide nothing after this.
    ///
    /// # Errors
    /// Returns an error if something can't be made durable.
    pub fn close(&self) -> Result<(), StoreError> {
        self.inner.store.close()
    }

    /// How many sessions are in which state.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn census(&self) -> Result<Census, StoreError> {
        self.inner.store.census()
    }

    /// How the store is doing.
    #[must_use]
    pub fn status(&self) -> StoreStatus {
        self.inner.store.status()
    }
}

fn not_an_id(source: IdError) -> EventError {
    EventError::Id {
        field: "session",
        source,
    }
}
