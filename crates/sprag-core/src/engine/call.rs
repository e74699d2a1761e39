//! A tool call, before it runs: gates, then every rule of calls, then what is remembered.

use super::settle::{Stage, answer, settle};
use super::stopped;
use crate::cell::hash::hash_bytes;
use crate::cell::tried::Tried;
use crate::cell::{Cells, PendingCall, SessionCell};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::Call;
use crate::policy::{Limits, Policy};
use crate::rules::actions::ActionsJudged;
use crate::rules::destructive::Destroys;
use crate::rules::{actions, defiance, destructive, gates, identical, spending};
use crate::time::Timestamp;
use crate::verdict::{Code, Verdict};

/// The id under which a call waits for its step.
pub(super) fn pending_id(use_id: Option<&Id>, id: Option<&Id>) -> Option<u64> {
    use_id.or(id).map(|id| hash_bytes(id.as_str().as_bytes()))
}

pub(super) fn judge(policy: &Policy, call: &Call, cells: &mut Cells, now: Timestamp) -> Verdict {
    let limits = policy.limits_for(call.agent.as_ref().map(Id::as_str), call.session.as_str());
    let Some(mut session) = cells.session.take() else {
        return Verdict::default();
    };
    let first = cells.alias.as_ref().and_then(|alias| alias.call.as_deref());
    let gate = stopped(&call.session, call.generation, &session, cells.killed_above);
    let verdict = match (gate, first) {
        (Some(finding), _) => {
            if finding.code == Some(Code::SessionKilledLoopGuard) {
                let tried = Tried::new(&call.approach, &limits);
                remember(call, &mut session, tried, true, now);
            }
            answer(finding, &session, call.identity, Stage::Call)
        }
        (None, Some(first)) => first.clone(),
        (None, None) => judged(call, &mut session, cells, now, policy, &limits),
    };
    cells.session = Some(session);
    if let Some(alias) = &mut cells.alias {
        alias.session = Some(call.session.clone());
        alias.call.get_or_insert_with(|| Box::new(verdict.clone()));
    }
    verdict
}

/// Lets the call wait for its step.
fn remember(call: &Call, cell: &mut SessionCell, tried: Tried, refused: bool, now: Timestamp) {
    if let Some(id) = pending_id(call.use_id.as_ref(), call.id.as_ref()) {
        cell.remember_pending(PendingCall {
            id,
            tried,
            refused,
            at: now,
            turn_start: cell.held.pace.turn_start,
        });
    }
}

fn judged(
    call: &Call,
    cell: &mut SessionCell,
    cells: &mut Cells,
    now: Timestamp,
    policy: &Policy,
    limits: &Limits,
) -> Verdict {
    let mut found = Findings::default();
    gates::access(&call.approach, limits, &mut found);
    if !found.decision().refuses() {
        gates::blocked_call(&call.session, cell, limits, &mut found);
    }
    let tried = Tried::new(&call.approach, limits);
    let turn = call.turn.unwrap_or_default();
    let destroys = Destroys::of(call, &limits.destructive);
    if !found.decision().refuses() {
        identical::judge(&tried, cell, now, limits, &mut found);
        if let Some(destroys) = &destroys {
            let memory = (&mut *cell, cells.agent.as_deref_mut());
            destructive::judge(destroys, call, memory, now, limits, &mut found);
        }
        spending::judge(cell, cells, now, limits, &mut found);
    }
    actions::count(cell, limits, ActionsJudged::Fully, &mut found);
    let refused = found.decision().refuses();
    if refused {
        defiance::refused(&call.session, cell, now, limits, &mut found);
    } else {
        defiance::relented(cell);
        cell.held.calls.push(tried.exact, now);
        cell.held.make(&tried, turn, now);
        if let Some(destroys) = &destroys {
            destructive::count(
                destroys,
                (&mut *cell, cells.agent.as_deref_mut()),
                now,
                limits,
                policy.widest(),
            );
        }
        cell.stick(call.agent.as_ref());
    }
    remember(call, cell, tried, refused, now);
    settle(found, cell, call.identity, Stage::Call, now)
}
