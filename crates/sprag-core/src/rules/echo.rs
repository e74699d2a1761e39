//! `flow.echo`: one sender that repeats the same words to one receiver.
//!
//! "Continue." "Any news?" Repetition alone may be a protocol ("process next batch"), so it is only
//! warned about; repetition that is answered by the same words each time, or by silence, brings
//! nothing and is refused.
//!
//! Trips when: the 3rd equal message in a row warns; the 5th is refused if all answers in between
//! were equal or there were none. In a ring of any size: the 20th message in a row of a flow (four times
//! `deny`) that repeats what was said in the flow before.
//! Resets when: other words, another flow, or a step by either of the two; in a ring also a user's message.
//! Bounded by: one run each way, and a count for the flow.
//! Odd cases: equal is what differs in ids and times only; an answer without content can't be compared and counts as a different one, so
//! nothing is refused for lack of knowledge; a refused repetition leaves the run as it was. If neither of the
//! two has ever reported a step, work can't be seen, and the message does not claim that there was none.

use super::text::{plain_name, raise_hint};
use crate::cell::{Answers, FlowCell, MessageNews, MessageRun, PairCell};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::policy::{Limits, MAX_LIMIT};
use crate::rule::RuleId;
use crate::verdict::Decision;

/// One message as the runs see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentMessage {
    /// Without ids and times.
    pub(crate) content: Option<u64>,
    pub(crate) flow: u64,
    /// From the session that sorts first to the other.
    pub(crate) forward: bool,
}

/// A ring is refused with this many times the messages of a pair.
const RING: u32 = 4;

/// Judges a message that goes on with a ring, before it is let through. Returns whether the rule trips.
pub(crate) fn judge_ring(
    flow: &FlowCell,
    news: MessageNews,
    limits: &Limits,
    found: &mut Findings,
) -> bool {
    let deny = limits.flow.echo.deny.get().saturating_mul(RING);
    let count = flow.news.repeated.saturating_add(1);
    if !news.repeats() || count < deny {
        return false;
    }
    found.add(limits, RuleId::FlowEcho, || {
        let message = format!(
            "Agent call rejected: {count} messages of this flow in a row repeat what was said in it before, and no work was reported in between"
        );
        Finding::new(RuleId::FlowEcho, Decision::Deny, message)
            .with("count", count)
            .with("deny_on", deny)
            .hint_if(raise_hint(
                "flow.echo.deny",
                limits.flow.echo.deny.get(),
                count.div_ceil(RING) + 1,
                MAX_LIMIT,
            ))
    });
    true
}

fn runs(pair: &mut PairCell, forward: bool) -> (&mut MessageRun, &mut MessageRun) {
    if forward {
        (&mut pair.there, &mut pair.back)
    } else {
        (&mut pair.back, &mut pair.there)
    }
}

fn continues(run: &MessageRun, sent: &SentMessage) -> bool {
    sent.content.is_some() && run.content == sent.content && run.flow == sent.flow
}

/// Judges a message before it is let through.
pub(crate) fn judge(
    pair: &PairCell,
    steps: (u64, u64),
    sent: &SentMessage,
    (from, to): (&Id, &Id),
    limits: &Limits,
    found: &mut Findings,
) {
    let run = if sent.forward {
        &pair.there
    } else {
        &pair.back
    };
    if pair.worked(steps) || !continues(run, sent) {
        return;
    }
    let count = run.count.saturating_add(1);
    let (warn, deny) = (limits.flow.echo.warn.get(), limits.flow.echo.deny.get());
    let decision = if count >= deny && run.answers != Answers::Mixed {
        Decision::Deny
    } else if count >= warn {
        Decision::Warn
    } else {
        return;
    };
    found.add(limits, RuleId::FlowEcho, || {
        let (from, to) = (plain_name(from.as_str()), plain_name(to.as_str()));
        // If the answers differ, no refusal follows.
        let ahead = if run.answers == Answers::Mixed {
            String::new()
        } else {
            format!(" ({count}/{deny} before refusal)")
        };
        let work = if steps == (0, 0) {
            "; whether work is done in between is not reported"
        } else {
            ", and neither reported any new work in between"
        };
        let message = match decision {
            Decision::Deny => format!("Agent call rejected: session {from} sent the same message to session {to} {count} times and nothing new came back"),
            _ => format!("session {from} sent the same message to session {to} {count} times{ahead}{work}"),
        };
        Finding::new(RuleId::FlowEcho, decision, message)
            .with("count", count)
            .with("warn_on", warn)
            .with("deny_on", deny)
            .with("answers", match run.answers {
                Answers::None => "none",
                Answers::All(_) => "all the same",
                Answers::Mixed => "different",
            })
            .hint_if(raise_hint("flow.echo.deny", deny, count + 1, MAX_LIMIT))
    });
}

/// Notes a message that was let through: it goes on with its own run and answers the other's.
pub(crate) fn count(pair: &mut PairCell, sent: &SentMessage) {
    let (own, other) = runs(pair, sent.forward);
    if continues(own, sent) {
        own.count = own.count.saturating_add(1);
    } else {
        *own = MessageRun {
            content: sent.content,
            flow: sent.flow,
            count: 1,
            answers: Answers::None,
        };
    }
    if other.count > 0 && other.flow == sent.flow {
        other.answers = match (other.answers, sent.content) {
            (Answers::None, Some(content)) => Answers::All(content),
            (Answers::All(held), Some(content)) if held == content => Answers::All(held),
            _ => Answers::Mixed,
        };
    }
}
