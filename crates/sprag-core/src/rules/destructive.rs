//! `destructive.volume` and `destructive.target`: deleting again and again.
//!
//! The costliest runaway is the one that cannot be taken back: a clean-up agent that deletes the same
//! thing again because the catalogue says "still exists". Destruction in quick succession kills the
//! session at once; a person looks before it goes on. A legitimate batch gets a higher
//! `max_calls` for its agent, and is then still watched per target.
//!
//! Trips when: the Nth destructive call within the window; a target that was already in N.
//! Resets when: the window slides on, or an operator resets the session.
//! Bounded by: `max_calls` times; 16 targets for each of them, at most 4,096.
//! Odd cases: a call's target is the whole set of its target fields, so `schema` alone never ties two
//! tables together; an array is one target an element; a call without target fields counts for the volume only.

use crate::cell::hash::{hash_bytes, mix};
use crate::cell::{AgentCell, Destructive, SessionCell};
use crate::destructive_name::is_destructive;
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::observation::{Approach, Call, Field};
use crate::policy::{DestructiveLimits, Limits, Scope, Widest};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// The most targets that one call is seen to have.
const MAX_TARGETS: usize = 64;

/// A call that destroys, with what it destroys.
pub(crate) struct Destroys {
    targets: Vec<u64>,
    text: Option<String>,
}

impl Destroys {
    /// Returns none if the call destroys nothing.
    pub(crate) fn of(call: &Call, limits: &DestructiveLimits) -> Option<Self> {
        let tool = call.approach.tool.as_ref()?;
        if !is_destructive(tool.as_str(), call.hints, limits) {
            return None;
        }
        Some(Self {
            targets: targets(&call.approach, limits),
            text: text(&call.approach, limits),
        })
    }
}

fn target_fields<'a>(
    approach: &'a Approach,
    limits: &'a DestructiveLimits,
) -> impl Iterator<Item = (&'a str, Vec<&'a Field>)> {
    let mut names: Vec<&str> = limits.targets.iter().map(|name| &**name).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| {
        let fields: Vec<_> = approach
            .fields
            .iter()
            .filter(|field| *field.name == *name)
            .collect();
        (!fields.is_empty()).then_some((name, fields))
    })
}

/// One hash for each combination of the target fields' values.
fn targets(approach: &Approach, limits: &DestructiveLimits) -> Vec<u64> {
    let mut combined: Vec<u64> = Vec::new();
    for (name, fields) in target_fields(approach, limits) {
        let name = hash_bytes(name.as_bytes());
        let before = if combined.is_empty() {
            vec![0]
        } else {
            combined
        };
        combined = before
            .iter()
            .flat_map(|start| {
                fields
                    .iter()
                    .map(move |field| mix(mix(*start, name), field.digest.prefix()))
            })
            .take(MAX_TARGETS)
            .collect();
    }
    combined.sort_unstable();
    combined.dedup();
    combined
}

/// `asset_id=fact_sales`, if the observation holds it in clear.
fn text(approach: &Approach, limits: &DestructiveLimits) -> Option<String> {
    let parts: Vec<String> = target_fields(approach, limits)
        .filter_map(|(name, fields)| {
            let values: Vec<&str> = fields
                .iter()
                .filter_map(|field| field.text.as_deref())
                .take(3)
                .collect();
            (!values.is_empty()).then(|| format!("{name}={}", values.join(",")))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The memory that the policy's scope names.
fn memory<'a>(
    session: &'a mut SessionCell,
    agent: Option<&'a mut AgentCell>,
    limits: &Limits,
) -> &'a mut Destructive {
    match (limits.destructive.scope, agent) {
        (Scope::Agent, Some(agent)) => &mut agent.destructive,
        _ => session.held.destructive.get_or_insert_default(),
    }
}

/// Judges both rules before the call is let through.
pub(crate) fn judge(
    destroys: &Destroys,
    call: &Call,
    cells: (&mut SessionCell, Option<&mut AgentCell>),
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let memory = memory(cells.0, cells.1, limits);
    let case = Case {
        destroys,
        call,
        now,
        limits,
    };
    case.volume(memory, found);
    case.target(memory, found);
}

/// One destructive call with all that judges it.
struct Case<'a> {
    destroys: &'a Destroys,
    call: &'a Call,
    now: Timestamp,
    limits: &'a Limits,
}

impl Case<'_> {
    fn volume(&self, memory: &Destructive, found: &mut Findings) {
        let (span, max) = (
            self.limits.destructive.window,
            self.limits.destructive.max_calls.get(),
        );
        let earlier = memory.window.count(self.now, span);
        let count = u32::try_from(earlier).unwrap_or(u32::MAX).saturating_add(1);
        if count < max {
            return;
        }
        found.add(self.limits, RuleId::DestructiveVolume, || {
            let since = memory.window.oldest(self.now, span);
            self.finding(RuleId::DestructiveVolume, Decision::Kill, count, since, max)
                .hint(raise_hint("destructive.max_calls", self.call, max * 10))
        });
    }

    fn target(&self, memory: &Destructive, found: &mut Findings) {
        let (span, max) = (
            self.limits.destructive.window,
            self.limits.destructive.max_same_target.get(),
        );
        let targets = self.destroys.targets.iter();
        let worst = targets
            .map(|target| (memory.count_target(*target, self.now, span), *target))
            .max();
        let Some((earlier, target)) = worst else {
            return;
        };
        let decision = if earlier >= max {
            Decision::Kill
        } else if max >= 2 && earlier + 1 == max {
            Decision::Warn
        } else {
            return;
        };
        found.add(self.limits, RuleId::DestructiveTarget, || {
            let since = memory.first_on(target, self.now, span);
            self.finding(RuleId::DestructiveTarget, decision, earlier + 1, since, max)
                .hint(raise_hint(
                    "destructive.max_same_target",
                    self.call,
                    max * 2,
                ))
        });
    }

    fn finding(
        &self,
        rule: RuleId,
        decision: Decision,
        count: u32,
        since: Option<Timestamp>,
        max: u32,
    ) -> Finding {
        let elapsed = since.map_or(Millis(0), |since| self.now.since(since));
        let tool = self.call.approach.tool.as_ref().map_or("", Id::as_str);
        let target = &self.destroys.text;
        let on = target
            .as_ref()
            .map_or_else(|| format!("by {tool}"), |text| format!("on {text}"));
        let happened = format!("{count} deletes {on} in {}s", elapsed.0.div_ceil(1000));
        let message = match decision {
            Decision::Kill => format!("session_killed: loop_detected, {happened}"),
            _ => format!(
                "{happened}: one more kills this session. Check why it is still there instead of deleting again."
            ),
        };
        Finding::new(rule, decision, message)
            .with("tool", tool)
            .with("target", target.clone())
            .with("count", count)
            .with("max", max)
            .with("window_ms", self.limits.destructive.window.0)
            .with("elapsed_ms", elapsed.0)
    }
}

fn raise_hint(key: &str, call: &Call, value: u32) -> String {
    let scope = call
        .agent
        .as_ref()
        .map_or_else(String::new, |agent| format!(" --agent {agent}"));
    format!("sprag policy set {key} {}{scope}", value.min(4096))
}

/// Remembers a call that was let through.
pub(crate) fn count(
    destroys: &Destroys,
    cells: (&mut SessionCell, Option<&mut AgentCell>),
    now: Timestamp,
    limits: &Limits,
    widest: Widest,
) {
    let (span, keep) = (widest.destructive_window, widest.destructive_calls);
    memory(cells.0, cells.1, limits).push(&destroys.targets, now, span, keep);
}
