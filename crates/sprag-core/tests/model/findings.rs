//! What the rules say of one event, and the verdict that comes of it.

use sprag_core::{Code, Decision, Identity, Limits, Mode, RuleId};

use super::record::{Mark, ModelVerdict};

/// One rule's word.
#[derive(Debug, Clone, Copy)]
struct Finding {
    decision: Decision,
    rule: RuleId,
    code: Option<Code>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    enforced: Vec<Finding>,
    shadow: Vec<Finding>,
    /// A person approved the call: who asks is not heard.
    lifts: bool,
    /// Somebody would have asked.
    pub(crate) lifted: bool,
}

/// Whether what was judged can still be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Calls: a person may be asked.
    Call,
    /// Messages: nobody is asked.
    Message,
    /// Steps and usage: they have happened.
    After,
}

impl Findings {
    /// None yet; of an approved call, those who ask are not heard.
    pub(crate) fn lifting(lifts: bool) -> Self {
        Self {
            lifts,
            ..Self::default()
        }
    }

    /// A rule's word, as far as its mode lets it speak.
    pub(crate) fn add(&mut self, limits: &Limits, rule: RuleId, decision: Decision) {
        self.add_coded(limits, rule, decision, None);
    }

    pub(crate) fn add_coded(
        &mut self,
        limits: &Limits,
        rule: RuleId,
        decision: Decision,
        code: Option<Code>,
    ) {
        let finding = Finding {
            decision,
            rule,
            code,
        };
        match limits.modes.get(rule) {
            Mode::Off => {}
            Mode::Shadow => self.shadow.push(finding),
            Mode::Ask if self.lifts && decision.refuses() => self.lifted = true,
            Mode::Ask => self.enforced.push(Finding {
                decision: decision.min(Decision::Ask),
                ..finding
            }),
            // A rule that asks by itself is lifted in the same way.
            Mode::Enforce if self.lifts && decision == Decision::Ask => self.lifted = true,
            Mode::Enforce => self.enforced.push(finding),
        }
    }

    /// The gate of killed sessions, which has no mode.
    pub(crate) fn killed(decision: Decision, code: Code) -> Self {
        let finding = Finding {
            decision,
            rule: RuleId::SessionKilled,
            code: Some(code),
        };
        Self {
            enforced: vec![finding],
            ..Self::default()
        }
    }

    /// The gate of a panic, which has none either.
    pub(crate) fn panic(decision: Decision) -> Self {
        let finding = Finding {
            decision,
            rule: RuleId::SessionPanic,
            code: Some(Code::Panic),
        };
        Self {
            enforced: vec![finding],
            ..Self::default()
        }
    }

    /// The rule that refuses, if any does.
    pub(crate) fn refusal(&self) -> Option<RuleId> {
        strongest(&self.enforced)
            .filter(|finding| finding.decision.refuses())
            .map(|finding| finding.rule)
    }

    /// A person declined the call: who asks refuses.
    pub(crate) fn decline(&mut self) {
        if strongest(&self.enforced).is_some_and(|top| top.decision == Decision::Ask) {
            let asking = |found: &&mut Finding| found.decision == Decision::Ask;
            let asks = self.enforced.iter_mut().filter(asking);
            asks.for_each(|found| found.decision = Decision::Deny);
        }
    }

    /// Whether a person is to be asked.
    pub(crate) fn asks(&self) -> bool {
        strongest(&self.enforced).is_some_and(|top| top.decision == Decision::Ask)
    }

    /// The mark that goes with the verdict.
    pub(crate) fn mark(&self, identity: Identity) -> Option<Mark> {
        let top = strongest(&self.enforced)?;
        match top.decision {
            _ if identity == Identity::Shared || top.rule == RuleId::SessionKilled => None,
            Decision::Block => Some(Mark::Block),
            Decision::Kill => Some(Mark::Kill),
            _ => None,
        }
    }

    /// What is told.
    pub(crate) fn verdict(&self, identity: Identity, stage: Stage) -> ModelVerdict {
        let soften = |decision| match (identity, stage) {
            (_, Stage::Message) if decision == Decision::Ask => Decision::Deny,
            (_, Stage::After) if decision == Decision::Ask => Decision::Warn,
            (Identity::Shared, Stage::Call | Stage::Message) if decision > Decision::Deny => {
                Decision::Deny
            }
            (Identity::Shared, Stage::After) if decision > Decision::Warn => Decision::Warn,
            _ => decision,
        };
        let would = strongest(&self.shadow).map(|found| (soften(found.decision), found.rule));
        let Some(top) = strongest(&self.enforced) else {
            return ModelVerdict {
                would,
                ..ModelVerdict::default()
            };
        };
        ModelVerdict {
            decision: soften(top.decision),
            rule: Some(top.rule),
            code: top.code,
            also: self
                .enforced
                .iter()
                .map(|finding| finding.rule)
                .filter(|rule| *rule != top.rule)
                .collect(),
            would,
            ..ModelVerdict::default()
        }
    }
}

/// The highest decision; among equals the order of the tables.
fn strongest(findings: &[Finding]) -> Option<&Finding> {
    findings
        .iter()
        .min_by_key(|finding| (std::cmp::Reverse(finding.decision), finding.rule))
}
