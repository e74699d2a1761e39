//! From findings to the verdict and the marks on the session.

use crate::cell::{Mark, SessionCell, ShadowMark};
use crate::finding::{Finding, Findings};
use crate::observation::Identity;
use crate::rules::gates;
use crate::time::Timestamp;
use crate::verdict::{Decision, Verdict};

/// Whether a refusal can still stop what is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// A call: it has not happened yet, and a person may be asked.
    Call,
    /// A message: it has not happened yet, and there is nothing to ask.
    Message,
    /// A step or a report: it has, and its result is never taken away.
    After,
}

/// Sets the marks that the findings call for and makes the verdict.
pub(super) fn settle(
    found: Findings,
    cell: &mut SessionCell,
    identity: Identity,
    stage: Stage,
    now: Timestamp,
) -> Verdict {
    let mut verdict = Verdict::default();
    settle_into(found, cell, identity, stage, now, &mut verdict);
    verdict
}

/// The same, into a verdict that says nothing yet.
pub(super) fn settle_into(
    found: Findings,
    cell: &mut SessionCell,
    identity: Identity,
    stage: Stage,
    now: Timestamp,
    verdict: &mut Verdict,
) {
    // Nearly every verdict says nothing.
    if found.is_silent() {
        verdict.generation = cell.generation();
        verdict.killed_generation = cell.killed_generation();
        return;
    }
    if identity == Identity::Exact {
        mark(found.strongest(), cell, now);
        mark_shadow(found.shadowed(), cell, now);
    }
    *verdict = tell(found, cell, identity, stage);
}

/// The verdict of a gate that sets no mark.
pub(super) fn answer(
    finding: Finding,
    cell: &SessionCell,
    identity: Identity,
    stage: Stage,
) -> Verdict {
    tell(Findings::of(finding), cell, identity, stage)
}

fn tell(found: Findings, cell: &SessionCell, identity: Identity, stage: Stage) -> Verdict {
    let mut verdict = found.into_verdict();
    verdict.decision = match (verdict.decision, stage) {
        (Decision::Ask, Stage::Message) => Decision::Deny,
        (Decision::Ask, Stage::After) => Decision::Warn,
        (decision, _) => decision,
    };
    if verdict.decision == Decision::Block
        && let Some(message) = &mut verdict.message
    {
        message.push_str(gates::lifted_by_user(cell));
    }
    if identity == Identity::Shared {
        soften(&mut verdict, stage);
    }
    verdict.generation = cell.generation();
    verdict.killed_generation = cell.killed_generation();
    verdict
}

fn mark(decides: Option<&Finding>, cell: &mut SessionCell, now: Timestamp) {
    let Some(finding) = decides else {
        return;
    };
    let mark = || Mark {
        at: now,
        rule: Some(finding.rule),
        why: finding.why.as_ref().unwrap_or(&finding.message).clone(),
        by: None,
    };
    match finding.decision {
        Decision::Kill if cell.killed().is_none() => cell.kill(mark()),
        Decision::Block => {
            cell.blocked.get_or_insert_with(|| Box::new(mark()));
        }
        _ => {}
    }
}

/// What a rule in shadow would have stopped is marked so, for people who look on. Nothing reads it.
fn mark_shadow(would: Option<&Finding>, cell: &mut SessionCell, now: Timestamp) {
    let Some(finding) = would.filter(|would| would.decision >= Decision::Block) else {
        return;
    };
    let kills = finding.decision == Decision::Kill;
    let held = cell.held.shadow_mark.as_deref();
    if held.is_some_and(|held| held.kills || !kills) {
        return;
    }
    cell.held.shadow_mark = Some(Box::new(ShadowMark {
        kills,
        mark: Mark {
            at: now,
            rule: Some(finding.rule),
            why: finding.why.as_ref().unwrap_or(&finding.message).clone(),
            by: None,
        },
    }));
}

/// If many agents may stand behind one id, no session is marked and nothing is final.
fn soften(verdict: &mut Verdict, stage: Stage) {
    let milder = |decision: Decision| match stage {
        Stage::Call | Stage::Message => decision.min(Decision::Deny),
        Stage::After => decision.min(Decision::Warn),
    };
    verdict.decision = milder(verdict.decision);
    if let Some(would) = &mut verdict.would {
        would.decision = milder(would.decision);
    }
}
