//! `call.identical` and `call.repeat`: the same call again.
//!
//! A call is the same when server, tool and canonical arguments are. Twenty a minute is far above
//! any honest poll, and the refusal lifts itself as the window slides: a patient poller is slowed
//! down, not stopped. `call.repeat` is for callers that never report results, so that nothing shows
//! progress from a loop: it only warns.
//!
//! Trips when: `max_identical` equal calls were let through in the window; on the Nth equal call in
//! a row where no step was ever reported.
//! Resets when: the window slides on; another call comes, 30 s pass, or a step is
//! reported.
//! Bounded by: the session's last 256 calls.
//! Odd cases: refused calls count for neither, they did not happen.

use crate::cell::SessionCell;
use crate::cell::tried::Tried;
use crate::finding::{Finding, Findings};
use crate::policy::Limits;
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

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
    let (max, span) = (limits.call.max_identical.get(), limits.call.window);
    let Some(at) = cell.held.calls.nth_latest(tried.exact, max, now, span) else {
        return;
    };
    let retry = at.plus(span).since(now).0;
    found.add(limits, RuleId::CallIdentical, || {
        let seconds = span.0.div_ceil(Millis::SECOND.0);
        Finding::new(
            RuleId::CallIdentical,
            Decision::Deny,
            format!(
                "Call rejected: `{}` was called {max} times with the same arguments within {seconds} s (max {max}). Wait {} s or do something else.",
                tried.name.as_str(),
                retry.div_ceil(1000)
            ),
        )
        .with("tool", tried.name.as_str())
        .with("count", max)
        .with("max", max)
        .with("window_ms", span.0)
        .hint(format!("sprag policy set call.max_identical {}", (max * 2).min(256)))
        .retry_after(retry)
    });
}

fn repeat(
    tried: &Tried,
    cell: &SessionCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    if cell.held.step_seen {
        return;
    }
    let count = cell.held.calls.row_with(tried.exact, now);
    let limit = limits.call.repeat.get();
    if count < limit {
        return;
    }
    found.add(limits, RuleId::CallRepeat, || {
        Finding::new(
            RuleId::CallRepeat,
            Decision::Warn,
            format!(
                "`{}` was called {count} times in a row with the same arguments. If the answer did not help, try something else.",
                tried.name.as_str()
            ),
        )
        .with("tool", tried.name.as_str())
        .with("count", count)
        .with("warn_on", limit)
        .hint(format!("sprag policy set call.repeat {}", limit * 2))
    });
}
