//! A tool call, before it runs: gates, then every rule of calls, then what is remembered.

use super::settle::{Stage, answer, settle_into};
use super::{ask, start, stopped};
use crate::cell::hash::hash_bytes;
use crate::cell::tried::Tried;
use crate::cell::{Answered, Approval, CallLosses, Cells, PendingCall, SessionCell};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::{Call, Via};
use crate::policy::{LimitsRef, Policy};
use crate::rules::actions::ActionsJudged;
use crate::rules::destruction::Destruction;
use crate::rules::spending::Spender;
use crate::rules::{actions, defiance, gates, identical};
use crate::time::Timestamp;
use crate::verdict::{Code, Decision, Verdict};

/// The id under which a call waits for its step.
pub(crate) fn pending_id(use_id: Option<&Id>, id: Option<&Id>) -> Option<u64> {
    use_id.or(id).map(|id| hash_bytes(id.as_str().as_bytes()))
}

pub(super) fn judge(
    policy: &Policy,
    call: &Call,
    cells: &mut Cells,
    now: Timestamp,
    verdict: &mut Verdict,
) {
    let limits = policy.limits_for(call.agent.as_ref().map(Id::as_str), call.session.as_str());
    let Some(mut session) = cells.session.take() else {
        return;
    };
    let gate = stopped(&call.session, call.generation, &session, cells);
    // Nearly every call: nothing stops it, and no other adapter can have seen it.
    if gate.is_none() && cells.alias.is_none() {
        judged(call, &mut session, cells, now, (policy, &limits), verdict);
        cells.session = Some(session);
        return;
    }
    let mut alias = cells.alias.as_mut().filter(|_| gate.is_none());
    let passed_hook = alias.as_mut().is_some_and(|alias| alias.passed_hook(call));
    let first = alias.and_then(|alias| alias.repeated_call(call, now));
    // A call that was asked about in the client's window and comes here was let run there. Otherwise the
    // question may have been answered since: the call is judged again.
    let asked = first
        .as_ref()
        .filter(|first| first.decision == Decision::Ask);
    let is_asked = asked.is_some();
    let let_run = asked
        .filter(|_| passed_hook)
        .and_then(|asked| let_run(call, &mut session, asked.approval.as_ref()?, now));
    let first = let_run.or_else(|| first.filter(|_| !is_asked));
    let is_repeated = first.is_some();
    match (gate, first) {
        (Some(finding), _) => {
            // The step of a call in a session that is killed itself is answered by the kill.
            let above = cells.killed_above.is_some() && session.killed().is_none();
            if above && finding.code == Some(Code::SessionKilledLoopGuard) {
                let tried = Tried::new(&call.approach, &limits);
                let judged = CallJudgement::Refused;
                remember(call, &mut session, &tried, judged, now);
            }
            *verdict = answer(finding, &session, call.identity, Stage::Call);
        }
        (None, Some(first)) => *verdict = first,
        (None, None) => judged(call, &mut session, cells, now, (policy, &limits), verdict),
    }
    cells.session = Some(session);
    match &mut cells.alias {
        Some(alias) if is_asked => alias.saw_again(call, verdict),
        Some(alias) if !is_repeated => alias.saw_call(call, verdict, now),
        _ => {}
    }
}

/// A second adapter sees a call that was asked about in the client's window: the client let it run. None if
/// its client asks nobody, or the question is not open any more.
fn let_run(call: &Call, cell: &mut SessionCell, code: &Id, now: Timestamp) -> Option<Verdict> {
    let id = pending_id(call.use_id.as_ref(), call.id.as_ref())?;
    let waits = |held: &&PendingCall| held.id == id && held.asked && held.dialog;
    let pending = cell.held.pending.iter().find(waits)?.clone();
    let asked = |held: &Approval| held.code == *code;
    let (code, exact) = cell.held.approvals.used()?.let_run(asked, now)?;
    cell.held.refusals.relent();
    cell.held.calls.push(exact, now);
    cell.remember_pending(PendingCall {
        refused: false,
        asked: false,
        losses: None,
        ..pending
    });
    Some(Verdict {
        approval: Some(code),
        message: Some(LET_RUN.to_owned()),
        generation: cell.generation(),
        ..Verdict::default()
    })
}

/// What the log says of a call that nobody approved here, and that its client ran.
pub(super) const LET_RUN: &str = "Let run by the client.";

/// What became of a call.
#[derive(Debug, PartialEq, Eq)]
enum CallJudgement {
    Allowed,
    /// It waits for a person's word; with what counts if it runs all the same.
    Asked(CallLosses),
    Refused,
}

impl CallJudgement {
    fn of(call: &Call, decision: Decision, destruction: &Destruction<'_>) -> Self {
        match decision {
            Decision::Allow | Decision::Warn => Self::Allowed,
            // A hook whose client asks nobody refuses the call: what comes back is no result of it.
            Decision::Ask if call.via == Via::Hook && !call.dialog => Self::Refused,
            Decision::Ask => Self::Asked(destruction.losses()),
            _ => Self::Refused,
        }
    }
}

/// Lets the call wait for its step.
fn remember(
    call: &Call,
    cell: &mut SessionCell,
    tried: &Tried,
    fate: CallJudgement,
    now: Timestamp,
) {
    if let Some(id) = pending_id(call.use_id.as_ref(), call.id.as_ref()) {
        cell.remember_pending(PendingCall {
            id,
            tried: *tried,
            refused: fate != CallJudgement::Allowed,
            asked: matches!(fate, CallJudgement::Asked(_)),
            dialog: call.dialog,
            losses: match fate {
                CallJudgement::Asked(losses) if !losses.is_empty() => Some(Box::new(losses)),
                _ => None,
            },
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
    (policy, limits): (&Policy, &LimitsRef<'_>),
    verdict: &mut Verdict,
) {
    let tried = Tried::new(&call.approach, limits);
    let destruction = Destruction::of(call, limits);
    let deed = ask::deed(call, &tried, &destruction);
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
        } else if !destruction.is_empty() {
            let memory = (&mut *cell, cells.agent.as_deref_mut());
            let losses = destruction.losses();
            losses.count(memory, now, limits, policy.widest());
        }
        start::count(call, cell, cells, now, policy.widest());
        cell.stick(call.agent.as_ref());
    }
    let why = ask::reason(&found);
    settle_into(found, cell, call.identity, Stage::Call, now, verdict);
    if let Some(why) = why {
        let question = (call, &tried, &destruction);
        ask::open(verdict, why, question, cell, limits, now);
    } else if approved.is_some() {
        verdict.approval = approved;
    }
    let fate = CallJudgement::of(call, verdict.decision, &destruction);
    remember(call, cell, &tried, fate, now);
}
