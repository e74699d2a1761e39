//! `budget.tokens`, `budget.cost`, `budget.time`: what a session, a flow or an agent's day may use.
//!
//! Off by default: what is too much depends on who pays. If they are on, the session that trips
//! a budget is blocked: it may still report what it found.
//!
//! Trips when: 80 % are reached (warn, once), 100 % are reached (block).
//! Resets when: the session is reset; a flow's and an agent's amounts stay; an agent's day ends at
//! midnight UTC.
//! Bounded by: two sums and a bit set for each scope.
//! Odd cases: a flow's or agent's budget blocks again right after a reset of the session, because it is still used up.

use crate::cell::{Cells, SessionCell, Spending};
use crate::finding::{Finding, Findings};
use crate::policy::{Amounts, Limits};
use crate::rule::RuleId;
use crate::time::Timestamp;
use crate::verdict::Decision;

const TOKENS: u8 = 0;
const COST: u8 = 1;
const TIME: u8 = 2;

/// Judges every budget that is set.
pub(crate) fn judge(
    session: &mut SessionCell,
    cells: &mut Cells,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let budget = &limits.budget;
    let off = Amounts::default();
    if budget.tokens == off && budget.cost_micros == off && budget.time_ms == off {
        return;
    }
    let blocked = session.blocked.is_some();
    let mut judge_scope = |scope: &str,
                           spent: &mut Spending,
                           since: Option<Timestamp>,
                           pick: fn(&Amounts) -> Option<u64>| {
        let time = since.map_or(0, |since| now.since(since).0);
        for (bit, rule, used, amounts) in [
            (TOKENS, RuleId::BudgetTokens, spent.tokens, &budget.tokens),
            (
                COST,
                RuleId::BudgetCost,
                spent.cost_micros,
                &budget.cost_micros,
            ),
            (TIME, RuleId::BudgetTime, time, &budget.time_ms),
        ] {
            if let Some(max) = pick(amounts) {
                one(rule, bit, scope, used, max, blocked, spent, limits, found);
            }
        }
    };
    let since = session.held.since;
    judge_scope("session", &mut session.held.spent, since, |amounts| {
        amounts.session
    });
    if let Some(cell) = &mut cells.flow {
        let since = cell.started.map(|_| cell.chain_since);
        judge_scope("flow", &mut cell.spent, since, |amounts| amounts.flow);
    }
    if let Some(cell) = &mut cells.agent {
        let since = Some(cell.day_since);
        judge_scope("agent_day", &mut cell.spent, since, |amounts| {
            amounts.agent_day
        });
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one budget in one scope has that many sides"
)]
fn one(
    rule: RuleId,
    bit: u8,
    scope: &str,
    used: u64,
    max: u64,
    blocked: bool,
    spent: &mut Spending,
    limits: &Limits,
    found: &mut Findings,
) {
    let decision = if used >= max {
        if blocked {
            return;
        }
        Decision::Block
    } else if u128::from(used) * 5 >= u128::from(max) * 4 && spent.warn_once(bit) {
        Decision::Warn
    } else {
        return;
    };
    found.add(limits, rule, || {
        let (used_text, max_text) = (amount(rule, used), amount(rule, max));
        let whose = scope.replace('_', "'s ");
        let happened =
            format!("The budget of {max_text} for this {whose} is used up ({used_text})");
        let message = match decision {
            Decision::Warn => {
                format!("{used_text} of {max_text} for this {whose} are used. Come to an end.")
            }
            _ => format!("{happened}. Make no further calls; summarise and stop."),
        };
        Finding::new(rule, decision, message)
            .why(happened)
            .with("scope", scope)
            .with("used", used)
            .with("max", max)
            .hint(format!("sprag policy show {}", rule.family()))
    });
}

fn amount(rule: RuleId, value: u64) -> String {
    match rule {
        RuleId::BudgetCost => format!("${}.{:02}", value / 1_000_000, value % 1_000_000 / 10_000),
        RuleId::BudgetTime => format!("{} s", value / 1000),
        _ => format!("{value} tokens"),
    }
}

/// Adds what was spent.
pub(crate) fn add(session: &mut SessionCell, cells: &mut Cells, tokens: u64, cost_micros: u64) {
    session.held.spent.add(tokens, cost_micros);
    if let Some(cell) = &mut cells.flow {
        cell.spent.add(tokens, cost_micros);
    }
    if let Some(cell) = &mut cells.agent {
        cell.spent.add(tokens, cost_micros);
    }
}
