//! `flow.unattended`, `inbox.rate` and `conversation.length`: what arrives, from any sender.
//!
//! These look at the receiving end, so they hold across flows: a slow ring that stays under every
//! rate is stopped by how much arrived since a person last took part, a flood by its rate, a pair
//! that keeps mentioning each other by the length of their conversation. The receiver's policy decides.
//!
//! Trips when: more than N agents' messages since a user last attended the session; N within a
//! minute in one inbox; more than N in one conversation since a user last wrote in it.
//! Resets when: a user writes, or starts a flow that reaches the session; the minute passes.
//! Messages that bring something new to their flow count half for the inbox and the conversation.
//! Bounded by: three counts and three times `max_messages_per_minute` times.
//! Odd cases: a scheduler starts flows but attends nobody; sub-agents' starts and ends count nowhere.

use super::text::{plain_name, raise_hint};
use crate::cell::window::Weighed;
use crate::cell::{ConversationCell, FlowCell, InboxCell, SessionCell};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::policy::{Limits, MAX_LIMIT};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// When this message lets a user attend the receiver: the start of a user's flow that reaches it for the first time.
pub(crate) fn attends(flow: Option<&FlowCell>, receiver: &SessionCell) -> Option<Timestamp> {
    let started = flow?.user_start()?;
    receiver
        .held
        .attended_at
        .is_none_or(|attended| started > attended)
        .then_some(started)
}

/// `flow.unattended`.
pub(crate) fn judge_unattended(
    to: &Id,
    receiver: &SessionCell,
    attended: bool,
    limits: &Limits,
    found: &mut Findings,
) {
    let max = limits.flow.max_unattended.get();
    let count = if attended {
        1
    } else {
        receiver.held.unattended.saturating_add(1)
    };
    if count <= max {
        return;
    }
    found.add(limits, RuleId::FlowUnattended, || {
        Finding::new(
            RuleId::FlowUnattended,
            Decision::Deny,
            format!(
                "Agent call rejected: session {} got {} messages from agents since a user last took part (max {max})",
                plain_name(to.as_str()),
                count - 1
            ),
        )
        .with("count", count)
        .with("max", max)
        .hint_if(raise_hint("flow.max_unattended", max, count, MAX_LIMIT))
    });
}

/// `inbox.rate`.
pub(crate) fn judge_inbox(
    to: &Id,
    inbox: &InboxCell,
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let max = limits.inbox.max_messages_per_minute.get();
    let windows = (&inbox.arrived, &inbox.new_arrived);
    let recent = Weighed::of(windows.0, windows.1, now, Millis::MINUTE);
    if recent.weight() < max as usize {
        return;
    }
    found.add(limits, RuleId::InboxRate, || {
        let finding = Finding::new(
            RuleId::InboxRate,
            Decision::Deny,
            format!(
                "Message rejected: the inbox of session {} got {} messages within a minute (max {max}/minute{})",
                plain_name(to.as_str()),
                recent.total(),
                half(recent.new)
            ),
        )
        .with("count", recent.total())
        .with("new", recent.new)
        .with("max", max)
        .with("window_ms", Millis::MINUTE.0)
        .hint_if(raise_hint(
            "inbox.max_messages_per_minute",
            max,
            u32::try_from(recent.weight() + 1).unwrap_or(u32::MAX),
            MAX_LIMIT,
        ));
        match Weighed::retry_after(windows.0, windows.1, now, Millis::MINUTE, max) {
            Some(span) => finding.retry_after(span.0),
            None => finding,
        }
    });
}

/// What a limit says of messages that count half.
fn half(new: usize) -> String {
    match new {
        0 => String::new(),
        new => format!("; {new} that said something new count half"),
    }
}

/// Counts a message that was let through; the times of the last `keep` are remembered.
pub(crate) fn count_inbox(inbox: &mut InboxCell, now: Timestamp, is_news: bool, keep: u32) {
    match is_news {
        true => inbox
            .new_arrived
            .push(now, Millis::MINUTE, keep.saturating_mul(2)),
        false => inbox.arrived.push(now, Millis::MINUTE, keep),
    }
}

/// Counts a message that was let through.
pub(crate) fn count_conversation(cell: &mut ConversationCell, is_news: bool) {
    let count = match is_news {
        true => &mut cell.new_messages,
        false => &mut cell.messages,
    };
    *count = count.saturating_add(1);
}

/// `conversation.length`.
pub(crate) fn judge_conversation(cell: &ConversationCell, limits: &Limits, found: &mut Findings) {
    let max = limits.conversation.max_messages.get();
    let weight = cell.weight();
    if weight < max {
        return;
    }
    let count = cell.messages.saturating_add(cell.new_messages);
    found.add(limits, RuleId::ConversationLength, || {
        Finding::new(
            RuleId::ConversationLength,
            Decision::Deny,
            format!(
                "Message rejected: agents sent {count} messages in this conversation since a user last wrote in it (max {max}{})",
                half(cell.new_messages as usize)
            ),
        )
        .with("count", count.saturating_add(1))
        .with("new", cell.new_messages)
        .with("max", max)
        .hint_if(raise_hint(
            "conversation.max_messages",
            max,
            weight.saturating_add(1),
            MAX_LIMIT,
        ))
    });
}
