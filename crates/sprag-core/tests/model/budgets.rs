//! Budgets: actions between two words of a user; tokens, money and time in all.

use sprag_core::{Amounts, Decision, Limits, Observed, RuleId, Timestamp, Usage};

use super::findings::{Findings, Stage};
use super::judge::{Actor, Deed, Judged, killed};
use super::record::{Facts, Record};

/// An amount before and after an event.
type Growth = (u64, u64);

/// The growth of an amount for a session, its flow and its agent's day, where there is such.
#[derive(Debug, Default)]
struct Growths {
    session: Growth,
    flow: Option<Growth>,
    agent_day: Option<Growth>,
}

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
            _ if self.is_blocked && is_step => return,
            _ if stops && count > budget && self.is_blocked => Decision::Deny,
            _ if stops && count > budget => Decision::Block,
            _ if count == (budget * 4).div_ceil(5) => Decision::Warn,
            _ => return,
        };
        findings.add(limits, RuleId::BudgetActions, decision);
    }
}

impl<'a> Deed<'_, 'a> {
    pub(crate) fn usage(&self, usage: &'a Usage) -> Judged<'a> {
        if self.actor.is_killed {
            return (killed(Decision::Kill), Facts::default());
        }
        let facts = Facts {
            accepted: true,
            ..Facts::default()
        };
        let mut findings = Findings::default();
        self.amounts(Some(usage), &mut findings);
        (findings, facts)
    }

    /// `budget.tokens`, `budget.cost` and `budget.time` after what this event adds.
    pub(crate) fn amounts(&self, usage: Option<&Usage>, findings: &mut Findings) {
        let budget = &self.actor.limits.budget;
        if budget.tokens != Amounts::default() {
            let growths = self.spent(usage, |usage| usage.tokens);
            self.judge(RuleId::BudgetTokens, budget.tokens, &growths, findings);
        }
        if budget.cost_micros != Amounts::default() {
            let growths = self.spent(usage, |usage| usage.cost_micros);
            self.judge(RuleId::BudgetCost, budget.cost_micros, &growths, findings);
        }
        if budget.time_ms != Amounts::default() {
            let growths = self.elapsed();
            self.judge(RuleId::BudgetTime, budget.time_ms, &growths, findings);
        }
    }

    fn judge(&self, rule: RuleId, budget: Amounts, growths: &Growths, findings: &mut Findings) {
        let limits: &Limits = &self.actor.limits;
        for (limit, growth) in [
            (budget.session, Some(growths.session)),
            (budget.flow, growths.flow),
            (budget.agent_day, growths.agent_day),
        ] {
            let (Some(limit), Some((before, after))) = (limit, growth) else {
                continue;
            };
            let is_most = |amount: u64| amount * 5 >= limit * 4;
            // A call in a blocked session is blocked as it is.
            let is_blocked_call = self.actor.is_blocked && self.stage == Stage::Before;
            if after >= limit {
                if !is_blocked_call {
                    findings.add(limits, rule, Decision::Block);
                }
            } else if is_most(after) && !is_most(before) {
                findings.add(limits, rule, Decision::Warn);
            }
        }
    }

    fn spent(&self, usage: Option<&Usage>, amount: fn(&Usage) -> u64) -> Growths {
        let added = usage.map_or(0, amount);
        let sum = |records: &[Record<'a>], counts: &dyn Fn(&Record<'a>) -> bool| {
            let before = records
                .iter()
                .filter(|record| record.facts.accepted && counts(record))
                .map(|record| match record.what {
                    Observed::Usage(usage) => amount(usage),
                    _ => 0,
                })
                .sum();
            (before, before + added)
        };
        Growths {
            session: sum(self.actor.life, &|record| {
                record.cells.session == self.cells.session
            }),
            flow: self.cells.flow.map(|flow| {
                sum(self.history.flow_life(flow, self.now), &|record| {
                    record.cells.flow == Some(flow)
                })
            }),
            agent_day: self.cells.agent.map(|agent| {
                sum(&self.history.records, &|record| {
                    record.cells.agent == Some(agent) && self.is_today(record)
                })
            }),
        }
    }

    fn elapsed(&self) -> Growths {
        let session: Vec<_> = self
            .actor
            .life
            .iter()
            .filter(|record| record.cells.has_session(self.actor.id))
            .collect();
        let today: Vec<_> = self
            .history
            .records
            .iter()
            .filter(|record| record.cells.agent == self.cells.agent && self.is_today(record))
            .collect();
        Growths {
            session: self.since_first(&session),
            flow: self.cells.flow.map(|flow| self.chain_age(flow)),
            agent_day: self.cells.agent.map(|_| self.since_first(&today)),
        }
    }

    /// The time from the first of these records to the last, and to now.
    fn since_first(&self, records: &[&Record<'a>]) -> Growth {
        let first = records.iter().find(|record| !record.facts.stale);
        self.age(
            first.map(|record| record.now),
            records.last().map(|record| record.now),
        )
    }

    fn chain_age(&self, flow: &sprag_core::Id) -> Growth {
        let chain = self.history.chain(flow, self.now);
        let touched = self.history.touched(|cells| cells.flow == Some(flow));
        self.age(chain.map(|chain| chain.since), touched)
    }

    fn age(&self, since: Option<Timestamp>, touched: Option<Timestamp>) -> Growth {
        let since = since.unwrap_or(self.now);
        let before = touched.map_or(0, |touched| touched.since(since).0);
        (before, self.now.since(since).0)
    }

    fn is_today(&self, record: &Record<'a>) -> bool {
        record.now.utc_day() == self.now.utc_day()
    }
}
