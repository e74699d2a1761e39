//! `flow.chatter`: two sessions that talk in quick succession while neither does anything.
//!
//! Agents that only answer each other look busy and are not. The rule cannot know who is at fault
//! and honest exchanges can be quick, so it warns and never refuses.
//!
//! Trips when: the Nth message between the two within a minute that brings nothing new to its flow; once, until
//! it calms down.
//! Resets when: either of them reports a step, or the window slides on.
//! Bounded by: N times a pair, forgotten after an idle hour.
//! Odd cases: "in between" is by the order of events, so clock skew between hosts does not matter. If neither of the
//! two has ever reported a step, work can't be seen, and the message does not claim that there was none.

use super::text::{plain_name, raise_hint};
use crate::cell::{MessageNews, PairCell};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::policy::{Limits, MAX_LIMIT};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// Judges a message of `from` before it is let through.
pub(crate) fn judge(
    pair: &PairCell,
    steps: (u64, u64),
    from: &Id,
    (now, news): (Timestamp, MessageNews),
    limits: &Limits,
    found: &mut Findings,
) {
    if news.is_news() {
        return;
    }
    let earlier = match pair.worked(steps) {
        true => 0,
        false => pair.talk.count(now, Millis::MINUTE),
    };
    let (count, limit) = (earlier + 1, limits.flow.chatter.get());
    let said = pair.warned && earlier > 0;
    if count < limit as usize || said {
        return;
    }
    found.add(limits, RuleId::FlowChatter, || {
        let from = plain_name(from.as_str());
        let message = if steps == (0, 0) {
            format!(
                "rapid calls from session {from}; whether work is done in between is not reported"
            )
        } else {
            format!("rapid calls from session {from} with no work detected")
        };
        Finding::new(RuleId::FlowChatter, Decision::Warn, message)
            .with("count", count)
            .with("warn_on", limit)
            .with("window_ms", Millis::MINUTE.0)
            .hint_if(raise_hint(
                "flow.chatter",
                limit,
                u32::try_from(count + 1).unwrap_or(u32::MAX),
                MAX_LIMIT,
            ))
    });
}

/// Counts a message that was let through; the last `keep` are remembered.
pub(crate) fn count(
    pair: &mut PairCell,
    (now, news): (Timestamp, MessageNews),
    limits: &Limits,
    keep: u32,
) {
    if news.is_news() {
        return;
    }
    let count = pair.talk.count(now, Millis::MINUTE) + 1;
    pair.warned = count >= limits.flow.chatter.get() as usize;
    pair.talk.push(now, Millis::MINUTE, keep);
}
