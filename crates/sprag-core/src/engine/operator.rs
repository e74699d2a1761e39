//! Operators' orders, dispatches and usage: what is done to a session rather than by it.

use super::settle::{Stage, answer, settle};
use super::stopped;
use crate::cell::{Cells, Mark, SessionCell};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::{Dispatch, Order, Usage};
use crate::policy::Policy;
use crate::rules::spending::Spender;
use crate::time::Timestamp;
use crate::verdict::Verdict;

pub(super) fn done(cell: Option<&SessionCell>) -> Verdict {
    Verdict {
        generation: cell.map_or(1, SessionCell::generation),
        ..Verdict::default()
    }
}

pub(super) fn kill(order: &Order, cells: &mut Cells, now: Timestamp) -> Verdict {
    if let Some(cell) = &mut cells.session {
        let by = order.by.as_deref().unwrap_or("an operator");
        let why = order
            .why
            .as_deref()
            .map_or_else(String::new, |why| format!(" ({why})"));
        cell.kill(Mark {
            at: now,
            rule: None,
            why: format!("by {by}{why}"),
            by: order.by.clone(),
        });
    }
    done(cells.session.as_deref())
}

pub(super) fn reset(cells: &mut Cells, now: Timestamp) -> Verdict {
    if let Some(cell) = &mut cells.session {
        cell.reset();
        if cells.stale_above.is_some() {
            cell.leave_starter();
        }
        cell.expire(now);
    }
    done(cells.session.as_deref())
}

pub(super) fn dispatch_start(dispatch: &Dispatch, cells: &mut Cells) -> Verdict {
    if let (Some(cell), Some(flow)) = (&mut cells.session, &dispatch.flow) {
        cell.start_dispatch(flow);
    }
    done(cells.session.as_deref())
}

pub(super) fn dispatch_end(dispatch: &Dispatch, cells: &mut Cells) -> Verdict {
    if let Some(cell) = &mut cells.session {
        cell.end_dispatch(dispatch.flow.as_ref());
    }
    done(cells.session.as_deref())
}

pub(super) fn usage(policy: &Policy, usage: &Usage, cells: &mut Cells, now: Timestamp) -> Verdict {
    let limits = policy.limits_for(usage.agent.as_ref().map(Id::as_str), usage.session.as_str());
    let Some(mut cell) = cells.session.take() else {
        return Verdict::default();
    };
    // What a reservation is for has not happened yet.
    let stage = if usage.pending {
        Stage::Message
    } else {
        Stage::After
    };
    let gate = stopped(&usage.session, usage.generation, &cell, cells);
    let verdict = match gate {
        Some(finding) => answer(finding, &cell, usage.identity, stage),
        None => {
            let mut found = Findings::default();
            let mut spender = Spender::new(&mut cell, cells, now, policy, &limits);
            if usage.pending {
                spender.reserve(usage, &mut found);
            } else {
                spender.add(usage, &mut found);
                spender.judge(&mut found);
            }
            if !found.decision().refuses() || !usage.pending {
                cell.stick(usage.agent.as_ref());
            }
            settle(found, &mut cell, usage.identity, stage, now)
        }
    };
    cells.session = Some(cell);
    verdict
}
