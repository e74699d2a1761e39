//! What the rules found on an event, collected until the highest wins.
//!
//! A rule that trips hands in a [`Finding`]; its mode decides whether it counts, is only reported, or
//! is not even made. Nothing is allocated while no rule trips.

use serde_json::Value;

use crate::policy::{Limits, Mode};
use crate::rule::RuleId;
use crate::verdict::{Code, Decision, Evidence, Verdict, Would};

/// What one rule found on an event.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) rule: RuleId,
    pub(crate) decision: Decision,
    pub(crate) message: String,
    /// What happened without what to do now: the reason that a mark keeps.
    pub(crate) why: Option<String>,
    /// The adapter should end the agent's turn.
    pub(crate) end_turn: bool,
    pub(crate) evidence: Evidence,
    pub(crate) hint: Option<String>,
    pub(crate) code: Option<Code>,
    pub(crate) retry_after_ms: Option<u64>,
}

impl Finding {
    pub(crate) fn new(rule: RuleId, decision: Decision, message: impl Into<String>) -> Self {
        Self {
            rule,
            decision,
            message: message.into(),
            why: None,
            end_turn: false,
            evidence: Evidence::new(),
            hint: None,
            code: None,
            retry_after_ms: None,
        }
    }

    /// Adds a piece of evidence.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.evidence.insert(key.to_owned(), value.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    pub(crate) fn why(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    /// What happened, without what to do now: its first sentence.
    pub(crate) fn reason(&self) -> String {
        let said = self.why.as_deref().unwrap_or(&self.message);
        let said = said
            .strip_prefix("session_killed: loop_detected, ")
            .unwrap_or(said);
        let first = said.split_once(". ").map_or(said, |(first, _)| first);
        first.trim_end_matches('.').to_owned()
    }

    /// The finding of a rule that asks: what it would refuse, a person decides. Warnings stay.
    fn asking(mut self) -> Self {
        if self.decision.refuses() {
            self.decision = Decision::Ask;
            self.end_turn = false;
        }
        self
    }

    pub(crate) fn code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    pub(crate) fn retry_after(mut self, ms: u64) -> Self {
        self.retry_after_ms = Some(ms);
        self
    }
}

/// The findings on one event.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    enforced: Vec<Finding>,
    /// In a box, since there rarely is one, and the findings of every event are moved.
    shadow: Option<Box<Finding>>,
    /// A person approved the call: what would ask about it is left out.
    lifts: bool,
    lifted: bool,
    notice: Option<String>,
}

impl Findings {
    /// Adds something for a person to know, whatever the verdict is.
    pub(crate) fn notice(&mut self, notice: String) {
        self.notice = Some(notice);
    }

    /// One finding that no mode touches.
    pub(crate) fn of(finding: Finding) -> Self {
        Self {
            enforced: vec![finding],
            ..Self::default()
        }
    }

    /// Of a call that a person approved: rules that ask say nothing.
    pub(crate) fn lifting() -> Self {
        Self {
            lifts: true,
            ..Self::default()
        }
    }

    /// Whether a rule would have asked about the approved call.
    pub(crate) fn has_lifted(&self) -> bool {
        self.lifted
    }

    /// A person declined the call: what asks about it refuses it, with their words.
    pub(crate) fn decline(&mut self, by: Option<&str>, why: Option<&str>) {
        let by = by.unwrap_or("a person");
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        let asks = |finding: &&mut Finding| finding.decision == Decision::Ask;
        for finding in self.enforced.iter_mut().filter(asks) {
            let reason = finding.reason();
            finding.decision = Decision::Deny;
            finding.message = format!(
                "{reason}. Declined by {by}{why}: do not try this again, do something else or ask the user."
            );
            finding.evidence.insert("declined_by".to_owned(), by.into());
        }
    }

    /// Takes a finding that no mode touches.
    pub(crate) fn push(&mut self, finding: Finding) {
        if self.lifts && finding.decision == Decision::Ask {
            self.lifted = true;
        } else {
            self.enforced.push(finding);
        }
    }

    /// Takes a finding, made only when the rule's mode in `limits` wants it.
    pub(crate) fn add(&mut self, limits: &Limits, rule: RuleId, make: impl FnOnce() -> Finding) {
        match limits.modes.get(rule) {
            Mode::Off => {}
            Mode::Shadow => {
                let finding = make();
                if self
                    .shadow
                    .as_ref()
                    .is_none_or(|held| outranks(&finding, held))
                {
                    self.shadow = Some(Box::new(finding));
                }
            }
            Mode::Ask => self.push(make().asking()),
            Mode::Enforce => self.push(make()),
        }
    }

    /// Asks that the agent's turn be ended, if `rule` is enforced and fired.
    pub(crate) fn end_turn(&mut self, rule: RuleId) {
        for finding in self
            .enforced
            .iter_mut()
            .filter(|finding| finding.rule == rule)
        {
            finding.end_turn = true;
        }
    }

    /// The highest decision so far.
    pub(crate) fn decision(&self) -> Decision {
        self.strongest()
            .map_or(Decision::Allow, |finding| finding.decision)
    }

    /// The finding that decides.
    pub(crate) fn strongest(&self) -> Option<&Finding> {
        self.enforced
            .iter()
            .reduce(|best, next| if outranks(next, best) { next } else { best })
    }

    /// What the rules in shadow would have done, at most.
    pub(crate) fn shadowed(&self) -> Option<&Finding> {
        self.shadow.as_deref()
    }

    /// Whether nothing was found at all.
    pub(crate) fn is_silent(&self) -> bool {
        self.enforced.is_empty() && self.shadow.is_none() && self.notice.is_none()
    }

    /// Turns the findings into the verdict.
    pub(crate) fn into_verdict(self) -> Verdict {
        let would = self.shadow.map(|finding| {
            Box::new(Would {
                decision: finding.decision,
                rule: finding.rule,
                message: finding.message,
                evidence: finding.evidence,
            })
        });
        let notice = self.notice;
        let mut enforced = self.enforced;
        if enforced.is_empty() {
            return Verdict {
                would,
                notice,
                ..Verdict::default()
            };
        }
        enforced.sort_by_key(|finding| (std::cmp::Reverse(finding.decision), finding.rule));
        let hint = joint_hint(&enforced);
        let mut rest = enforced.into_iter();
        let Some(first) = rest.next() else {
            return Verdict::default();
        };
        // A budget may fire for a session and for its flow: one rule, reported once.
        let mut also: Vec<RuleId> = rest.map(|finding| finding.rule).collect();
        also.retain(|rule| *rule != first.rule);
        also.dedup();
        Verdict {
            decision: first.decision,
            rule: Some(first.rule),
            code: first.code,
            message: Some(first.message),
            evidence: Some(first.evidence),
            hint,
            also,
            would,
            retry_after_ms: first.retry_after_ms,
            end_turn: first.end_turn,
            notice,
            ..Verdict::default()
        }
    }
}

/// The command that lifts what was found. If several rules refuse, lifting one is not enough, so their
/// commands are joined.
fn joint_hint(found: &[Finding]) -> Option<String> {
    let first = found.first()?.hint.as_deref()?;
    let mut joint = String::from(first);
    for finding in found.iter().skip(1).filter(|one| one.decision.refuses()) {
        let more = finding.hint.as_deref().filter(|hint| is_order(hint));
        if let Some(more) = more.filter(|more| is_order(first) && !joint.contains(more)) {
            joint.push_str(" && ");
            joint.push_str(more);
        }
    }
    Some(joint)
}

/// A command that changes something, not one that explains.
fn is_order(hint: &str) -> bool {
    hint.starts_with("sprag policy set") || hint.starts_with("sprag sessions reset")
}

fn outranks(new: &Finding, held: &Finding) -> bool {
    (new.decision, std::cmp::Reverse(new.rule)) > (held.decision, std::cmp::Reverse(held.rule))
}
