//! Budgets: actions between two words of a user; tokens, money and time in all.

use sprag_core::{Decision, Observed, RuleId, Usage};

use super::findings::Findings;
use super::judge::{Action, Actor, ModelOutcome, killed};
use super::record::{BudgetScope, EventFacts, Record};

impl Actor<'_, '_> {
    /// The actions since a user was last heard, with this one; and whether one ever was.
    fn actions(&self) -> (u32, bool) {
        let heard = self.life.iter().rposition(|record| {
            record.facts.attends.is_some() && record.cells.receiver == Some(self.id)
        });
        let since = &self.life[heard.map_or(0, |at| at + 1)..];
        let earlier = since
            .iter()
            .filter(|record| record.facts.action && record.cells.session == Some(self.id))
            .count();
        let earlier = u32::try_from(earlier).expect("histories are short");
        (earlier + 1, heard.is_some())
    }

    /// `budget.actions` on one more action.
    pub(crate) fn judge_actions(&self, is_step: bool, findings: &mut Findings) {
        let limits = &*self.limits;
        let budget = limits.budget.actions;
        let (count, has_user) = self.actions();
        let stops = has_user || limits.budget.strict;
        let decision = match count {
            _ if stops && count > 2 * budget => Decision::Kill,
            _ if is_step && self.is_spared() => return,
            _ if stops && count > budget && self.is_blocked => Decision::Deny,
            _ if stops && count > budget => Decision::Block,
            _ if count == (budget * 4).div_ceil(5) => Decision::Warn,
            _ => return,
        };
        findings.add(limits, RuleId::BudgetActions, decision);
    }

    /// Whether its steps are only recorded.
    fn is_spared(&self) -> bool {
        self.is_blocked
    }
}

impl<'a> Action<'_, 'a> {
    pub(crate) fn usage(&self, usage: &'a Usage) -> ModelOutcome<'a> {
        if self.actor.is_killed {
            return (killed(Decision::Kill), EventFacts::default());
        }
        let mut findings = Findings::default();
        let facts = EventFacts {
            accepted: true,
            warned: self.amounts(Some(usage), &mut findings),
            ..EventFacts::default()
        };
        (findings, facts)
    }

    /// `budget.tokens`, `budget.cost` and `budget.time` after what this event adds.
    pub(crate) fn amounts(
        &self,
        usage: Option<&Usage>,
        findings: &mut Findings,
    ) -> Vec<(RuleId, BudgetScope)> {
        let budget = &self.actor.limits.budget;
        let mut warned = Vec::new();
        for (rule, amounts) in [
            (RuleId::BudgetTokens, budget.tokens),
            (RuleId::BudgetCost, budget.cost_micros),
            (RuleId::BudgetTime, budget.time_ms),
        ] {
            for (purse, limit) in [
                (BudgetScope::Session, amounts.session),
                (BudgetScope::Flow, amounts.flow),
                (BudgetScope::AgentDay, amounts.agent_day),
            ] {
                let Some((limit, records)) = limit.zip(self.purse(purse)) else {
                    continue;
                };
                let amount = match rule {
                    RuleId::BudgetTokens => spent(&records, usage, |usage| usage.tokens),
                    RuleId::BudgetCost => spent(&records, usage, |usage| usage.cost_micros),
                    _ => self.elapsed(purse, &records),
                };
                let was_warned = records
                    .iter()
                    .any(|record| record.facts.warned.contains(&(rule, purse)));
                match self.judge(amount, limit) {
                    Some(Decision::Warn) if was_warned => {}
                    Some(decision) => {
                        findings.add(&self.actor.limits, rule, decision);
                        if decision == Decision::Warn {
                            warned.push((rule, purse));
                        }
                    }
                    None => {}
                }
            }
        }
        warned
    }

    fn judge(&self, amount: u64, limit: u64) -> Option<Decision> {
        if amount >= limit {
            Some(Decision::Block).filter(|_| !self.actor.is_blocked)
        } else {
            Some(Decision::Warn).filter(|_| amount * 5 >= limit * 4)
        }
    }

    /// The records of what a purse is for, where there is such.
    fn purse(&self, purse: BudgetScope) -> Option<Vec<&Record<'a>>> {
        let history = self.history;
        let records: Vec<&Record<'a>> = match purse {
            BudgetScope::Session => history
                .lifetime(self.actor.id, self.now)
                .iter()
                .filter(|record| record.cells.has_session(self.actor.id))
                .collect(),
            BudgetScope::Flow => history
                .flow_life(self.cells.flow?, self.now)
                .iter()
                .filter(|record| record.cells.flow == self.cells.flow)
                .collect(),
            BudgetScope::AgentDay => {
                self.cells.agent?;
                let today = self.now.utc_day();
                history
                    .records
                    .iter()
                    .filter(|record| record.cells.agent == self.cells.agent)
                    .filter(|record| record.now.utc_day() == today)
                    .collect()
            }
        };
        Some(records)
    }

    /// The time since the purse was opened.
    fn elapsed(&self, purse: BudgetScope, records: &[&Record<'a>]) -> u64 {
        let first = records.first();
        let since = match (purse, self.cells.flow) {
            (BudgetScope::Flow, Some(flow)) => {
                let chain = self.history.chain(flow, self.now);
                chain.map(|chain| chain.since)
            }
            _ => first.map(|record| record.now),
        };
        self.now.since(since.unwrap_or(self.now)).0
    }
}

/// What usage has taken from a purse, with this one.
fn spent(records: &[&Record<'_>], usage: Option<&Usage>, amount: fn(&Usage) -> u64) -> u64 {
    let earlier = records.iter().filter_map(|record| match record.what {
        Observed::Usage(usage) if record.facts.accepted => Some(usage),
        _ => None,
    });
    earlier.chain(usage).map(amount).sum()
}
