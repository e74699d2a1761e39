//! Counts over a replay.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sprag_core::{Decision, Id, RuleId, Verdict};

use super::fold::ReplayOutcome;

/// The outcomes of a replay, counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ReplayTally {
    /// Events, skipped ones too.
    pub events: u64,
    /// Verdicts, by what to do.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Verdicts above `allow`, by rule.
    pub rules: BTreeMap<RuleId, u64>,
    /// Sessions that were blocked or killed.
    pub stopped: BTreeSet<Id>,
    /// Events that would not have happened.
    pub saved: u64,
    /// Calls and messages that were refused and would be allowed: what came of them is unknown.
    pub unknown: u64,
    /// Events whose verdict is not the recorded one, if one was recorded.
    pub different: u64,
    /// Events that could not be judged.
    pub errors: u64,
}

impl ReplayTally {
    pub(super) fn count(
        &mut self,
        session: &Id,
        recorded: Option<&Verdict>,
        outcome: &ReplayOutcome,
    ) {
        self.events += 1;
        match outcome {
            ReplayOutcome::Judged {
                verdict, unknown, ..
            } => {
                *self.verdicts.entry(verdict.decision.as_str()).or_default() += 1;
                if let (Some(rule), true) = (verdict.rule, verdict.decision > Decision::Allow) {
                    *self.rules.entry(rule).or_default() += 1;
                }
                if verdict.decision >= Decision::Block {
                    self.stopped.insert(session.clone());
                }
                self.unknown += u64::from(*unknown);
                let differs = recorded.is_some_and(|recorded| recorded != &**verdict);
                self.different += u64::from(differs);
            }
            ReplayOutcome::Saved => self.saved += 1,
            ReplayOutcome::Unknown => self.unknown += 1,
            ReplayOutcome::Skipped | ReplayOutcome::Noted => {}
            ReplayOutcome::Error(_) => self.errors += 1,
        }
    }
}
