//! `call.identical` and `call.repeat`: the same call again.
//!
//! A call is the same when server, tool and canonical arguments are. Twenty a minute is far above
//! any honest poll, and the refusal lifts itself as the window slides: a patient poller is slowed
//! down, not stopped. `call.repeat` is for tools whose results are never reported, so that nothing
//! tells progress from a loop: it only warns. A client may report the results of some tools and not
//! of others, so it goes by tool. If two to four calls are made in turn, each comes less often than one
//! call alone would; so without results twice `max_identical` calls in the window that are all the same few in turn
//! are too many. An agent that restarts a server, edits and tests, or goes through pages does not get there.
//!
//! Trips when: `max_identical` equal calls were let through in the window; on the call that makes twice as many
//! of two to four that are made in turn, of tools of which no step was ever reported; on the Nth equal call in
//! a row of such a tool, and once if two to four calls were made in turn as often.
//! Resets when: the window slides on; another call comes, 30 s pass, or a step of the tool is
//! reported.
//! Bounded by: the session's last 256 calls.
//! Odd cases: refused calls count for neither, they did not happen; a call of a few short values is let
//! through four times as often while its answers vary, or while other calls bring news.

use super::text;
use crate::cell::SessionCell;
use crate::cell::tried::Tried;
use crate::finding::{Finding, Findings};
use crate::observation::ToolKind;
use crate::policy::{Limits, MAX_LIMIT};
use crate::rule::RuleId;
use crate::time::Timestamp;
use crate::verdict::Decision;

/// A call whose answers vary may be made so many times as often.
const VARIED: u32 = 4;
/// With so many equal answers running they no longer vary.
const SAME_LOOKS: u16 = 3;
/// No policy allows more.
const MAX_IDENTICAL: u32 = 256;

/// Judges both rules before the call is let through.
pub(crate) fn judge(
    tried: &Tried,
    cell: &SessionCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    identical(tried, cell, now, limits, found);
    repeat(tried, cell, now, limits, found);
}

fn identical(
    tried: &Tried,
    cell: &SessionCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let (limit, span) = (limits.call.max_identical.get(), limits.call.window);
    let max = if answers_vary(tried, cell) {
        limit.saturating_mul(VARIED).min(MAX_IDENTICAL)
    } else {
        limit
    };
    let Some(at) = cell.held.calls.nth_latest(tried.exact, max, now, span) else {
        return in_turn(tried, cell, now, limits, found);
    };
    let retry = at.plus(span).since(now).0;
    found.add(limits, RuleId::CallIdentical, || {
        let tool = text::plain_name(tried.name.as_str());
        let finding = Finding::new(
            RuleId::CallIdentical,
            Decision::Deny,
            format!(
                "Call rejected: `{tool}` was called {max} times with the same arguments within {} (max {max}). Wait {} s or do something else.",
                text::seconds(span),
                retry.div_ceil(1000)
            ),
        )
        .with("tool", tried.name.as_str())
        .with("count", max)
        .with("max", max)
        .with("window_ms", span.0)
        .retry_after(retry);
        finding.hint_if(text::raise_hint("call.max_identical", limit, limit + 1, MAX_IDENTICAL))
    });
}

/// Whether a call of a few short values answers now this, now that (the next record, a step of a simulation, a
/// move), or goes on with something that answers other calls with news (a key between the texts of a form). The
/// progress rules see what comes of it.
fn answers_vary(tried: &Tried, cell: &SessionCell) -> bool {
    let progress = &cell.held.progress;
    let past = progress.past(tried.normal).filter(|_| tried.about.controls);
    past.is_some_and(|(_, past)| {
        let varies = past.earlier != past.outcome && past.looks < SAME_LOOKS;
        let goes_on = tried.kind != ToolKind::Change && progress.news.0 > past.step;
        varies || goes_on
    })
}

/// The same few calls in turn, without a result of any of them.
fn in_turn(
    tried: &Tried,
    cell: &SessionCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let (max, span) = (limits.call.max_identical.get(), limits.call.window);
    let least = usize::try_from(max.saturating_mul(2)).unwrap_or(usize::MAX);
    let Some((count, calls)) = cell.held.calls.in_turn(tried.exact, now, span, least) else {
        return;
    };
    if cell.held.reports(&tried.name) {
        return;
    }
    let oldest = cell
        .held
        .calls
        .nth_of_all(least.max(4 * calls).saturating_sub(1));
    let retry = oldest.map_or(span, |at| at.plus(span).since(now)).0;
    found.add(limits, RuleId::CallIdentical, || {
        Finding::new(
            RuleId::CallIdentical,
            Decision::Deny,
            format!(
                "Call rejected: the same {calls} calls were made in turn, {count} calls within {} with this one of `{}`, and no results were reported. Wait {} s or do something else.",
                text::seconds(span),
                text::plain_name(tried.name.as_str()),
                retry.div_ceil(1000)
            ),
        )
        .with("tool", tried.name.as_str())
        .with("count", count)
        .with("calls_a_round", calls)
        .with("max", least)
        .with("window_ms", span.0)
        .retry_after(retry)
        .hint_if(text::raise_hint("call.max_identical", max, max + 1, MAX_IDENTICAL))
    });
}

fn repeat(
    tried: &Tried,
    cell: &SessionCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let count = cell.held.calls.row_with(tried.exact, now);
    let limit = limits.call.repeat.get();
    if count < limit {
        return rounds(tried, cell, now, limits, found);
    }
    if cell.held.reports(&tried.name) {
        return;
    }
    found.add(limits, RuleId::CallRepeat, || {
        Finding::new(
            RuleId::CallRepeat,
            Decision::Warn,
            format!(
                "`{}` was called {count} times in a row with the same arguments. If the answer did not help, try something else.",
                text::plain_name(tried.name.as_str())
            ),
        )
        .with("tool", tried.name.as_str())
        .with("count", count)
        .with("warn_on", limit)
        .hint_if(text::raise_hint("call.repeat", limit, count + 1, MAX_LIMIT))
    });
}

/// Two to four calls that are made in turn: warned about once, when the last round ends.
fn rounds(
    tried: &Tried,
    cell: &SessionCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let limit = limits.call.repeat.get();
    let Some((rounds, calls)) = cell.held.calls.rounds_with(tried.exact, now) else {
        return;
    };
    if rounds != limit || cell.held.reports(&tried.name) {
        return;
    }
    found.add(limits, RuleId::CallRepeat, || {
        Finding::new(
            RuleId::CallRepeat,
            Decision::Warn,
            format!(
                "The same {calls} calls were made in turn {rounds} times, the last of `{}`. If the answers did not help, try something else.",
                text::plain_name(tried.name.as_str())
            ),
        )
        .with("tool", tried.name.as_str())
        .with("count", rounds)
        .with("calls_a_round", calls)
        .with("warn_on", limit)
        .hint_if(text::raise_hint("call.repeat", limit, rounds + 1, MAX_LIMIT))
    });
}
