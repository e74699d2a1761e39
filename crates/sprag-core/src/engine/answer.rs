//! A person's answer to a question: whether it can be answered, and what it changes.

use std::fmt;

use super::EngineError;
use super::operator::done;
use crate::cell::{Approval, ApprovalScope, ApprovalState, Cells, DECLINED_FOR};
use crate::id::Id;
use crate::observation::{Answer, Observed};
use crate::policy::Policy;
use crate::time::Timestamp;
use crate::verdict::Verdict;

/// Why a question can't be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// There is none with this code: it was never asked, a reset voided it, or the call was made.
    Unknown,
    /// It was open for too long.
    Expired,
    /// The session, or one above it, is killed.
    Killed,
    /// Somebody answered before.
    Answered {
        /// What they said.
        approved: bool,
        /// Who it was.
        by: Option<Box<str>>,
    },
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("is not open: it was never asked, or is over"),
            Self::Expired => f.write_str("has expired; the call has to be made again"),
            Self::Killed => f.write_str("is void: the session was killed"),
            Self::Answered { approved, by } => {
                let did = if *approved { "approved" } else { "declined" };
                let by = by.as_deref().unwrap_or("somebody");
                write!(f, "was {did} by {by} already")
            }
        }
    }
}

/// Refuses an answer to what can't be answered, before anything changes.
pub(super) fn check(what: &Observed, cells: &Cells, now: Timestamp) -> Result<(), EngineError> {
    let (Observed::Approve(answer) | Observed::Decline(answer)) = what else {
        return Ok(());
    };
    match wrong(&answer.approval, cells, now) {
        None => Ok(()),
        Some(why) => Err(EngineError::Answer {
            session: answer.session.clone(),
            approval: answer.approval.clone(),
            why,
        }),
    }
}

fn wrong(code: &Id, cells: &Cells, now: Timestamp) -> Option<AnswerError> {
    let Some(cell) = cells.session.as_deref() else {
        return Some(AnswerError::Unknown);
    };
    if cells.killed_above.is_some() || cell.killed().is_some() {
        return Some(AnswerError::Killed);
    }
    let list = &cell.held.approvals.list;
    let Some(held) = list.iter().find(|held| held.code == *code) else {
        return Some(AnswerError::Unknown);
    };
    match held.state {
        _ if cell.is_expired(now) || !held.is_live(now) => Some(AnswerError::Expired),
        ApprovalState::Open => None,
        state => Some(AnswerError::Answered {
            approved: state != ApprovalState::Declined,
            by: held.by.clone(),
        }),
    }
}

pub(super) fn approve(
    policy: &Policy,
    answer: &Answer,
    cells: &mut Cells,
    now: Timestamp,
) -> Verdict {
    let agent = cells.session.as_ref().and_then(|cell| cell.agent.clone());
    let limits = policy.limits_for(agent.as_ref().map(Id::as_str), answer.session.as_str());
    let until = now.plus(limits.ask.expires);
    let state = match answer.scope {
        ApprovalScope::Once => ApprovalState::Approved,
        ApprovalScope::Session | ApprovalScope::Project | ApprovalScope::Agent => {
            ApprovalState::Granted
        }
    };
    settle(answer, cells, |held| {
        (held.state, held.until) = (state, until)
    })
}

pub(super) fn decline(answer: &Answer, cells: &mut Cells, now: Timestamp) -> Verdict {
    let until = now.plus(DECLINED_FOR);
    settle(answer, cells, |held| {
        (held.state, held.until) = (ApprovalState::Declined, until);
    })
}

fn settle(answer: &Answer, cells: &mut Cells, set: impl FnOnce(&mut Approval)) -> Verdict {
    let mut verdict = done(cells.session.as_deref());
    if let Some(cell) = &mut cells.session {
        let approvals = &mut cell.held.approvals;
        if let Some(held) = approvals.find_mut(&answer.approval) {
            set(held);
            held.by.clone_from(&answer.by);
            held.said.clone_from(&answer.why);
        }
        approvals.forget();
        verdict.approval = Some(answer.approval.clone());
    }
    verdict
}
