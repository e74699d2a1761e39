//! A step, after it ran: which call it completes, and whether it brought anything new.

use super::call::pending_id;
use super::is_stale;
use super::settle::{Stage, answer, settle};
use crate::cell::tried::Tried;
use crate::cell::{Cells, SessionCell};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::Step;
use crate::policy::{Limits, Mode, Policy};
use crate::rule::RuleId;
use crate::rules::actions::Judged;
use crate::rules::{actions, gates, spending};
use crate::time::Timestamp;
use crate::verdict::Verdict;

pub(super) fn judge(policy: &Policy, step: &Step, cells: &mut Cells, now: Timestamp) -> Verdict {
    if let Some(first) = cells.alias.as_ref().and_then(|alias| alias.step.as_deref()) {
        return first.clone();
    }
    let limits = policy.limits_for(step.agent.as_ref().map(Id::as_str), step.session.as_str());
    let killed_above = cells.killed_above;
    let Some(mut session) = cells.session.take() else {
        return Verdict::default();
    };
    let verdict = match stopped(step, &session, killed_above) {
        Some(verdict) => verdict,
        None => judged(step, &mut session, cells, now, &limits),
    };
    cells.session = Some(session);
    if let Some(alias) = &mut cells.alias {
        alias.session.get_or_insert_with(|| step.session.clone());
        alias.step = Some(Box::new(verdict.clone()));
    }
    verdict
}

fn stopped(step: &Step, cell: &SessionCell, killed_above: bool) -> Option<Verdict> {
    let finding = if let Some(named) = is_stale(step.generation, cell) {
        gates::stale(&step.session, named, cell.generation())
    } else if killed_above || cell.killed().is_some() {
        gates::killed(&step.session, cell)
    } else {
        return None;
    };
    Some(answer(finding, cell, step.identity, Stage::After))
}

fn judged(
    step: &Step,
    cell: &mut SessionCell,
    cells: &mut Cells,
    now: Timestamp,
    limits: &Limits,
) -> Verdict {
    let pending =
        pending_id(step.use_id.as_ref(), step.id.as_ref()).and_then(|id| cell.take_pending(id));
    if pending.as_ref().is_some_and(|pending| pending.refused) {
        return settle(Findings::default(), cell, step.identity, Stage::After, now);
    }
    cell.held.step_seen = true;
    cell.steps = cell.steps.saturating_add(1);
    let mut found = Findings::default();
    gates::blocked_step(&step.session, cell, limits, &mut found);
    let held_back =
        cell.blocked().is_some() && limits.modes.get(RuleId::SessionBlocked) == Mode::Enforce;
    let completes = pending.is_some();
    let tried = pending.map(|pending| pending.tried).or_else(|| {
        step.approach
            .as_ref()
            .map(|approach| Tried::new(approach, limits))
    });
    if !held_back {
        if let Some(tried) = &tried {
            cell.held
                .progress
                .judge(now, tried, &step.outcome, limits, &mut found);
        }
        spending::judge(cell, cells, now, limits, &mut found);
    }
    if !completes {
        let judged = if held_back {
            Judged::ForKillOnly
        } else {
            Judged::Fully
        };
        actions::count(cell, limits, judged, &mut found);
    }
    cell.stick(step.agent.as_ref());
    settle(found, cell, step.identity, Stage::After, now)
}
