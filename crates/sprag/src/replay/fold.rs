//! A fold over a recording, under one policy or under its own.

use std::collections::HashMap;

use sprag_core::{
    Answer, ApprovalScope, CellMap, Decision, DigestKey, Digester, EngineError, FlowCounter, Id,
    Observation, Observed, Policy, RuleState, Verdict, resolve,
};
use sprag_store::{Store, StoreError};

use super::error::ReplayError;
use super::recorded::{RecordedEvent, RecordedForm, RecordedItem};
use super::tally::ReplayTally;
use super::what_if::{Fate, WhatIf};
use sprag_store::read_policy;

/// What a replay makes of one item of a recording.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayOutcome {
    /// A verdict.
    Judged {
        /// The verdict itself.
        verdict: Box<Verdict>,
        /// The state of the rules after it, if that was asked for.
        state: Option<Box<RuleState>>,
        /// It was refused and would be allowed: what came of it is unknown.
        unknown: bool,
    },
    /// It would not have happened: its session was stopped before.
    Saved,
    /// It did not happen and would not have: its session was stopped either way.
    Skipped,
    /// The recorded result of a call that was refused and would have run: what it would have been is
    /// unknown.
    Unknown,
    /// It can't be judged.
    Error(String),
    /// A note.
    Noted,
}

/// Under which policy.
enum PolicySource<'a> {
    /// That which each record names.
    Own(&'a dyn Store, HashMap<String, Policy>),
    /// One for all.
    One(Box<Policy>),
}

/// A fold over a recording.
pub struct Replay<'a> {
    under: PolicySource<'a>,
    digester: Digester,
    cells: CellMap,
    flows: FlowCounter,
    what_if: Option<WhatIf>,
    with_state: bool,
    tally: ReplayTally,
}

impl std::fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay")
            .field("tally", &self.tally)
            .finish_non_exhaustive()
    }
}

impl<'a> Replay<'a> {
    fn new(under: PolicySource<'a>, cells: CellMap) -> Self {
        Self {
            under,
            digester: crate::digester::digester(DigestKey::fixed()),
            cells,
            flows: FlowCounter::default(),
            what_if: None,
            with_state: false,
            tally: ReplayTally::default(),
        }
    }

    /// Replays a log as it was judged: each record under its own policy.
    ///
    /// # Errors
    /// Returns an error if the start of the log can't be read.
    pub fn own(store: &'a dyn Store) -> Result<Self, StoreError> {
        let cells = store.base()?.cells;
        Ok(Self::new(PolicySource::Own(store, HashMap::new()), cells))
    }

    /// Replays a trace as a guard under `policy` would judge it.
    #[must_use]
    pub fn plain(policy: Policy) -> Self {
        Self::new(PolicySource::One(Box::new(policy)), CellMap::default())
    }

    /// Replays what would have happened under `policy`: sessions that it stops do not go on.
    #[must_use]
    pub fn what_if(policy: Policy) -> Self {
        Self {
            what_if: Some(WhatIf::default()),
            ..Self::plain(policy)
        }
    }

    /// Starts from the cells that a pruned log starts from.
    ///
    /// # Errors
    /// Returns an error if they can't be read.
    pub fn starting_at(mut self, store: &dyn Store) -> Result<Self, StoreError> {
        self.cells = store.base()?.cells;
        Ok(self)
    }

    /// Adds the state of the rules to each verdict.
    #[must_use]
    pub fn with_state(mut self) -> Self {
        self.with_state = true;
        self
    }

    /// Switches the state in outcomes on or off: it takes longer than the verdict itself.
    pub fn report_state(&mut self, report: bool) {
        self.with_state = report;
    }

    /// The counts so far.
    #[must_use]
    pub fn tally(&self) -> &ReplayTally {
        &self.tally
    }

    /// Whether the tried policy has stopped `session` by now and nobody has let it go; never outside
    /// of [`Replay::what_if`].
    #[must_use]
    pub fn has_stopped(&self, session: &Id) -> bool {
        let what_if = self.what_if.as_ref();
        what_if.is_some_and(|what_if| what_if.has_stopped(session))
    }

    /// Folds the next item.
    ///
    /// # Errors
    /// Returns an error if the policy of a record can't be read.
    pub fn fold(&mut self, item: &RecordedItem) -> Result<ReplayOutcome, ReplayError> {
        let event = match item {
            RecordedItem::Note { what, .. } => {
                what.apply(&mut self.cells);
                return Ok(ReplayOutcome::Noted);
            }
            RecordedItem::Bad { why, .. } => {
                self.tally.errors += 1;
                return Ok(ReplayOutcome::Error(why.clone()));
            }
            RecordedItem::Event(event) => event,
        };
        self.learn_policy(event)?;
        let outcome = self.judge(event);
        self.tally
            .count(event.session(), event.recorded.as_ref(), &outcome);
        Ok(outcome)
    }

    fn learn_policy(&mut self, event: &RecordedEvent) -> Result<(), ReplayError> {
        let (PolicySource::Own(store, known), Some(digest)) = (&mut self.under, &event.policy)
        else {
            return Ok(());
        };
        if !known.contains_key(digest) {
            let text = store.policy_text(digest)?;
            let policy = text.and_then(|text| read_policy(digest, &text));
            let policy = policy.ok_or_else(|| ReplayError::NoPolicy {
                seq: event.number,
                digest: digest.clone(),
            })?;
            known.insert(digest.clone(), policy);
        }
        Ok(())
    }

    fn judge(&mut self, event: &RecordedEvent) -> ReplayOutcome {
        let fallback = Policy::default();
        let policy = match (&self.under, &event.policy) {
            (PolicySource::One(policy), _) => &**policy,
            (PolicySource::Own(_, known), Some(digest)) => known.get(digest).unwrap_or(&fallback),
            (PolicySource::Own(..), None) => &fallback,
        };
        let raw;
        let observation = match &event.what {
            RecordedForm::Observed(observation) => observation,
            RecordedForm::Raw(wire) => {
                let mut digested = match self.digester.observe(wire, event.at, policy) {
                    Ok(digested) => digested,
                    Err(error) => return ReplayOutcome::Error(error.to_string()),
                };
                let resolved = resolve(&mut digested, &self.cells, || self.flows.draw());
                if let Err(error) = resolved {
                    return ReplayOutcome::Error(error.to_string());
                }
                raw = digested;
                &raw
            }
        };
        let recorded = event.recorded.as_ref();
        if let Some(what_if) = &mut self.what_if {
            match what_if.fate(observation, policy, recorded) {
                Fate::Happens => {}
                Fate::Unknown => return ReplayOutcome::Unknown,
                Fate::StoppedAnyway => return ReplayOutcome::Skipped,
                Fate::Stopped => return ReplayOutcome::Saved,
            }
        }
        let session = observation.what.session().as_str();
        let before = self
            .with_state
            .then(|| self.cells.session(session).cloned());
        let (verdict, keys) = match self.cells.fold(policy, observation) {
            Ok(judged) => judged,
            // Under another policy nobody asked, so there is nothing to answer.
            Err(EngineError::Answer { .. }) if self.what_if.is_some() => {
                return ReplayOutcome::Skipped;
            }
            Err(error) => return ReplayOutcome::Error(error.to_string()),
        };
        let ran = !recorded.is_some_and(Verdict::refuses);
        if let (true, Some(code)) = (self.what_if.is_some() && ran, asked(&verdict)) {
            approve(&mut self.cells, policy, observation, code);
        }
        let noted = self.what_if.as_mut();
        let unknown = noted.is_some_and(|what_if| what_if.note(observation, &verdict, recorded));
        let state = |before| RuleState::of(observation, before, &self.cells.copy(&keys), policy);
        ReplayOutcome::Judged {
            state: before.map(|before| Box::new(state(before))),
            verdict: Box::new(verdict),
            unknown,
        }
    }
}

fn asked(verdict: &Verdict) -> Option<&Id> {
    let asks = verdict.decision == Decision::Ask;
    verdict.approval.as_ref().filter(|_| asks)
}

/// What ran in the recording counts as approved: the call is made once more, with a yes.
fn approve(cells: &mut CellMap, policy: &Policy, call: &Observation, code: &Id) {
    let yes = Answer {
        session: call.what.session().clone(),
        approval: code.clone(),
        scope: ApprovalScope::Once,
        by: None,
        why: None,
    };
    let yes = Observation::new(call.at, Observed::Approve(yes));
    if cells.fold(policy, &yes).is_ok() {
        // It was judged a moment ago, so it can be judged again.
        let _ = cells.fold(policy, call);
    }
}

/// Whether two replays differ on an item: another verdict, another rule, or an event that only
/// happens for one of them. Texts and evidence that name other limits do not count as a difference.
#[must_use]
pub fn differs(one: &ReplayOutcome, other: &ReplayOutcome) -> bool {
    match (one, other) {
        (
            ReplayOutcome::Judged { verdict: one, .. },
            ReplayOutcome::Judged { verdict: other, .. },
        ) => (one.decision, one.rule) != (other.decision, other.rule),
        (one, other) => std::mem::discriminant(one) != std::mem::discriminant(other),
    }
}
