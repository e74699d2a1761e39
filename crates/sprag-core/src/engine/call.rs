//! A tool call, before it runs: gates, then every rule of calls, then what is remembered.

use super::settle::{Stage, answer, settle};
use super::{ask, start, stopped};
use crate::cell::hash::hash_bytes;
use crate::cell::tried::Tried;
use crate::cell::{Answered, Cells, PendingCall, SessionCell};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::Call;
use crate::policy::{LimitsRef, Policy};
use crate::rules::actions::ActionsJudged;
use crate::rules::destruction::Destruction;
use crate::rules::spending::Spender;
use crate::rules::{actions, defiance, gates, identical};
use crate::time::Timestamp;
use crate::verdict::{Code, Decision, Verdict};

/// The id under which a call waits for its step.
pub(super) fn pending_id(use_id: Option<&Id>, id: Option<&Id>) -> Option<u64> {
    use_id.or(id).map(|id| hash_bytes(id.as_str().as_bytes()))
}

pub(super) fn judge(policy: &Policy, call: &Call, cells: &mut Cells, now: Timestamp) -> Verdict {
    let limits = policy.limits_for(call.agent.as_ref().map(Id::as_str), call.session.as_str());
    let Some(mut session) = cells.session.take() else {
        return Verdict::default();
    };
    let gate = stopped(&call.session, call.generation, &session, cells);
    let alias = cells.alias.as_mut().filter(|_| gate.is_none());
    let first = alias.and_then(|alias| alias.repeated_call(call, now));
    // A question may have been answered since: the call is judged again.
    let first = first.filter(|first| first.decision != Decision::Ask);
    let is_repeated = first.is_some();
    let verdict = match (gate, first) {
        (Some(finding), _) => {
            // The step of a call in a session that is killed itself is answered by the kill.
            let above = cells.killed_above.is_some() && session.killed().is_none();
            if above && finding.code == Some(Code::SessionKilledLoopGuard) {
                let tried = Tried::new(&call.approach, &limits);
                let judged = CallFate::Refused;
                remember(call, &mut session, tried, judged, now);
            }
            answer(finding, &session, call.identity, Stage::Call)
        }
        (None, Some(first)) => first,
        (None, None) => judged(call, &mut session, cells, now, policy, &limits),
    };
    cells.session = Some(session);
    if let Some(alias) = cells.alias.as_mut().filter(|_| !is_repeated) {
        alias.saw_call(call, &verdict, now);
    }
    verdict
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallFate {
    Allowed,
    /// It waits for a person's word.
    Asked,
    Refused,
}

impl CallFate {
    fn of(decision: Decision) -> Self {
        match decision {
            Decision::Allow | Decision::Warn => Self::Allowed,
            Decision::Ask => Self::Asked,
            _ => Self::Refused,
        }
    }
}

/// Lets the call wait for its step.
fn remember(call: &Call, cell: &mut SessionCell, tried: Tried, fate: CallFate, now: Timestamp) {
    if let Some(id) = pending_id(call.use_id.as_ref(), call.id.as_ref()) {
        cell.remember_pending(PendingCall {
            id,
            tried,
            refused: fate != CallFate::Allowed,
            asked: fate == CallFate::Asked,
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
    limits: &LimitsRef<'_>,
) -> Verdict {
    let tried = Tried::new(&call.approach, limits);
    let destruction = Destruction::of(call, limits);
    let destroys = destruction.destroys.as_ref();
    let deed = ask::deed(call, &tried, destroys);
    let answered = cell.held.approvals.answered(tried.exact, deed, now);
    let mut found = match &answered {
        Answered::Approved(_) => Findings::lifting(),
        _ => Findings::default(),
    };
    gates::call(call, cell, limits, &mut found);
    if !found.decision().refuses() {
        identical::judge(&tried, cell, now, limits, &mut found);
        let memory = (&mut *cell, cells.agent.as_deref_mut());
        destruction.judge(call, memory, now, limits, &mut found);
        start::judge(call, cell, cells, now, limits, &mut found);
        Spender::new(cell, cells, now, policy, limits).judge(&mut found);
    }
    actions::count(cell, limits, ActionsJudged::Fully, &mut found);
    if let (Answered::Declined(by, why), Decision::Ask) = (&answered, found.decision()) {
        found.decline(by.as_deref(), why.as_deref());
    }
    let approved = match answered {
        Answered::Approved(code) if found.has_lifted() && !found.decision().refuses() => Some(code),
        _ => None,
    };
    if found.decision().refuses() {
        defiance::refused(&call.session, cell, now, limits, &mut found);
    } else {
        defiance::relented(cell);
        cell.held.calls.push(tried.exact, now);
        cell.held.make(&tried, call.turn.unwrap_or_default(), now);
        if let Some(code) = &approved {
            cell.held.approvals.use_up(code);
        } else {
            let memory = (&mut *cell, cells.agent.as_deref_mut());
            destruction.count(memory, now, limits, policy.widest());
        }
        start::count(call, cell, cells, now, policy.widest());
        cell.stick(call.agent.as_ref());
    }
    let why = ask::reason(&found);
    let mut verdict = settle(found, cell, call.identity, Stage::Call, now);
    if let Some(why) = why {
        let question = (call, &tried, destroys);
        ask::open(&mut verdict, why, question, cell, limits, now);
    } else if approved.is_some() {
        verdict.approval = approved;
    }
    remember(call, cell, tried, CallFate::of(verdict.decision), now);
    verdict
}
