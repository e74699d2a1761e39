//! `session.defiance`: calls that go on against refusals.
//!
//! A refusal that is ignored is a loop of its own: the agent burns tokens on calls that never run. So
//! refusals in a row are counted, whichever rule refused, and the ladder ends in a kill.
//!
//! Trips when: the Nth refused call in a row blocks, the 2Nth kills.
//! Resets when: a call is let through, or an operator resets.
//! Bounded by: three numbers.
//! Odd cases: one tight burst is one refusal (at most one is counted a second); a poller that
//! `call.identical` slows down is counted once per window at most, so it is never killed for waiting.

use super::text::reset_hint;
use crate::cell::SessionCell;
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::policy::Limits;
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// Counts the refusal that `found` amounts to, and judges how many there were.
pub(crate) fn refused(
    session: &Id,
    cell: &mut SessionCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let by_identical = found
        .strongest()
        .is_some_and(|finding| finding.rule == RuleId::CallIdentical);
    let refusals = &mut cell.held.refusals;
    let soon =
        |last: Option<Timestamp>, span: Millis| last.is_some_and(|last| now.since(last) < span);
    if soon(refusals.counted_at, Millis::SECOND)
        || (by_identical && soon(refusals.identical_at, limits.call.window))
    {
        return;
    }
    refusals.counted_at = Some(now);
    if by_identical {
        refusals.identical_at = Some(now);
    }
    refusals.count = refusals.count.saturating_add(1);
    let (count, max) = (refusals.count, limits.session.max_refused.get());
    let decision = if count >= max * 2 {
        Decision::Kill
    } else if count == max {
        Decision::Block
    } else {
        return;
    };
    found.add(limits, RuleId::SessionDefiance, || {
        let end = if decision == Decision::Kill {
            "the session is killed"
        } else {
            "make no further calls; summarise what you tried and stop"
        };
        let happened =
            format!("At least {count} calls in a row were refused and the agent went on");
        let message = format!("{happened}: {end}.");
        Finding::new(RuleId::SessionDefiance, decision, message)
            .why(happened)
            .with("count", count)
            .with("block_on", max)
            .with("kill_on", max * 2)
            .hint(reset_hint(session.as_str()))
    });
}

/// A call was let through.
pub(crate) fn relented(cell: &mut SessionCell) {
    cell.held.refusals.relent();
}
