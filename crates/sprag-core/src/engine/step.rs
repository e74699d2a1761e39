//! A step, after it ran: which call it completes, and whether it brought anything new.

use super::call::{LET_RUN, pending_id};
use super::settle::{Stage, answer, settle_into};
use super::stopped;
use crate::cell::tried::Tried;
use crate::cell::{AgentCell, Approval, Cells, PendingCall, SessionCell};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::Step;
use crate::policy::{Limits, LimitsRef, Mode, Policy};
use crate::rule::RuleId;
use crate::rules::actions::ActionsJudged;
use crate::rules::spending::Spender;
use crate::rules::{actions, gates};
use crate::time::Timestamp;
use crate::verdict::Verdict;

pub(super) fn judge(
    policy: &Policy,
    step: &Step,
    cells: &mut Cells,
    now: Timestamp,
    verdict: &mut Verdict,
) {
    let limits = policy.limits_for(step.agent.as_ref().map(Id::as_str), step.session.as_str());
    let Some(mut session) = cells.session.take() else {
        return;
    };
    let gate = stopped(&step.session, step.generation, &session, cells);
    let alias = cells.alias.as_mut().filter(|_| gate.is_none());
    let first = alias.and_then(|alias| alias.repeated_step(step, now));
    let is_repeated = first.is_some();
    match (gate, first) {
        (Some(finding), _) => *verdict = answer(finding, &session, step.identity, Stage::After),
        (None, Some(first)) => *verdict = first,
        (None, None) => judged(step, &mut session, cells, now, (policy, &limits), verdict),
    }
    cells.session = Some(session);
    if let Some(alias) = cells.alias.as_mut().filter(|_| !is_repeated) {
        alias.saw_step(step, verdict, now);
    }
}

fn judged(
    step: &Step,
    cell: &mut SessionCell,
    cells: &mut Cells,
    now: Timestamp,
    (policy, limits): (&Policy, &LimitsRef<'_>),
    verdict: &mut Verdict,
) {
    let pending =
        pending_id(step.use_id.as_ref(), step.id.as_ref()).and_then(|id| cell.take_pending(id));
    if pending.as_ref().is_some_and(PendingCall::is_refused) {
        let found = Findings::default();
        return settle_into(found, cell, step.identity, Stage::After, now, verdict);
    }
    let tool = match (&pending, &step.approach) {
        (Some(pending), _) => Some(pending.tried.name),
        (None, Some(approach)) => Some(Tried::new(approach, limits).name),
        (None, None) => None,
    };
    cell.held.note_report(tool.as_ref());
    let mut found = Findings::default();
    gates::blocked_step(&step.session, cell, limits, &mut found);
    let held_back =
        cell.blocked().is_some() && limits.modes.get(RuleId::SessionBlocked) >= Mode::Ask;
    let completes = pending.is_some();
    let ran = pending.as_ref().filter(|pending| pending.asked);
    let remark = ran.map(|pending| {
        let memory = (&mut *cell, cells.agent.as_deref_mut());
        ran_unapproved(memory, pending, now, limits, policy)
    });
    let (tried, turn_start) = tried(step, pending, cell, now, limits);
    cell.note_work(tried.as_ref(), &step.outcome);
    if !held_back {
        if let Some(tried) = &tried {
            let progress = &mut cell.held.progress;
            progress.judge(now, tried, &step.outcome, turn_start, limits, &mut found);
            cell.held.news(&step.outcome);
            cell.held.trace(tried, &step.outcome);
        }
        Spender::new(cell, cells, now, policy, limits).judge(&mut found);
    }
    if !completes {
        let judged = if cell.blocked().is_some() {
            ActionsJudged::ForKillOnly
        } else {
            ActionsJudged::Fully
        };
        actions::count(cell, limits, judged, &mut found);
    }
    cell.held.pace.result(now);
    cell.stick(step.agent.as_ref());
    settle_into(found, cell, step.identity, Stage::After, now, verdict);
    if let Some((code, remark)) = remark {
        verdict.approval = code;
        verdict.message.get_or_insert_with(|| remark.to_owned());
    }
}

/// What the step tried, and how many steps had been judged when its turn began.
fn tried(
    step: &Step,
    pending: Option<PendingCall>,
    cell: &mut SessionCell,
    now: Timestamp,
    limits: &Limits,
) -> (Option<Tried>, u32) {
    if let Some(pending) = pending {
        if pending.tried.waits {
            cell.held.progress.slept(pending.at, now);
        }
        return (Some(pending.tried), pending.turn_start);
    }
    let steps = cell.held.progress.step;
    let approach = step.approach.as_ref();
    let tried = approach.map(|approach| Tried::new(approach, limits));
    if let Some(tried) = &tried {
        cell.held.make(tried, 0, now);
    }
    (tried, steps)
}

/// A call that was asked about ran without a person's word here. If its client asks and the question is open,
/// its person let it run, and lets it run again.
fn ran_unapproved(
    (cell, agent): (&mut SessionCell, Option<&mut AgentCell>),
    pending: &PendingCall,
    now: Timestamp,
    limits: &LimitsRef<'_>,
    policy: &Policy,
) -> (Option<Id>, &'static str) {
    cell.held.refusals.relent();
    cell.held.calls.push(pending.tried.exact, now);
    let exact = pending.tried.exact;
    let asked = |held: &Approval| pending.dialog && held.exact == exact;
    let approvals = cell.held.approvals.used();
    if let Some((code, _)) = approvals.and_then(|held| held.let_run(asked, now)) {
        return (Some(code), LET_RUN);
    }
    if let Some(losses) = &pending.losses {
        losses.count((cell, agent), now, limits, policy.widest());
    }
    (None, "Run without approval.")
}
