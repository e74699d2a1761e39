//! `destructive.volume` and `destructive.target`: deleting again and again.
//!
//! The costliest runaway is the one that cannot be taken back: a clean-up agent that deletes the same
//! thing again because the catalogue says "still exists". Destruction in quick succession kills the
//! session at once; a person looks before it goes on. A legitimate batch gets a higher
//! `max_calls` for its agent, and is then still watched per target. If a user takes part in the session and
//! each call is on something else, that person is asked instead, once: what is approved for the session lets
//! the tool go on with other things.
//!
//! Trips when: the Nth destructive call within the window; a target that was already in N.
//! Resets when: the window slides on, a user speaks, or an operator resets the session. What a person
//! declined is not forgotten for a user's word in the ten minutes after.
//! Bounded by: `max_calls` times; 16 targets for each of them, at most 4,096.
//! Odd cases: a call's target is the whole set of its target fields, so `schema` alone never ties two
//! tables together; an array is one target an element; a call without target fields counts for the volume only.

use super::text::{plain_name, shell_word};
use crate::cell::hash::{hash_bytes, mix};
use crate::cell::{AgentCell, Destructive, SessionCell};
use crate::destructive_name::is_destructive;
use crate::effect::Reach;
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::observation::{Approach, Call, Field};
use crate::policy::{DestructiveLimits, Limits, Mode, Scope};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

/// With a lower limit there is no room for a warning.
const WARNS_FROM: u32 = 3;
/// So many targets are named in a message.
const NAMED: usize = 5;
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
        let near = matches!(call.path_reach, Some(Reach::Scratch | Reach::Workspace));
        if near || !is_destructive(tool.as_str(), call.hints, limits) {
            return None;
        }
        Some(Self {
            targets: targets(&call.approach, limits),
            text: text(&call.approach, limits),
        })
    }
}

impl Destroys {
    /// What it destroys, as hashes.
    pub(crate) fn targets(&self) -> &[u64] {
        &self.targets
    }

    /// What it destroys, if that is known in clear.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// The targets of a destructive tool that works in the workspace, which is judged as commands are.
pub(crate) fn near_targets(call: &Call, limits: &DestructiveLimits) -> Vec<u64> {
    let destroys = |tool: &Id| is_destructive(tool.as_str(), call.hints, limits);
    let near = call.path_reach == Some(Reach::Workspace);
    if near && call.approach.tool.as_ref().is_some_and(destroys) {
        targets(&call.approach, limits)
    } else {
        Vec::new()
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

/// What destroys: tools by their name, and commands, have memories of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DestructionSource {
    Tools,
    Commands,
}

/// The memory that the policy's scope names.
pub(super) fn memory<'a>(
    source: DestructionSource,
    cells: (&'a mut SessionCell, Option<&'a mut AgentCell>),
    limits: &Limits,
) -> &'a mut Destructive {
    match (limits.destructive.scope, source, cells) {
        (Scope::Agent, DestructionSource::Tools, (_, Some(agent))) => &mut agent.destructive,
        (Scope::Agent, DestructionSource::Commands, (_, Some(agent))) => &mut agent.commands,
        (_, DestructionSource::Tools, (session, _)) => {
            session.held.destructive.get_or_insert_default()
        }
        (_, DestructionSource::Commands, (session, _)) => {
            session.held.commands.get_or_insert_default()
        }
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
    let own = limits.destructive.scope == Scope::Session;
    let session = &cells.0.held;
    let exact = call.approach.exact.prefix();
    let case = DestructiveCall {
        destroys,
        call,
        now,
        limits,
        attended: own && session.user_seen,
        again: session
            .calls
            .nth_latest(exact, 1, now, limits.destructive.window)
            .is_some(),
        granted: own && session.approvals.grants(series(call)),
    };
    let memory = memory(DestructionSource::Tools, cells, limits);
    let target_warns = case.target(memory, found);
    case.volume(memory, target_warns, found);
}

/// One destructive call with all that judges it.
struct DestructiveCall<'a> {
    destroys: &'a Destroys,
    call: &'a Call,
    now: Timestamp,
    limits: &'a Limits,
    /// A user takes part in the session.
    attended: bool,
    /// The very same call was made in the window.
    again: bool,
    /// A person let this tool go on with other things.
    granted: bool,
}

/// What an approval of a series covers: this tool, whatever it destroys next.
pub(crate) fn series(call: &Call) -> u64 {
    let name = |id: &Option<Id>| hash_bytes(id.as_ref().map_or("", Id::as_str).as_bytes());
    let tool = mix(name(&call.approach.server), name(&call.approach.tool));
    mix(tool, hash_bytes(b"series"))
}

impl DestructiveCall<'_> {
    /// Whether none of its targets was in another call of the window.
    fn is_on_others(&self, memory: &Destructive) -> bool {
        let span = self.limits.destructive.window;
        let was_on = |target: &u64| memory.count_target(*target, self.now, span) > 0;
        !self.again && !self.destroys.targets.iter().any(was_on)
    }

    /// Kills on the Nth call in the window, or asks, and warns on the one before it: first a word, then the
    /// end. Slow deletes that stay one below the limit are warned about once.
    fn volume(&self, memory: &Destructive, target_warns: bool, found: &mut Findings) {
        let (span, max) = (
            self.limits.destructive.window,
            self.limits.destructive.max_calls.get(),
        );
        let count = counted(memory, self.now, span).saturating_add(1);
        let near = max >= WARNS_FROM && count + 1 == max;
        let said = memory
            .window
            .latest()
            .is_some_and(|latest| counted(memory, latest, span) + 1 >= max);
        let decision = if self.granted {
            return;
        } else if count >= max && self.attended && self.is_on_others(memory) {
            Decision::Ask
        } else if count >= max {
            Decision::Kill
        } else if near && !said && !target_warns {
            Decision::Warn
        } else {
            return;
        };
        found.add(self.limits, RuleId::DestructiveVolume, || {
            let since = memory.window.oldest(self.now, span);
            let what = self.deleted(memory);
            self.finding(
                RuleId::DestructiveVolume,
                decision,
                (count, max),
                since,
                &what,
            )
            .with("targets", self.names(memory))
            .hint(raise_hint("destructive.max_calls", self.call, max * 10))
        });
    }

    /// Whether the target is near its limit, for the volume that need not warn too.
    fn target(&self, memory: &Destructive, found: &mut Findings) -> bool {
        let (span, max) = (
            self.limits.destructive.window,
            self.limits.destructive.max_same_target.get(),
        );
        let targets = self.destroys.targets.iter();
        let worst = targets
            .map(|target| (memory.count_target(*target, self.now, span), *target))
            .max();
        let Some((earlier, target)) = worst else {
            return false;
        };
        let decision = if earlier >= max {
            Decision::Kill
        } else if max >= 2 && earlier + 1 == max {
            Decision::Warn
        } else {
            return false;
        };
        found.add(self.limits, RuleId::DestructiveTarget, || {
            let since = memory.first_on(target, self.now, span);
            let what = (self.on(), String::new());
            let counts = (earlier + 1, max);
            self.finding(RuleId::DestructiveTarget, decision, counts, since, &what)
                .hint(raise_hint(
                    "destructive.max_same_target",
                    self.call,
                    max * 2,
                ))
        });
        speaks_for_volume(self.limits)
    }

    /// ` on asset_id=fact_sales`, or the tool if no target is known.
    fn on(&self) -> String {
        let tool = self.call.approach.tool.as_ref().map_or("", Id::as_str);
        let target = self.destroys.text.as_ref();
        target.map_or_else(
            || format!(" by {}", plain_name(tool)),
            |text| format!(" on {}", plain_name(text)),
        )
    }

    /// What the calls in the window were on: one target by name, or several in brackets.
    fn deleted(&self, memory: &Destructive) -> (String, String) {
        let span = self.limits.destructive.window;
        let one = match self.destroys.targets.as_slice() {
            [target] => memory.only_on(*target, self.now, span),
            targets => targets.is_empty(),
        };
        let names = self.names(memory);
        if one || names.is_empty() {
            return (self.on(), String::new());
        }
        let shown: Vec<String> = names
            .iter()
            .take(NAMED)
            .map(|name| plain_name(bare(name)))
            .collect();
        let more = if names.len() > NAMED { ", …" } else { "" };
        (String::new(), format!(" ({}{more})", shown.join(", ")))
    }

    fn names(&self, memory: &Destructive) -> Vec<String> {
        let earlier = memory.names(self.now, self.limits.destructive.window);
        let this = self.destroys.text.as_deref();
        earlier.chain(this).map(str::to_owned).collect()
    }

    fn finding(
        &self,
        rule: RuleId,
        decision: Decision,
        (count, max): (u32, u32),
        since: Option<Timestamp>,
        what: &(String, String),
    ) -> Finding {
        let elapsed = since.map_or(Millis(0), |since| self.now.since(since));
        let tool = self.call.approach.tool.as_ref().map_or("", Id::as_str);
        let (on, names) = what;
        let happened = format!("{count} deletes{on} in {}s{names}", elapsed.0 / 1000);
        let message = match (decision, rule) {
            (Decision::Kill, _) => format!("session_killed: loop_detected, {happened}"),
            (Decision::Ask, _) => format!(
                "{happened}; approved for the session, {} may go on with other things",
                plain_name(tool)
            ),
            (_, RuleId::DestructiveVolume) if self.attended => format!(
                "{happened}: one more within {}s is refused until a person has looked. If these deletes are meant, tell the user what you are about to delete and ask.",
                self.limits.destructive.window.0 / 1000
            ),
            (_, RuleId::DestructiveVolume) => format!(
                "{happened}: one more within {}s kills this session. If these deletes are meant, stop and ask for the limit to be raised.",
                self.limits.destructive.window.0 / 1000
            ),
            _ => format!(
                "{happened}: one more kills this session. Check why it is still there instead of deleting again."
            ),
        };
        Finding::new(rule, decision, message)
            .with("tool", tool)
            .with("target", self.destroys.text.clone())
            .with("count", count)
            .with("max", max)
            .with("window_ms", self.limits.destructive.window.0)
            .with("elapsed_ms", elapsed.0)
    }
}

/// Whether a warning of the target takes the place of one of the volume: if it is told at least as loudly.
pub(super) fn speaks_for_volume(limits: &Limits) -> bool {
    let mode = |rule| limits.modes.get(rule).min(Mode::Ask);
    let target = mode(RuleId::DestructiveTarget);
    target != Mode::Off && target >= mode(RuleId::DestructiveVolume)
}

pub(super) fn counted(memory: &Destructive, now: Timestamp, span: Millis) -> u32 {
    u32::try_from(memory.window.count(now, span)).unwrap_or(u32::MAX)
}

/// `fact_sales` of `asset_id=fact_sales`.
fn bare(text: &str) -> &str {
    match text.split_once('=') {
        Some((_, value)) if !value.contains(' ') => value,
        _ => text,
    }
}

pub(super) fn raise_hint(key: &str, call: &Call, value: u32) -> String {
    let scope = call.agent.as_ref().map_or_else(String::new, |agent| {
        format!(" --agent {}", shell_word(agent.as_str()))
    });
    format!("sprag policy set {key} {}{scope}", value.min(4096))
}
