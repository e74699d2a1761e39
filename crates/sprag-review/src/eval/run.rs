//! What came of one recorded run.

use std::collections::BTreeMap;

use serde::Serialize;
use sprag_core::{Decision, RuleId};

/// One recorded run under one policy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EvalRun {
    /// Which run.
    pub trace: String,
    /// The numbers of the steps with a call, in order; a step may have several.
    pub calls: Vec<u64>,
    /// Whether any result was recorded.
    pub has_steps: bool,
    /// Whether any message was recorded.
    pub has_messages: bool,
    /// The first event that was warned about.
    pub warn: Option<FirstVerdict>,
    /// The first event that was refused.
    pub stop: Option<FirstVerdict>,
    /// The same for each rule that said anything.
    pub rules: BTreeMap<RuleId, RuleFirsts>,
}

/// An event that got more than `allow`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstVerdict {
    /// The number of its step.
    pub seq: u64,
    /// What it got.
    pub verdict: Decision,
    /// The rule that said so.
    pub rule: RuleId,
    /// What the agent is told.
    pub message: String,
}

/// When a rule first warned and first refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleFirsts {
    /// The first warning.
    pub warn: Option<u64>,
    /// The first refusal.
    pub stop: Option<u64>,
}

impl EvalRun {
    /// The step of the first refusal.
    #[must_use]
    pub fn stop_seq(&self) -> Option<u64> {
        self.stop.as_ref().map(|mark| mark.seq)
    }

    /// Whether it was refused anything before its last call.
    #[must_use]
    pub fn stopped_early(&self) -> bool {
        let stop = self.stop_seq();
        stop.is_some_and(|stop| self.calls.last().is_some_and(|last| stop < *last))
    }

    /// Whether it got anything above `allow`.
    #[must_use]
    pub fn noticed(&self) -> bool {
        self.warn.is_some() || self.stop.is_some()
    }

    /// Whether this rule said anything.
    #[must_use]
    pub fn noticed_by(&self, rule: RuleId) -> bool {
        self.rules.contains_key(&rule)
    }

    /// The calls that a stop there leaves out.
    #[must_use]
    pub fn calls_after(&self, seq: u64) -> usize {
        self.calls.iter().filter(|call| **call > seq).count()
    }

    /// How many calls after `due` the stop came; less than zero where it came before.
    #[must_use]
    pub fn delay(&self, due: u64) -> Option<i64> {
        let stop = self.stop_seq()?;
        let late = self.calls_after(due.min(stop)) - self.calls_after(due.max(stop));
        let late = i64::try_from(late).unwrap_or(i64::MAX);
        Some(if stop < due { -late } else { late })
    }

    /// The same run as if only the rules of one family had spoken. What they would have said after
    /// another family's stop stays unknown.
    #[must_use]
    pub fn by_family(&self, family: &str) -> Self {
        let own = self
            .rules
            .iter()
            .filter(|(rule, _)| rule.family() == family);
        let rules: BTreeMap<RuleId, RuleFirsts> =
            own.map(|(rule, marks)| (*rule, *marks)).collect();
        let first = |verdict: Decision, of: fn(&RuleFirsts) -> Option<u64>| {
            let marks = rules
                .iter()
                .filter_map(|(rule, marks)| Some((of(marks)?, *rule)));
            let (seq, rule) = marks.min()?;
            let message = String::new();
            Some(FirstVerdict {
                seq,
                verdict,
                rule,
                message,
            })
        };
        Self {
            trace: self.trace.clone(),
            calls: self.calls.clone(),
            warn: first(Decision::Warn, |marks| marks.warn),
            stop: first(Decision::Deny, |marks| marks.stop),
            rules,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(calls: &[u64], stop: u64) -> EvalRun {
        EvalRun {
            calls: calls.to_vec(),
            stop: Some(FirstVerdict {
                seq: stop,
                verdict: Decision::Block,
                rule: RuleId::ProgressStuck,
                message: String::new(),
            }),
            ..EvalRun::default()
        }
    }

    #[test]
    fn a_delay_is_counted_in_calls() {
        let run = stopped(&[0, 2, 4, 6, 8], 6);
        assert_eq!(run.delay(6), Some(0));
        assert_eq!(run.delay(2), Some(2));
        assert_eq!(run.delay(8), Some(-1));
        assert_eq!(EvalRun::default().delay(8), None);
    }

    #[test]
    fn a_stop_at_the_last_call_is_not_early() {
        assert!(!stopped(&[0, 1], 1).stopped_early());
        assert!(stopped(&[0, 1], 0).stopped_early());
        assert!(!stopped(&[], 0).stopped_early());
    }

    #[test]
    fn a_family_has_its_own_first_stop() {
        let mut run = stopped(&[0, 1, 2], 1);
        let marks = |stop| RuleFirsts { warn: None, stop };
        run.rules.insert(RuleId::CallIdentical, marks(Some(1)));
        run.rules.insert(RuleId::ProgressStuck, marks(Some(2)));
        assert_eq!(run.by_family("progress").stop_seq(), Some(2));
        assert_eq!(run.by_family("call").stop_seq(), Some(1));
        assert_eq!(run.by_family("flow").stop_seq(), None);
    }
}
