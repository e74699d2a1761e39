//! Sub-agents that start, go on and end: what each event says of them, and a call that starts one.

use super::call::pending_id;
use crate::cell::hash::hash_bytes;
use crate::cell::{Announced, Cells, FlowCell, OpenStart, SessionCell, Starter};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::{Call, Message, MessageKind, Observed};
use crate::policy::{Limits, Widest};
use crate::rules::{flow, spawns};
use crate::time::Timestamp;

/// Takes note of what an event says of open sub-agents, whatever comes of it: the acting one is still there, or
/// has returned; a call that started one has its result. Before one more start is judged, what counts no more is
/// forgotten.
pub(super) fn note(what: &Observed, cells: &mut Cells, now: Timestamp) {
    if cells.family().is_none() {
        return;
    }
    let generation = cells.session.as_ref().map_or(1, |cell| cell.generation());
    match what {
        Observed::Message(message) => {
            let Some(from) = &message.from else {
                return;
            };
            saw(from, cells, now);
            match (message.kind, &mut cells.flow) {
                (MessageKind::Spawn, Some(flow)) => flow.starts.clean(from, generation, now),
                (MessageKind::Return, _) => {
                    let flows = cells.flows_mut();
                    flows.for_each(|flow| flow.starts.returned(from));
                }
                _ => {}
            }
        }
        Observed::Call(call) => {
            saw(&call.session, cells, now);
            if let (Some(_), Some(flow)) = (starting_id(call), cells.family_mut()) {
                flow.starts.clean(&call.session, generation, now);
            }
        }
        Observed::Step(step) => {
            saw(&step.session, cells, now);
            if let Some(call) = pending_id(step.use_id.as_ref(), step.id.as_ref()) {
                let flows = cells.flows_mut();
                flows.for_each(|flow| flow.starts.answered(&step.session, call));
            }
        }
        Observed::Usage(usage) => saw(&usage.session, cells, now),
        _ => {}
    }
}

fn saw(session: &Id, cells: &mut Cells, now: Timestamp) {
    cells
        .flows_mut()
        .for_each(|flow| flow.starts.saw(session, now));
}

/// The id of a call that starts a sub-agent whose session is not known yet; none if it starts nothing, or if nobody
/// could tell when that ended.
fn starting_id(call: &Call) -> Option<u64> {
    let id = pending_id(call.use_id.as_ref(), call.id.as_ref());
    id.filter(|_| call.approach.delegates)
}

/// Judges a call that starts a sub-agent.
pub(super) fn judge(
    call: &Call,
    cell: &SessionCell,
    cells: &Cells,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    if starting_id(call).is_none() {
        return;
    }
    // The root is the first level, and the new one comes below the caller.
    flow::judge_start_depth(cells.starters.saturating_add(2), limits, found);
    if let Some(flow) = cells.family() {
        let who = (&call.session, cell.starter.is_some());
        spawns::judge(&flow.starts, who, now, limits, found);
    }
}

/// Counts a call that starts a sub-agent, once it was let through.
pub(super) fn count(
    call: &Call,
    cell: &mut SessionCell,
    cells: &mut Cells,
    now: Timestamp,
    widest: Widest,
) {
    let (Some(id), Some(flow)) = (starting_id(call), cells.family_mut()) else {
        return;
    };
    flow.starts.push(OpenStart {
        child: None,
        call: id,
        starter: Starter {
            by: call.session.clone(),
            generation: cell.generation,
        },
        last: now,
    });
    if cell.starter.is_some() {
        let keep = widest.spawns_per_minute;
        flow.starts.push_by_sub_agent(&call.session, now, keep);
    } else {
        let family = call.family.as_ref().or(call.flow.as_ref());
        cell.family = family.cloned();
    }
}

/// The announcement of a sub-agent.
pub(super) fn announced<'a>(message: &'a Message, from: &'a Id) -> Announced<'a> {
    let use_id = message.use_id.as_ref();
    Announced {
        from,
        to: &message.to,
        call: use_id.map(|id| hash_bytes(id.as_str().as_bytes())),
    }
}

/// Counts an announced sub-agent, unless the call that started it was, and returns who started it.
pub(super) fn enter(
    spawn: Announced<'_>,
    sender: &SessionCell,
    flow: &mut FlowCell,
    now: Timestamp,
    widest: Widest,
) -> Starter {
    let starter = Starter {
        by: spawn.from.clone(),
        generation: sender.generation,
    };
    let starts = &mut flow.starts;
    let known = starts.announced(spawn);
    if let Some(one) = known.and_then(|at| starts.list.get_mut(at)) {
        one.last = now;
        // Announced again: now it may be known better whose it is.
        if one.child.replace(spawn.to.clone()).is_some() {
            one.starter = starter;
        }
        return one.starter.clone();
    }
    starts.push(OpenStart {
        child: Some(spawn.to.clone()),
        call: 0,
        starter: starter.clone(),
        last: now,
    });
    if sender.starter.is_some() {
        starts.push_by_sub_agent(spawn.from, now, widest.spawns_per_minute);
    }
    starter
}
