//! The engine: one step of the fold.
//!
//! [`fold`] takes the policy, a resolved observation and the cells that it touches, changes the cells
//! and answers. It reads nothing else, so the same log gives the same verdicts wherever and
//! whenever it is folded.

mod answer;
mod ask;
mod call;
mod message;
mod operator;
mod output;
mod panic;
mod settle;
mod start;
mod step;

use crate::cell::{Cells, SessionCell};
use crate::finding::Finding;
use crate::id::Id;
use crate::observation::{Observation, Observed};
use crate::policy::Policy;
use crate::rule::RuleId;
use crate::rules::gates;
use crate::rules::text::reset_hint;
use crate::sender::{Claim, ForeignSession};
use crate::time::Timestamp;
use crate::verdict::{Decision, Verdict};

/// Which semantics the verdicts of this build follow; a log names the one it was judged under.
pub const RULES_VERSION: u32 = 2;

/// Why an event could not be judged. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// It names a generation that the session has not reached.
    #[error("session {session} is at generation {current}; generation {named} is not there yet")]
    FutureGeneration {
        /// The session.
        session: Id,
        /// What the event names.
        named: u32,
        /// The session's generation.
        current: u32,
    },
    /// Its sender acts in a session of somebody else.
    #[error(transparent)]
    Foreign(#[from] ForeignSession),
    /// It answers a question that can't be answered.
    #[error("approval {approval} of session {session} {why}")]
    Answer {
        /// The session.
        session: Id,
        /// The code of the question.
        approval: Id,
        /// Why not.
        why: AnswerError,
    },
}

pub use answer::AnswerError;
pub(crate) use call::pending_id;

/// Folds `observation` into `cells` and answers.
///
/// `cells` must hold what [`CellKeys::of`](crate::CellKeys::of) names, with new cells for those that are missing.
pub fn fold(
    policy: &Policy,
    observation: &Observation,
    cells: &mut Cells,
) -> Result<Verdict, EngineError> {
    check_generation(&observation.what, cells)?;
    if observation.clock_back {
        cells.rewind(observation.at);
    }
    let now = cells.now(observation.at);
    answer::check(&observation.what, cells, now)?;
    cells.expire(now);
    start::note(&observation.what, cells, now);
    let panic = observation.panic.as_ref();
    let refused =
        panic.and_then(|panic| panic::refuses(policy, panic, &observation.what, cells, now));
    // A verdict is large, and nearly every one says little: it is made here, and filled in where it is found.
    let mut verdict = Verdict::default();
    match refused {
        Some(refused) => verdict = refused,
        None => judge(policy, observation, cells, now, &mut verdict),
    }
    claim(observation, cells);
    cells.touch(now);
    add_reset(&mut verdict, observation.what.session());
    Ok(verdict)
}

fn judge(
    policy: &Policy,
    observation: &Observation,
    cells: &mut Cells,
    now: Timestamp,
    verdict: &mut Verdict,
) {
    *verdict = match &observation.what {
        Observed::Call(call) => return call::judge(policy, call, cells, now, verdict),
        Observed::Step(step) => return step::judge(policy, step, cells, now, verdict),
        Observed::Message(message) => message::judge(policy, message, cells, now),
        Observed::Usage(usage) => operator::usage(policy, usage, cells, now),
        Observed::Output(output) => output::judge(policy, output, cells, now),
        Observed::Kill(order) => operator::kill(order, cells, now),
        Observed::Reset(_) => operator::reset(cells, now),
        Observed::DispatchStart(dispatch) => operator::dispatch_start(dispatch, cells),
        Observed::DispatchEnd(dispatch) => operator::dispatch_end(dispatch, cells),
        Observed::Approve(answer) => answer::approve(policy, answer, cells, now),
        Observed::Decline(answer) => answer::decline(answer, cells, now),
    };
}

/// Makes the sender the owner of the sessions that it opens.
fn claim(observation: &Observation, cells: &mut Cells) {
    let Some(sender) = &observation.sender else {
        return;
    };
    let (owner, claim) = (sender.owner(), Claim::of(observation));
    if let Some(cell) = cells.session.as_mut().filter(|_| claim.session) {
        cell.claim(&owner);
    }
    if let Some(cell) = cells.peer.as_mut().filter(|_| claim.peer) {
        cell.claim(&owner);
    }
}

/// After a kill the limit alone lifts nothing: an operator has to reset the session too.
fn add_reset(verdict: &mut Verdict, session: &Id) {
    let killed_now =
        verdict.decision == Decision::Kill && verdict.rule != Some(RuleId::SessionKilled);
    if let Some(hint) = verdict.hint.as_mut().filter(|_| killed_now) {
        let reset = reset_hint(session.as_str());
        if !hint.contains(&reset) {
            hint.push_str(" && ");
            hint.push_str(&reset);
        }
    }
}

fn check_generation(what: &Observed, cells: &Cells) -> Result<(), EngineError> {
    let (session, named) = match what {
        Observed::Message(message) => (message.from.as_ref(), message.generation),
        Observed::Call(call) => (Some(&call.session), call.generation),
        Observed::Step(step) => (Some(&step.session), step.generation),
        Observed::Usage(usage) => (Some(&usage.session), usage.generation),
        Observed::Output(output) => (Some(&output.session), output.generation),
        _ => (None, None),
    };
    let current = cells.session.as_ref().map_or(1, |cell| cell.generation());
    match (session, named) {
        (Some(session), Some(named)) if named > current => Err(EngineError::FutureGeneration {
            session: session.clone(),
            named,
            current,
        }),
        _ => Ok(()),
    }
}

/// The gate that has no mode: an event from before the last reset, or of a session that is killed, has a
/// killed one above it or was started before one above it was reset.
fn stopped(
    session: &Id,
    generation: Option<u32>,
    cell: &SessionCell,
    cells: &Cells,
) -> Option<Finding> {
    let current = cell.generation();
    let above = cells.killed_above.as_ref();
    match (generation, &cells.stale_above) {
        (Some(named), _) if named < current => Some(gates::stale(session, named, current)),
        _ if above.is_some() || cell.killed().is_some() => {
            Some(gates::killed(session, cell, above))
        }
        (_, Some(starter)) => Some(gates::orphaned(session, starter)),
        _ => None,
    }
}
