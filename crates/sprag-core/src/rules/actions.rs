//! `budget.actions`: how much an agent does between two words of a user.
//!
//! Every other rule looks for a pattern; this one needs none. An agent that does two thousand
//! things without anyone speaking to it is on its own, whatever it does. If no user was ever
//! seen (a batch job, a pipeline) the budget only warns, unless the policy is strict.
//!
//! Trips when: 80 % are used (warn, once), past 100 % (block), past 200 % (kill).
//! Resets when: a user writes to the session or starts a flow that reaches it; a reset.
//! Bounded by: one number.
//! Odd cases: refused actions count too, or an agent that is refused could go on for ever; past
//! 100 % messages are refused as well, which a block alone does not do.

use crate::cell::SessionCell;
use crate::finding::{Finding, Findings};
use crate::policy::Limits;
use crate::rule::RuleId;
use crate::verdict::Decision;

/// What is left to judge about an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActionsJudged {
    /// Everything.
    Fully,
    /// Only whether it is the last straw: a step in a blocked session.
    ForKillOnly,
}

/// Counts one action of the session and judges the budget.
pub(crate) fn count(
    cell: &mut SessionCell,
    limits: &Limits,
    judged: ActionsJudged,
    found: &mut Findings,
) {
    cell.held.actions = cell.held.actions.saturating_add(1);
    let (used, max) = (cell.held.actions, limits.budget.actions);
    let holds = cell.held.user_seen || limits.budget.strict;
    let warn_at = (u64::from(max) * 4).div_ceil(5);
    let decision = if holds && used > max.saturating_mul(2) {
        Decision::Kill
    } else if judged == ActionsJudged::ForKillOnly {
        return;
    } else if holds && used > max {
        if cell.blocked.is_some() {
            Decision::Deny
        } else {
            Decision::Block
        }
    } else if u64::from(used) == warn_at {
        Decision::Warn
    } else {
        return;
    };
    found.add(limits, RuleId::BudgetActions, || {
        let happened = format!("{used} actions since a user last spoke (max {max})");
        let message = match decision {
            Decision::Warn => format!(
                "{used} of {max} actions are used since a user last spoke. Come to an end or ask."
            ),
            Decision::Kill => format!("{happened}: the session is killed."),
            _ => format!("{happened}: make no further calls, summarise and ask the user."),
        };
        Finding::new(RuleId::BudgetActions, decision, message)
            .why(happened)
            .with("used", used)
            .with("max", max)
            .hint(format!(
                "sprag policy set budget.actions {}",
                max.saturating_mul(2).max(used)
            ))
    });
}
