//! Budgets: actions between two words of a user; tokens, money and time in all.

use sprag_core::{
    Decision, Id, Limits, LimitsRef, Millis, Observed, Priced, RuleId, Timestamp, Usage,
};

use super::findings::Findings;
use super::judge::{Action, Actor, ModelOutcome, killed};
use super::record::{BudgetScope, EventFacts, Purse, Record};

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
        if usage.pending {
            self.reserve(usage, &mut findings);
            let facts = EventFacts {
                accepted: findings.refusal().is_none(),
                ..EventFacts::default()
            };
            return (findings, facts);
        }
        let unpriced = self.is_first_without_price(usage);
        if unpriced {
            findings.add(&self.actor.limits, RuleId::BudgetCost, Decision::Warn);
        }
        let facts = EventFacts {
            accepted: true,
            unpriced,
            warned: self.amounts(Some(usage), &mut findings),
            ..EventFacts::default()
        };
        (findings, facts)
    }

    /// Whether a budget of money meets a model without a price for the first time in the session.
    fn is_first_without_price(&self, usage: &Usage) -> bool {
        let cost = self.actor.limits.budget.cost_micros;
        let lifetime = self.history.lifetime(self.actor.id, self.now).iter();
        let mut own = lifetime.filter(|record| record.cells.session == Some(self.actor.id));
        usage.prices == Priced::Unknown
            && [cost.session, cost.flow, cost.agent_day] != [None; 3]
            && own.all(|record| !record.facts.unpriced)
    }

    /// `budget.tokens`, `budget.cost` and `budget.time` after what this event adds.
    pub(crate) fn amounts(
        &self,
        usage: Option<&Usage>,
        findings: &mut Findings,
    ) -> Vec<(RuleId, Purse)> {
        let mut warned = Vec::new();
        for (purse, limits) in self.purses() {
            let Some(records) = self.records_of(&purse) else {
                continue;
            };
            let is_own = purse.1.as_ref().is_none_or(|id| id == self.actor.id);
            for (rule, limit) in budgets(&purse, &limits) {
                let amount = match rule {
                    RuleId::BudgetTokens => spent(&records, usage, |usage| usage.tokens),
                    RuleId::BudgetCost => spent(&records, usage, |usage| usage.cost_micros),
                    _ if is_own => self.elapsed(purse.0, &records),
                    _ => continue,
                };
                let was_warned = records
                    .iter()
                    .any(|record| record.facts.warned.contains(&(rule, purse.clone())));
                match self.judge(amount, limit) {
                    // A session above is warned about when something is spent.
                    Some(Decision::Warn) if was_warned || !is_own && usage.is_none() => {}
                    Some(decision) => {
                        findings.add(&limits, rule, decision);
                        if decision == Decision::Warn {
                            warned.push((rule, purse.clone()));
                        }
                    }
                    None => {}
                }
            }
        }
        warned
    }

    /// Whether a reservation fits into every budget, beside what is spent and what others reserved.
    fn reserve(&self, usage: &Usage, findings: &mut Findings) {
        for (purse, limits) in self.purses() {
            let Some(records) = self.records_of(&purse) else {
                continue;
            };
            let reserved = reserved(&records, usage, self.now);
            for (rule, limit) in budgets(&purse, &limits) {
                let amount: fn(&Usage) -> u64 = match rule {
                    RuleId::BudgetTokens => |usage| usage.tokens,
                    RuleId::BudgetCost => |usage| usage.cost_micros,
                    _ => continue,
                };
                let used = spent(&records, None, amount);
                let held: u64 = reserved.iter().map(|held| amount(held)).sum();
                if used >= limit && !self.actor.is_blocked {
                    findings.add(&limits, rule, Decision::Block);
                } else if used + held + amount(usage) > limit {
                    findings.add(&limits, rule, Decision::Deny);
                }
            }
        }
    }

    fn judge(&self, amount: u64, limit: u64) -> Option<Decision> {
        if amount >= limit {
            Some(Decision::Block).filter(|_| !self.actor.is_blocked)
        } else {
            Some(Decision::Warn).filter(|_| amount * 5 >= limit * 4)
        }
    }

    /// What the event counts for, with the limits that hold there: the session's own, and those of the
    /// sessions above it for theirs.
    fn purses(&self) -> Vec<(Purse, LimitsRef<'a>)> {
        let own = &self.actor.limits;
        let mut all = vec![
            (
                (BudgetScope::Session, Some(self.actor.id.clone())),
                own.clone(),
            ),
            ((BudgetScope::Flow, None), own.clone()),
            ((BudgetScope::AgentDay, None), own.clone()),
        ];
        let above = self.actor.id.parents();
        for parent in above.filter(|id| self.history.is_live(id, self.now)) {
            let id = Id::new(parent).expect("a part of an id");
            let agent = self.history.agent(&id);
            let limits = self.policy.limits_for(agent.map(Id::as_str), parent);
            all.push(((BudgetScope::Session, Some(id)), limits));
        }
        all
    }

    /// The records of what a purse is for, where there is such.
    fn records_of(&self, (scope, session): &Purse) -> Option<Vec<&Record<'a>>> {
        let history = self.history;
        let records: Vec<&Record<'a>> = match (scope, session) {
            (BudgetScope::Session, session) => {
                let session = session.as_ref()?;
                history
                    .lifetime(session, self.now)
                    .iter()
                    .filter(|record| record.cells.has_session(session))
                    .collect()
            }
            (BudgetScope::Flow, _) => history
                .flow_life(self.cells.flow?, self.now)
                .iter()
                .filter(|record| record.cells.flow == self.cells.flow)
                .collect(),
            (BudgetScope::AgentDay, _) => {
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

/// The budgets of a purse that are set.
fn budgets((scope, _): &Purse, limits: &Limits) -> Vec<(RuleId, u64)> {
    let budget = &limits.budget;
    let all = [
        (RuleId::BudgetTokens, budget.tokens),
        (RuleId::BudgetCost, budget.cost_micros),
        (RuleId::BudgetTime, budget.time_ms),
    ];
    let picked = all.into_iter().filter_map(|(rule, amounts)| {
        let limit = match scope {
            BudgetScope::Session => amounts.session,
            BudgetScope::Flow => amounts.flow,
            BudgetScope::AgentDay => amounts.agent_day,
        };
        Some((rule, limit?))
    });
    picked.collect()
}

/// What usage has taken from a purse, with this one.
fn spent(records: &[&Record<'_>], usage: Option<&Usage>, amount: fn(&Usage) -> u64) -> u64 {
    let earlier = accepted(records).map(|(usage, _)| usage);
    let earlier = earlier.filter(|usage| !usage.pending);
    earlier.chain(usage).map(amount).sum()
}

/// What others than this one have reserved: not settled, not replaced, not ten minutes old.
fn reserved<'r>(records: &[&'r Record<'_>], own: &Usage, now: Timestamp) -> Vec<&'r Usage> {
    let mut open: Vec<(&Usage, Timestamp)> = Vec::new();
    let same = |one: &Usage, other: &Usage| one.session == other.session && one.id == other.id;
    for (usage, at) in accepted(records).filter(|(usage, _)| usage.id.is_some()) {
        open.retain(|(held, _)| !same(held, usage));
        if usage.pending {
            open.push((usage, at));
        }
    }
    open.retain(|(held, at)| !same(held, own) && now.since(*at) < Millis(600_000));
    open.into_iter().map(|(held, _)| held).collect()
}

fn accepted<'r>(records: &[&'r Record<'_>]) -> impl Iterator<Item = (&'r Usage, Timestamp)> {
    records.iter().filter_map(|record| match record.what {
        Observed::Usage(usage) if record.facts.accepted => Some((usage, record.now)),
        _ => None,
    })
}
