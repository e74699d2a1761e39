//! Calls that go on against refusals.

use sprag_core::{Decision, Millis, Observed, RuleId, Timestamp};

use super::findings::Findings;
use super::judge::Action;

impl Action<'_, '_> {
    /// Counts the refusal of a call by `rule`, unless it comes too soon after the last one counted.
    pub(crate) fn defiance(&self, rule: RuleId, findings: &mut Findings) -> Option<RuleId> {
        let limits = &*self.actor.limits;
        let mut in_a_row = 0;
        let mut last: Option<Timestamp> = None;
        let mut last_identical: Option<Timestamp> = None;
        for record in self.actor.life {
            if record.facts.ran.is_some() && record.cells.session == Some(self.actor.id) {
                in_a_row = 0;
            }
            let is_call = matches!(record.what, Observed::Call(_));
            if !is_call || record.cells.session != Some(self.actor.id) {
                continue;
            }
            if record.facts.accepted {
                in_a_row = 0;
            }
            if let Some(rule) = record.facts.defied {
                in_a_row += 1;
                last = Some(record.now);
                if rule == RuleId::CallIdentical {
                    last_identical = Some(record.now);
                }
            }
        }
        let is_over = |last: Option<Timestamp>, span: Millis| {
            last.is_none_or(|last| self.now.since(last) >= span)
        };
        let counts = is_over(last, Millis::SECOND)
            && (rule != RuleId::CallIdentical || is_over(last_identical, limits.call.window));
        if !counts {
            return None;
        }
        let max = limits.session.max_refused.get();
        match in_a_row + 1 {
            count if count >= 2 * max => {
                findings.add(limits, RuleId::SessionDefiance, Decision::Kill);
            }
            count if count == max => {
                findings.add(limits, RuleId::SessionDefiance, Decision::Block);
            }
            _ => {}
        }
        Some(rule)
    }
}
