//! The gate of a panic: what agents do is refused, and nothing of it is counted.
//!
//! It comes after the gate of killed sessions and has no mode, so a pause does not lift it. What people say, orders
//! and answers pass, and so do facts that change nothing: what was spent, and that a sub-agent has returned.

use super::settle::{Stage, answer};
use super::{call, stopped};
use crate::cell::tried::Tried;
use crate::cell::{Cells, PendingCall};
use crate::id::Id;
use crate::observation::{MessageKind, Observed, Panic};
use crate::policy::Policy;
use crate::rules::gates;
use crate::time::Timestamp;
use crate::verdict::{Decision, Verdict};

/// The verdict of the gate; none if it lets the event pass.
pub(super) fn refuses(
    policy: &Policy,
    panic: &Panic,
    what: &Observed,
    cells: &mut Cells,
    now: Timestamp,
) -> Option<Verdict> {
    let (session, generation, identity, stage) = match what {
        Observed::Message(message) if message.kind != MessageKind::Return => (
            message.from.as_ref()?,
            message.generation,
            message.identity,
            Stage::Message,
        ),
        Observed::Call(call) => (&call.session, call.generation, call.identity, Stage::Call),
        Observed::Step(step) => (&step.session, step.generation, step.identity, Stage::After),
        _ => return None,
    };
    let cell = cells.session.as_deref()?;
    if stopped(session, generation, cell, cells).is_some() {
        return None;
    }
    let decision = match stage {
        Stage::After => Decision::Warn,
        Stage::Call | Stage::Message => Decision::Deny,
    };
    let mut verdict = answer(gates::panic(panic, decision), cell, identity, stage);
    if let Observed::Message(message) = what {
        verdict.flow.clone_from(&message.flow);
    }
    settle_call(policy, what, cells, now);
    Some(verdict)
}

/// A refused call has a step that counts nothing, should it run all the same; a step ends the wait of its call.
fn settle_call(policy: &Policy, what: &Observed, cells: &mut Cells, now: Timestamp) {
    let Some(cell) = cells.session.as_deref_mut() else {
        return;
    };
    match what {
        Observed::Call(call) => {
            let agent = call.agent.as_ref().map(Id::as_str);
            let limits = policy.limits_for(agent, call.session.as_str());
            if let Some(id) = call::pending_id(call.use_id.as_ref(), call.id.as_ref()) {
                cell.remember_pending(PendingCall {
                    id,
                    tried: Tried::new(&call.approach, &limits),
                    refused: true,
                    asked: false,
                    dialog: false,
                    losses: None,
                    at: now,
                    turn_start: cell.held.pace.turn_start,
                });
            }
        }
        Observed::Step(step) => {
            let id = call::pending_id(step.use_id.as_ref(), step.id.as_ref());
            id.and_then(|id| cell.take_pending(id));
        }
        _ => {}
    }
}
