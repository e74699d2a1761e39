//! `flow.spawns`: sub-agents that start sub-agents that start sub-agents.
//!
//! One agent that hands work to a dozen others and waits for them is honest, and so is one that works through
//! a hundred files that way. What runs away is delegation by those who were themselves delegated to: each of
//! them finds its part too large, and nobody sees the sum. So the sum is kept for the flow, and a start by a
//! sub-agent is judged more strictly than one by the session that the user talks to.
//!
//! Trips when: with this start more sub-agents of the flow are open than `warn` or `deny` (by a sub-agent) or
//! `root_warn` or `root_deny` (by the root) allow; or sub-agents started `per_minute` others within a minute,
//! two or more of them.
//! Resets when: sub-agents return; one that was not heard of for 30 minutes does not count any more.
//! Bounded by: 256 open ones a flow, `per_minute` times.
//! Odd cases: a start is judged once, at the call that makes it or, if that was not seen, when the sub-agent is
//! announced. What a session started before its last reset does not count. Starts outlive the flow's chain.

use super::text;
use crate::cell::{OpenStarts, hash::hash_bytes, window::inside};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::policy::{Limits, MAX_OPEN_SUB_AGENTS};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// Judges one more start by `session`.
pub(crate) fn judge(
    starts: &OpenStarts,
    (session, is_sub_agent): (&Id, bool),
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    if is_sub_agent && let Some(finding) = too_fast(starts, session, now, limits) {
        found.add(limits, RuleId::FlowSpawns, || finding);
        return;
    }
    let spawns = &limits.flow.spawns;
    let open = starts.count(now).saturating_add(1);
    let (warn, deny, key) = match is_sub_agent {
        true => (spawns.warn.get(), spawns.deny.get(), "deny"),
        false => (spawns.root_warn.get(), spawns.root_deny.get(), "root_deny"),
    };
    if open <= warn {
        return;
    }
    found.add(limits, RuleId::FlowSpawns, || {
        let whose = if is_sub_agent { " by a sub-agent" } else { "" };
        let finding = match open > deny {
            true => Finding::new(
                RuleId::FlowSpawns,
                Decision::Deny,
                format!(
                    "Start rejected: {deny} sub-agents of this flow are open (max {deny} for a start{whose}). Start no further ones: do the work yourself, or wait until some have returned."
                ),
            ),
            false => Finding::new(
                RuleId::FlowSpawns,
                Decision::Warn,
                format!(
                    "{open} sub-agents of this flow are open ({open}/{deny} before a start{whose} is refused). Start only those that the task needs, and wait for their results."
                ),
            ),
        };
        let by = if is_sub_agent { "sub_agent" } else { "root" };
        finding
            .with("open", open)
            .with("max", deny)
            .with("by", by)
            .hint_if(text::raise_hint(
                &format!("flow.spawns.{key}"),
                deny,
                open,
                MAX_OPEN_SUB_AGENTS,
            ))
    });
}

/// The word for starts that come too fast, by several sub-agents together.
fn too_fast(starts: &OpenStarts, session: &Id, now: Timestamp, limits: &Limits) -> Option<Finding> {
    let max = limits.flow.spawns.per_minute.get();
    let recent: Vec<_> = starts
        .by_sub_agents
        .iter()
        .rev()
        .take_while(|(_, at)| inside(*at, now, Millis::MINUTE))
        .take(max as usize)
        .collect();
    let own = hash_bytes(session.as_str().as_bytes());
    let oldest = recent.last().filter(|_| recent.len() == max as usize)?;
    recent.iter().find(|(starter, _)| *starter != own)?;
    let finding = Finding::new(
        RuleId::FlowSpawns,
        Decision::Deny,
        format!(
            "Start rejected: sub-agents of this flow started {max} others within a minute (max {max}). Start no further ones: do the work yourself, or wait until some have returned."
        ),
    );
    let finding = finding
        .with("started", max)
        .with("max", max)
        .with("window_ms", Millis::MINUTE.0)
        .with("by", "sub_agents")
        .hint_if(text::raise_hint(
            "flow.spawns.per_minute",
            max,
            max.saturating_add(1),
            MAX_OPEN_SUB_AGENTS,
        ));
    Some(finding.retry_after(oldest.1.plus(Millis::MINUTE).since(now).0))
}
