//! Cases: stops that a person marked as wrong, each with the records that led to it.
//!
//! A wrong stop is the most valuable thing that a guard can learn from, and a log is pruned. So the records are kept in
//! a file of their own, in the folder `cases` beside the store: the observations as the rules saw them, and the verdicts.
//! They can be judged again under any policy, at any time. Payloads are not part of a case, and their digests are keyed
//! by the store, so a case says something on this store only.
//!
//! A file is a line for the [`CaseHead`], then one line for each record.

mod folder;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sprag_core::{Decision, Id, Observation, Policy, RuleId, Timestamp, Verdict};
use sprag_store::{LogQuery, LogScope, Record, RecordKind, Store, StoreError};

use crate::replay::{
    RecordedEvent, RecordedForm, RecordedItem, Replay, ReplayError, ReplayOutcome,
};

pub use folder::{CaseFolder, CaseFolderError};

/// The most records of a case; older ones are left out.
pub const MAX_CASE_RECORDS: usize = 5_000;

/// What a case is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseHead {
    /// Its name, from the number of the stop's record: `c1234`.
    pub case: String,
    /// The record of the stop.
    pub seq: u64,
    /// When the session was stopped.
    pub at: Timestamp,
    /// The session.
    pub session: Id,
    /// Its agent.
    pub agent: Option<Id>,
    /// The rule that stopped it.
    pub rule: RuleId,
    /// What was answered.
    pub verdict: Decision,
    /// What was said.
    pub message: String,
    /// Who marked it as wrong.
    pub by: String,
    /// Why it was wrong.
    pub why: String,
    /// When it was marked.
    pub marked: Timestamp,
    /// Older records were left out, or had been pruned before: the verdicts may differ from those of then.
    pub cut: bool,
}

/// One record of a case.
#[derive(Debug, Serialize, Deserialize)]
struct CaseRecord {
    seq: u64,
    observation: Observation,
    verdict: Verdict,
}

/// A case with its records.
#[derive(Debug)]
pub struct Case {
    /// What it is about.
    pub head: CaseHead,
    records: Vec<CaseRecord>,
}

/// What a policy makes of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseOutcome {
    /// The session would not have been stopped.
    Passes,
    /// It would have been stopped, at this record.
    Stopped {
        /// The number of the record.
        seq: u64,
        /// The verdict.
        verdict: Box<Verdict>,
    },
}

/// Why there is no case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The log does not hold the record.
    #[error("the log holds no record {seq} of session {session}")]
    NoRecord {
        /// The record.
        seq: u64,
        /// The session.
        session: Id,
    },
    /// The record is not a stop.
    #[error("record {seq} is not a stop: no rule refused anything there, or would have in shadow")]
    NotAStop {
        /// The record.
        seq: u64,
    },
    /// The log can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Case {
    /// Collects the case of the stop at record `seq` of `session` from the log.
    ///
    /// # Errors
    /// Returns an error if the record is not there, is not a stop, or the log can't be read.
    pub fn collect(
        store: &dyn Store,
        session: &Id,
        seq: u64,
        (by, why): (&str, &str),
        now: Timestamp,
    ) -> Result<Self, CaseError> {
        let stop = one(store, seq)?.filter(|record| {
            let what = record.observation().map(|seen| seen.what.session());
            what == Some(session)
        });
        let stop = stop.ok_or_else(|| CaseError::NoRecord {
            seq,
            session: session.clone(),
        })?;
        let verdict = &stop.verdict;
        let enforced = verdict
            .rule
            .filter(|_| verdict.refuses())
            .map(|rule| (rule, verdict.decision, verdict.message.clone()));
        let would = || {
            let would = verdict.would.as_ref()?;
            let message = Some(would.message.clone());
            Some((would.rule, would.decision, message)).filter(|_| would.decision.refuses())
        };
        let (rule, decision, message) =
            enforced.or_else(would).ok_or(CaseError::NotAStop { seq })?;
        let (records, cut) = before(store, session, seq)?;
        Ok(Self {
            head: CaseHead {
                case: format!("c{seq}"),
                seq,
                at: stop.at,
                session: session.clone(),
                agent: stop
                    .observation()
                    .and_then(|seen| seen.what.agent().cloned()),
                rule,
                verdict: decision,
                message: message.unwrap_or_default(),
                by: by.to_owned(),
                why: why.to_owned(),
                marked: now,
                cut,
            },
            records: records.into(),
        })
    }

    /// Judges the records again under `policy`: would the session still have been stopped?
    ///
    /// # Errors
    /// Returns an error if a record can't be judged.
    pub fn judge(&self, policy: &Policy) -> Result<CaseOutcome, ReplayError> {
        let mut replay = Replay::what_if(policy.clone());
        for record in &self.records {
            let item = RecordedItem::Event(Box::new(RecordedEvent {
                number: record.seq,
                at: record.observation.at,
                what: RecordedForm::Observed(Box::new(record.observation.clone())),
                recorded: Some(record.verdict.clone()),
                policy: None,
            }));
            let is_own = record.observation.what.session() == &self.head.session;
            let is_last = record.seq == self.head.seq;
            let outcome = replay.fold(&item)?;
            let ReplayOutcome::Judged { verdict, .. } = outcome else {
                continue;
            };
            // An earlier refusal that does not last is not the stop that the case is about.
            let stops = is_last && verdict.refuses() || verdict.decision >= Decision::Block;
            if is_own && stops && !is_consequence(&verdict) {
                let seq = record.seq;
                return Ok(CaseOutcome::Stopped { seq, verdict });
            }
        }
        Ok(CaseOutcome::Passes)
    }

    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it holds no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// Whether a refusal only follows from an earlier stop.
fn is_consequence(verdict: &Verdict) -> bool {
    let gates = [RuleId::SessionKilled, RuleId::SessionBlocked];
    verdict.rule.is_some_and(|rule| gates.contains(&rule))
}

fn one(store: &dyn Store, seq: u64) -> Result<Option<Record>, StoreError> {
    let query = LogQuery {
        after: Some(seq.saturating_sub(1)),
        limit: 1,
        ..LogQuery::default()
    };
    let found = store.records(&query)?.items.pop();
    Ok(found.filter(|record| record.seq == seq))
}

/// The events up to record `seq` that share a cell with the session, the newest; and whether older ones are missing.
fn before(
    store: &dyn Store,
    session: &Id,
    seq: u64,
) -> Result<(VecDeque<CaseRecord>, bool), StoreError> {
    let mut cut = store.base()?.after > 0;
    let mut query = LogQuery {
        scope: LogScope::Sharing(session.clone()),
        newest_first: true,
        after: Some(seq.saturating_add(1)),
        ..LogQuery::default()
    };
    let mut records = VecDeque::new();
    loop {
        let page = store.records(&query)?;
        for record in page.items {
            if records.len() == MAX_CASE_RECORDS {
                cut = true;
                break;
            }
            if let RecordKind::Event { observation, .. } = record.kind {
                records.push_front(CaseRecord {
                    seq: record.seq,
                    observation: *observation,
                    verdict: record.verdict,
                });
            }
        }
        match page.next {
            Some(next) if records.len() < MAX_CASE_RECORDS => query.after = Some(next),
            Some(_) => return Ok((records, true)),
            None => return Ok((records, cut)),
        }
    }
}
