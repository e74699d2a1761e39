//! The rules of a flow: correlation, self-calls, depth, sessions, duration, rate, total, returns.
//!
//! One user action may cause a chain of messages between agents. The chain is honest as long as it
//! is short, shallow and ends; a ring or a cascade is not, and each limit here catches it from
//! another side. Depth is of the collapsed stack: a return pops, and parallel branches each have
//! their own path, so a coordinator may fan out as wide as `max_sessions` lets it.
//!
//! A flow in which agents work or say something new is alive. So its age counts from the last such message,
//! and a message that brings something new counts half for the rate and for the sessions that it brings in.
//! The total counts every message: talk alone ends there, however new its words are.
//!
//! Trips when: see each message. Resets when: the flow is silent for `max_duration`; a user's
//! message renews its age. Bounded by: 256 members, 64 contents, three times `max_calls_per_minute` times,
//! one total.
//! Odd cases: refused messages keep a flow alive, so hammering a timed-out flow stays refused; a
//! sub-agent's start is judged by correlation, self-call and depth only, its return by none.

use super::text;
use crate::cell::window::Weighed;
use crate::cell::{FlowCell, MessageNews, Path, Statement};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::policy::{Limits, MAX_LIMIT};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// The rules that need no flow.
pub(crate) fn judge_ends(
    from: &Id,
    to: &Id,
    has_flow: bool,
    limits: &Limits,
    found: &mut Findings,
) {
    if !has_flow {
        found.add(limits, RuleId::FlowCorrelation, || {
            deny(
                RuleId::FlowCorrelation,
                "correlation ID required for agent-initiated calls",
            )
            .with("from", from.as_str())
            .hint("sprag explain flow.correlation")
        });
    }
    if from == to {
        found.add(limits, RuleId::FlowSelfCall, || {
            deny(RuleId::FlowSelfCall, "self-calls not allowed")
                .with("session", from.as_str())
                .hint("sprag explain flow.self_call")
        });
    }
}

fn deny(rule: RuleId, what: impl std::fmt::Display) -> Finding {
    Finding::new(rule, Decision::Deny, format!("Agent call rejected: {what}"))
}

fn raise_to(key: &str, needed: u32) -> Option<String> {
    (needed <= MAX_LIMIT).then(|| format!("sprag policy set flow.{key} {needed}"))
}

fn raise(key: &str, limit: u32, needed: u32) -> Option<String> {
    text::raise_hint(&format!("flow.{key}"), limit, needed, MAX_LIMIT)
}

/// `flow.depth`.
pub(crate) fn judge_depth(path: &Path, limits: &Limits, found: &mut Findings) {
    let (depth, max) = (path.depth(), limits.flow.max_depth.get());
    if depth > max {
        found.add(limits, RuleId::FlowDepth, || {
            let what = format!("effective call depth {depth} exceeds limit (max {max})");
            let chain: Vec<&str> = path.chain.iter().map(Id::as_str).collect();
            deny(RuleId::FlowDepth, what)
                .with("depth", depth)
                .with("max", max)
                .with("chain", chain)
                .hint_if(raise_to("max_depth", depth))
        });
    }
}

/// `flow.depth` of a call that starts a sub-agent: how many started one another, the new one included.
pub(crate) fn judge_start_depth(depth: u32, limits: &Limits, found: &mut Findings) {
    let max = limits.flow.max_depth.get();
    if depth > max {
        found.add(limits, RuleId::FlowDepth, || {
            let what = format!("effective call depth {depth} exceeds limit (max {max})");
            deny(RuleId::FlowDepth, what)
                .with("depth", depth)
                .with("max", max)
                .hint_if(raise_to("max_depth", depth))
        });
    }
}

/// The limits on everything that was said in the flow.
pub(crate) fn judge_talk(
    flow: &FlowCell,
    (from, to): (&Id, &Id),
    path: &Path,
    (now, news): (Timestamp, MessageNews),
    limits: &Limits,
    found: &mut Findings,
) {
    judge_sessions(flow, (from, to), news, limits, found);
    if !news.is_news() {
        judge_duration(flow, now, limits, found);
    }
    judge_counts(flow, now, limits, found);
    let max = limits.flow.max_revisits.get();
    let revisits = flow.member(to).map_or(0, |member| member.revisits);
    if path.is_return && revisits >= max {
        found.add(limits, RuleId::FlowRevisits, || {
            deny(
                RuleId::FlowRevisits,
                format!(
                    "too many returns to session {} (max {max} revisits)",
                    text::plain_name(to.as_str())
                ),
            )
            .with("session", to.as_str())
            .with("revisits", revisits + 1)
            .with("max", max)
            .hint_if(raise("max_revisits", max, revisits + 1))
        });
    }
}

fn judge_sessions(
    flow: &FlowCell,
    (from, to): (&Id, &Id),
    news: MessageNews,
    limits: &Limits,
    found: &mut Findings,
) {
    let sessions = flow.sessions_with(from, to, news.is_news());
    let max = limits.flow.max_sessions.get();
    let weight = sessions.weight_up();
    if weight > max as usize {
        found.add(limits, RuleId::FlowSessions, || {
            let count = sessions.total();
            let half = match sessions.new {
                0 => String::new(),
                new => format!("; {new} that came in with something new count half"),
            };
            deny(
                RuleId::FlowSessions,
                format!("flow involves too many sessions ({count}, max {max}{half})"),
            )
            .with("sessions", count)
            .with("new", sessions.new)
            .with("max", max)
            .hint_if(raise_to(
                "max_sessions",
                u32::try_from(weight).unwrap_or(u32::MAX),
            ))
        });
    }
}

fn judge_duration(flow: &FlowCell, now: Timestamp, limits: &Limits, found: &mut Findings) {
    let (age, max) = (now.since(flow.idle_since()), limits.flow.max_duration);
    if age > max {
        found.add(limits, RuleId::FlowDuration, || {
            deny(
                RuleId::FlowDuration,
                format!("flow timeout (max {})", text::duration(max)),
            )
            .with("age_ms", age.0)
            .with("max_ms", max.0)
            .hint(format!(
                "sprag policy set flow.max_duration \"{}s\"",
                (max.0.saturating_mul(2)).max(age.0).div_ceil(1000)
            ))
        });
    }
}

fn judge_counts(flow: &FlowCell, now: Timestamp, limits: &Limits, found: &mut Findings) {
    let per_minute = limits.flow.max_calls_per_minute.get();
    let windows = (&flow.calls, &flow.new_calls);
    let recent = Weighed::of(windows.0, windows.1, now, Millis::MINUTE);
    if recent.weight() >= per_minute as usize {
        found.add(limits, RuleId::FlowRate, || {
            let half = match recent.new {
                0 => String::new(),
                new => format!(
                    "; {new} of {} said something new and count half",
                    recent.total()
                ),
            };
            let finding = deny(
                RuleId::FlowRate,
                format!("call rate limit exceeded (max {per_minute}/minute{half})"),
            )
            .with("count", recent.total())
            .with("new", recent.new)
            .with("max", per_minute)
            .with("window_ms", Millis::MINUTE.0)
            .hint_if(raise("max_calls_per_minute", per_minute, per_minute + 1));
            match Weighed::retry_after(windows.0, windows.1, now, Millis::MINUTE, per_minute) {
                Some(span) => finding.retry_after(span.0),
                None => finding,
            }
        });
    }
    let max = limits.flow.max_calls.get();
    if flow.total >= max {
        found.add(limits, RuleId::FlowTotal, || {
            deny(
                RuleId::FlowTotal,
                format!("total call limit exceeded (max {max} per flow)"),
            )
            .with("count", flow.total)
            .with("max", max)
            .hint_if(raise("max_calls", max, flow.total.saturating_add(1)))
        });
    }
}

/// Counts a message that was let through; the times of the last `keep` are remembered.
pub(crate) fn count_talk(
    flow: &mut FlowCell,
    statement: Option<Statement>,
    (now, news): (Timestamp, MessageNews),
    keep: u32,
) {
    match news.is_news() {
        true => flow
            .new_calls
            .push(now, Millis::MINUTE, keep.saturating_mul(2)),
        false => flow.calls.push(now, Millis::MINUTE, keep),
    }
    flow.news.note(statement, news, now);
    flow.total = flow.total.saturating_add(1);
}
