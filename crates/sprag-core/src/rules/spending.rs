//! `budget.tokens`, `budget.cost`, `budget.time`: what a session, a flow or an agent's day may use.
//!
//! Off by default: what is too much depends on who pays. If they are on, the session that trips
//! a budget is blocked: it may still report what it found.
//!
//! Tokens that came from a provider's cache are left out: a client sends its whole prompt again with
//! every turn. They cost little, and that is in the cost. What a sub-agent (`<session>/<agent>`)
//! spends counts for the sessions above it too, by their limits: ten sub-agents share the budget of the
//! session that started them. So a sub-agent is blocked when the session above it has used up its budget.
//!
//! A *reservation* is what a request may cost before it is sent. It is refused if what is spent, what
//! others have reserved and the estimate together exceed a budget, and counts until it is settled. Only
//! reservations are judged by reservations: an estimate never blocks a session.
//!
//! Trips when: 80 % are reached (warn, once), 100 % are reached (block); a reservation does not fit
//! (deny); a budget of money is set and no price is known for the model (warn, once).
//! Resets when: the session is reset; a flow's and an agent's amounts stay; an agent's day ends at
//! midnight UTC.
//! Bounded by: sums, a bit set, four models by name and 64 reservations for each scope.
//! Odd cases: a flow's or agent's budget blocks again right after a reset of the session, because it is
//! still used up. A session above counts only if it had an event in the last day: ids with a slash
//! whose first part nobody ever used are no sub-agents.

mod wording;

use crate::cell::hash::hash_bytes;
use crate::cell::{Amount, Cells, SessionCell, Spending};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::observation::Usage;
use crate::policy::{Amounts, LimitsRef, Policy};
use crate::price::Priced;
use crate::rule::RuleId;
use crate::rules::text::plain_name;
use crate::time::Timestamp;
use crate::verdict::Decision;

const TOKENS: u8 = 0;
const COST: u8 = 1;
const TIME: u8 = 2;
const UNPRICED: u8 = 3;

/// One scope with what may be used in it.
struct SpendScope<'c> {
    name: &'static str,
    /// The session above that it is about.
    above: Option<Id>,
    spent: &'c mut Spending,
    tokens: Option<u64>,
    cost: Option<u64>,
    /// How long it has been, and how long it may be.
    time: Option<(u64, u64)>,
    limits: LimitsRef<'c>,
}

/// Who acts and under which limits.
pub(crate) struct Spender<'c> {
    session: &'c mut SessionCell,
    cells: &'c mut Cells,
    now: Timestamp,
    policy: &'c Policy,
    limits: &'c LimitsRef<'c>,
}

impl<'c> Spender<'c> {
    pub(crate) fn new(
        session: &'c mut SessionCell,
        cells: &'c mut Cells,
        now: Timestamp,
        policy: &'c Policy,
        limits: &'c LimitsRef<'c>,
    ) -> Self {
        Self {
            session,
            cells,
            now,
            policy,
            limits,
        }
    }

    /// Judges every budget that is set.
    pub(crate) fn judge(&mut self, found: &mut Findings) {
        if self.has_no_budget() {
            return;
        }
        let blocked = self.session.blocked.is_some();
        for mut scope in self.scopes() {
            scope.judge(blocked, found);
        }
    }

    /// Judges whether a reservation fits, and holds it back if it does.
    pub(crate) fn reserve(&mut self, usage: &Usage, found: &mut Findings) {
        let (id, amount, now) = (reservation(usage), amount(usage), self.now);
        let blocked = self.session.blocked.is_some();
        if !self.has_no_budget() {
            for scope in &mut self.scopes() {
                scope.fits(id, amount, now, blocked, found);
            }
        }
        if !found.decision().refuses() {
            self.each(|spent| spent.reserve(id, amount, now));
        }
    }

    /// Adds what was spent, and settles the reservation that was made for it.
    pub(crate) fn add(&mut self, usage: &Usage, found: &mut Findings) {
        let (id, amount, now) = (reservation(usage), amount(usage), self.now);
        self.each(|spent| {
            if usage.id.is_some() {
                spent.settle(id, now);
            }
            spent.add(amount);
        });
        let off = Amounts::default();
        if amount.unpriced
            && self.limits.budget.cost_micros != off
            && self.session.held.spent.warn_once(UNPRICED)
        {
            found.add(self.limits, RuleId::BudgetCost, || unpriced(usage));
        }
    }

    fn has_no_budget(&self) -> bool {
        let (budget, off) = (&self.limits.budget, Amounts::default());
        let none = budget.tokens == off && budget.cost_micros == off && budget.time_ms == off;
        none && self.cells.above.is_empty() && self.cells.spent_above.is_empty()
    }

    /// Every sum that the usage counts in.
    fn each(&mut self, mut change: impl FnMut(&mut Spending)) {
        change(&mut self.session.held.spent);
        for above in &mut self.cells.above {
            if above.is_live(self.now) {
                change(&mut above.cell.held.spent);
                above.cell.touched = self.now;
                above.is_counted = true;
            }
        }
        if let Some(cell) = &mut self.cells.flow {
            change(&mut cell.spent);
        }
        if let Some(cell) = &mut self.cells.agent {
            change(&mut cell.spent);
        }
    }

    fn scopes(&mut self) -> Vec<SpendScope<'_>> {
        let (now, limits, policy) = (self.now, self.limits, self.policy);
        let budget = &limits.budget;
        let scope = |name, spent, since: Option<Timestamp>, pick: fn(&Amounts) -> Option<u64>| {
            let elapsed = since.map_or(0, |since| now.since(since).0);
            SpendScope {
                name,
                above: None,
                spent,
                tokens: pick(&budget.tokens),
                cost: pick(&budget.cost_micros),
                time: pick(&budget.time_ms).map(|max| (elapsed, max)),
                limits: limits.clone(),
            }
        };
        let held = &mut self.session.held;
        let mut all = vec![scope("session", &mut held.spent, held.since, |of| {
            of.session
        })];
        let above = self.cells.above.iter_mut();
        let written = above.filter(|above| above.is_live(now)).map(|above| {
            let cell = &mut above.cell;
            (&above.id, cell.agent.as_ref(), &mut *cell.held.spent)
        });
        let read = self.cells.spent_above.iter_mut();
        let read = read.filter(|above| above.is_live(now));
        let read = read.map(|above| (&above.id, above.agent.as_ref(), &mut above.spent));
        all.extend(written.chain(read).map(|(id, agent, spent)| {
            let limits = policy.limits_for(agent.map(Id::as_str), id.as_str());
            SpendScope {
                name: "session",
                above: Some(id.clone()),
                spent,
                tokens: limits.budget.tokens.session,
                cost: limits.budget.cost_micros.session,
                time: None,
                limits,
            }
        }));
        if let Some(cell) = &mut self.cells.flow {
            let since = cell.started.map(|_| cell.chain_since);
            all.push(scope("flow", &mut cell.spent, since, |of| of.flow));
        }
        if let Some(cell) = &mut self.cells.agent {
            let since = Some(cell.day_since);
            all.push(scope("agent_day", &mut cell.spent, since, |of| {
                of.agent_day
            }));
        }
        all
    }
}

impl SpendScope<'_> {
    fn judge(&mut self, blocked: bool, found: &mut Findings) {
        let (tokens, cost) = (self.spent.tokens, self.spent.cost_micros);
        for (bit, rule, used, max) in [
            (TOKENS, RuleId::BudgetTokens, tokens, self.tokens),
            (COST, RuleId::BudgetCost, cost, self.cost),
            (
                TIME,
                RuleId::BudgetTime,
                self.time.map_or(0, |(elapsed, _)| elapsed),
                self.time.map(|(_, max)| max),
            ),
        ] {
            let Some(max) = max else { continue };
            if used >= max {
                if !blocked {
                    self.add(rule, Decision::Block, (used, max), found);
                }
            } else if u128::from(used) * 5 >= u128::from(max) * 4 && self.spent.warn_once(bit) {
                self.add(rule, Decision::Warn, (used, max), found);
            }
        }
    }

    /// Refuses a reservation that does not fit in.
    fn fits(
        &self,
        id: u64,
        amount: Amount<'_>,
        now: Timestamp,
        blocked: bool,
        found: &mut Findings,
    ) {
        let (tokens, cost) = self.spent.reserved_beside(id, now);
        for (rule, used, held, wanted, max) in [
            (
                RuleId::BudgetTokens,
                self.spent.tokens,
                tokens,
                amount.tokens,
                self.tokens,
            ),
            (
                RuleId::BudgetCost,
                self.spent.cost_micros,
                cost,
                amount.cost_micros,
                self.cost,
            ),
        ] {
            let Some(max) = max else { continue };
            if used >= max && !blocked {
                self.add(rule, Decision::Block, (used, max), found);
            } else if used.saturating_add(held).saturating_add(wanted) > max {
                found.add(&self.limits, rule, || {
                    self.does_not_fit(rule, (used, held, wanted, max))
                });
            }
        }
    }

    fn add(&self, rule: RuleId, decision: Decision, (used, max): (u64, u64), found: &mut Findings) {
        found.add(&self.limits, rule, || {
            let (used_text, max_text) = (wording::amount(rule, used), wording::amount(rule, max));
            let whose = self.whose();
            let on = match rule {
                RuleId::BudgetTime => String::new(),
                _ => wording::spent_on(self.spent),
            };
            let happened =
                format!("The budget of {max_text} for {whose} is used up ({used_text}{on})");
            let message = match decision {
                Decision::Warn => {
                    format!("{used_text} of {max_text} for {whose} are used{on}. Come to an end.")
                }
                _ => format!("{happened}. Make no further calls; summarise and stop."),
            };
            self.evidence(Finding::new(rule, decision, message), used, max)
                .why(happened)
        });
    }

    fn does_not_fit(
        &self,
        rule: RuleId,
        (used, held, wanted, max): (u64, u64, u64, u64),
    ) -> Finding {
        let text = |value| wording::amount(rule, value);
        let message = format!(
            "The budget of {} for {} has no room for this request: {} used, {} reserved by requests \
             that are running, {} estimated for this one",
            text(max),
            self.whose(),
            text(used),
            text(held),
            text(wanted)
        );
        self.evidence(Finding::new(rule, Decision::Deny, message), used, max)
            .with("reserved", held)
            .with("estimate", wanted)
    }

    fn whose(&self) -> String {
        match &self.above {
            Some(id) => format!("session {} and its sub-agents", plain_name(id.as_str())),
            None => format!("this {}", self.name.replace('_', "'s ")),
        }
    }

    fn evidence(&self, finding: Finding, used: u64, max: u64) -> Finding {
        let finding = finding
            .with("scope", self.name)
            .with("used", used)
            .with("max", max)
            .hint("sprag policy show budget");
        match &self.above {
            Some(id) => finding.with("of", id.as_str()),
            None => finding,
        }
    }
}

fn reservation(usage: &Usage) -> u64 {
    let id = usage.id.as_ref().map_or("", Id::as_str);
    hash_bytes(format!("{}\n{id}", usage.session).as_bytes())
}

fn amount(usage: &Usage) -> Amount<'_> {
    Amount {
        model: usage.model.as_ref(),
        tokens: usage.tokens,
        cost_micros: usage.cost_micros,
        cache_read_tokens: usage.cache_read_tokens,
        unpriced: usage.prices == Priced::Unknown,
    }
}

fn unpriced(usage: &Usage) -> Finding {
    let model = usage.model.as_ref().map_or("", Id::as_str);
    let model = plain_name(model);
    let message = format!(
        "No price is known for the model {model}: its tokens count, but not for the budget of money"
    );
    Finding::new(RuleId::BudgetCost, Decision::Warn, message)
        .with("model", model)
        .hint("sprag explain budget.cost")
}
