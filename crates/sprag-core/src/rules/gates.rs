//! The gates: what is refused before any other rule is asked.
//!
//! A killed session must stay dead whatever it tries, so its gate comes first and has no mode.
//! `access.denied` and `session.blocked` are about calls: a blocked agent may still talk, because
//! the best end of a runaway is an agent that sums up what it tried.
//!
//! Trips when: the event belongs to an older generation, the session or one above it is killed, one above
//! it was reset since it was started,
//! the tool is not allowed, or the session is blocked.
//! Resets when: an operator resets the session; a block also when a user says so.
//! Odd cases: a session that writes *to* a killed session gets `deny`, not `kill`: it did nothing wrong.

use super::text::{plain_name, reset_hint};
use crate::cell::{Mark, SessionCell};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::observation::{Approach, Call, Panic};
use crate::policy::Limits;
use crate::rule::RuleId;
use crate::verdict::{Code, Decision};

fn told(finding: Finding, mark: Option<&Mark>) -> Finding {
    match mark {
        None => finding,
        Some(mark) => finding
            .with("since", mark.at.0)
            .with("why", mark.why.as_str())
            .with("by", mark.by.as_deref().or(mark.rule.map(RuleId::as_str))),
    }
}

/// The word for an event from before the last reset.
pub(crate) fn stale(session: &Id, named: u32, current: u32) -> Finding {
    Finding::new(
        RuleId::SessionKilled,
        Decision::Kill,
        format!(
            "Session {} was reset: generation {named} has ended, the current one is {current}",
            plain_name(session.as_str())
        ),
    )
    .with("generation", named)
    .with("current", current)
    .code(Code::SessionStaleGeneration)
}

/// The word for a sub-agent whose starter was reset since.
pub(crate) fn orphaned(session: &Id, starter: &Id) -> Finding {
    Finding::new(
        RuleId::SessionKilled,
        Decision::Kill,
        format!(
            "Session {} has ended: session {} above it was reset since it was started. Stop now.",
            plain_name(session.as_str()),
            plain_name(starter.as_str())
        ),
    )
    .with("starter", starter.as_str())
    .hint(reset_hint(session.as_str()))
    .code(Code::SessionStaleGeneration)
}

/// The word for everything that agents do while a panic is in force.
pub(crate) fn panic(panic: &Panic, decision: Decision) -> Finding {
    let by = panic.by.as_deref().unwrap_or("an operator");
    let why = panic.why.as_deref().unwrap_or_default();
    let why = match plain_name(why.trim_end_matches('.')) {
        why if why.is_empty() => String::new(),
        why => format!(" ({why})"),
    };
    Finding::new(
        RuleId::SessionPanic,
        decision,
        format!(
            "Everything that agents do is refused: {} stopped all of them{why}. Stop now and wait for a person. Do not work around it.",
            plain_name(by)
        ),
    )
    .with("by", panic.by.as_deref())
    .with("why", panic.why.as_deref())
    .hint("sprag calm --why \"…\"")
    .code(Code::Panic)
}

/// The word for the killed session itself.
pub(crate) fn killed(session: &Id, cell: &SessionCell, above: Option<&Id>) -> Finding {
    let why = match (cell.killed(), above) {
        // The audit's word need not stand in the sentence once more.
        (Some(mark), _) => mark
            .why
            .strip_prefix("session_killed: ")
            .unwrap_or(&mark.why)
            .to_owned(),
        (None, Some(above)) => {
            format!("session {} above it was killed", plain_name(above.as_str()))
        }
        (None, None) => "a session above it was killed".to_owned(),
    };
    let finding = Finding::new(
        RuleId::SessionKilled,
        Decision::Kill,
        format!(
            "Session {} was killed: {}. Stop now; only an operator can reset it.",
            plain_name(session.as_str()),
            why.trim_end_matches('.')
        ),
    )
    .hint_if(killed_one(session, cell, above).map(reset_hint))
    .code(Code::SessionKilledLoopGuard);
    told(finding, cell.killed())
}

/// The session whose reset lifts the kill: itself, or the one above it that was killed.
fn killed_one<'a>(session: &'a Id, cell: &SessionCell, above: Option<&'a Id>) -> Option<&'a str> {
    match cell.killed() {
        Some(_) => Some(session.as_str()),
        None => above.map(Id::as_str),
    }
}

/// An operator kills too, and then the loop guard had no part in it.
fn killer(cell: &SessionCell) -> &'static str {
    match cell.killed() {
        Some(mark) if mark.rule.is_none() => "by an operator",
        Some(_) => "by the loop guard",
        None => "with a session above it",
    }
}

/// The word for someone who writes to a killed session.
pub(crate) fn killed_receiver(session: &Id, cell: &SessionCell, above: Option<&Id>) -> Finding {
    let finding = Finding::new(
        RuleId::SessionKilled,
        Decision::Deny,
        format!(
            "Message rejected: session {} was killed {}",
            plain_name(session.as_str()),
            killer(cell)
        ),
    )
    .hint_if(killed_one(session, cell, above).map(reset_hint))
    .code(Code::SessionKilledLoopGuard);
    told(finding, cell.killed())
}

/// The gates of a call, in their order: the first that refuses ends it.
pub(crate) fn call(call: &Call, cell: &mut SessionCell, limits: &Limits, found: &mut Findings) {
    access(&call.approach, limits, found);
    if !found.decision().refuses() {
        own(call, limits, found);
    }
    if !found.decision().refuses() {
        blocked_call(&call.session, cell, limits, found);
    }
}

/// Whether the tool may be called at all.
fn access(approach: &Approach, limits: &Limits, found: &mut Findings) {
    let Some(tool) = approach.tool.as_ref() else {
        return;
    };
    let server = approach.server.as_ref().map(Id::as_str);
    let hits = |glob: &&crate::glob::Glob| glob.matches_tool(server, tool.as_str());
    let denied_by = limits.access.deny.iter().find(hits);
    let allowed =
        limits.access.allow.is_empty() || limits.access.allow.iter().any(|glob| hits(&glob));
    if denied_by.is_none() && allowed {
        return;
    }
    found.add(limits, RuleId::AccessDenied, || {
        let full = server.map_or_else(|| tool.to_string(), |server| format!("{server}/{tool}"));
        let (list, glob) = denied_by.map_or(("allow", None), |glob| ("deny", Some(glob.as_str())));
        Finding::new(
            RuleId::AccessDenied,
            Decision::Deny,
            format!("Tool {} is not allowed by the policy", plain_name(&full)),
        )
        .with("tool", full)
        .with("list", list)
        .with("glob", glob)
        .hint("sprag policy show access")
    });
}

/// The end of a block's text, if the session's user can lift it by going on.
pub(crate) fn lifted_by_user(cell: &SessionCell) -> &'static str {
    if cell.held.user_unblocks {
        " The user's next message lifts the block."
    } else {
        ""
    }
}

/// Whether the call is an order to the guard: an agent can't approve itself.
fn own(call: &Call, limits: &Limits, found: &mut Findings) {
    if !call.orders_guard {
        return;
    }
    found.add(limits, RuleId::AccessSelf, || {
        let tool = call.approach.tool.as_ref().map_or("", Id::as_str);
        Finding::new(
            RuleId::AccessSelf,
            Decision::Deny,
            "This call would change what the guard allows. Only a person may do that: ask the user to do it.",
        )
        .with("tool", tool)
    });
}

fn blocked_text(cell: &SessionCell) -> Option<String> {
    let why = cell.blocked()?.why.trim_end_matches('.');
    let lifted = lifted_by_user(cell);
    Some(format!(
        "Session is blocked: {why}. Make no further calls; summarise what you tried and what you found, and stop.{lifted}"
    ))
}

/// From this refusal in a blocked session on, the agent's turn is to be ended.
const END_TURN_ON: u32 = 3;

/// A call in a blocked session is refused. An agent that goes on all the same is to be ended: each of
/// its turns is paid for.
fn blocked_call(session: &Id, cell: &mut SessionCell, limits: &Limits, found: &mut Findings) {
    if cell.blocked().is_none() {
        return;
    }
    let refused = cell.held.refused_in_block.saturating_add(1);
    cell.held.refused_in_block = refused;
    blocked(Decision::Deny, session, cell, limits, found);
    if refused >= END_TURN_ON {
        found.end_turn(RuleId::SessionBlocked);
    }
}

/// A step in a blocked session is recorded and answered with a warning.
pub(crate) fn blocked_step(
    session: &Id,
    cell: &SessionCell,
    limits: &Limits,
    found: &mut Findings,
) {
    blocked(Decision::Warn, session, cell, limits, found);
}

fn blocked(
    decision: Decision,
    session: &Id,
    cell: &SessionCell,
    limits: &Limits,
    found: &mut Findings,
) {
    let Some(text) = blocked_text(cell) else {
        return;
    };
    found.add(limits, RuleId::SessionBlocked, || {
        let finding = Finding::new(RuleId::SessionBlocked, decision, text)
            .hint(reset_hint(session.as_str()))
            .code(Code::SessionBlockedLoopGuard);
        told(finding, cell.blocked())
    });
}
