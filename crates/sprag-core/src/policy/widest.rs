//! What holds for all sessions of a policy together, whatever overrides they are under.
//!
//! A flow, a pair, an inbox or an agent is touched by sessions under different overrides. A window
//! keeps no more times than a limit needs, so it has to keep what the *highest* limit of the
//! policy needs, or a session with that limit would see too low a count.
//!
//! An event is digested before anybody looks up whose limits it is under, so the digester asks for
//! what *any* limits of the policy call destructive.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use super::limits::{DestructiveLimits, Limits, Scope};
use super::overrides::Override;
use crate::time::Millis;

/// The highest of each limit that a shared window is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Widest {
    pub(crate) calls_per_minute: u32,
    pub(crate) messages_per_minute: u32,
    pub(crate) chatter: u32,
    pub(crate) spawns_per_minute: u32,
    pub(crate) destructive_calls: u32,
    pub(crate) destructive_window: Millis,
    /// Whether anything is counted over all sessions of an agent.
    pub(crate) counts_agents: bool,
}

impl Default for Widest {
    fn default() -> Self {
        Self::of_one(&Limits::default())
    }
}

impl Widest {
    pub(super) fn of(base: &Limits, overrides: &[Override]) -> Self {
        overridden(base, overrides).fold(Self::of_one(base), |widest, limits| {
            widest.with(Self::of_one(&limits))
        })
    }

    fn of_one(limits: &Limits) -> Self {
        Self {
            calls_per_minute: limits.flow.max_calls_per_minute.get(),
            messages_per_minute: limits.inbox.max_messages_per_minute.get(),
            chatter: limits.flow.chatter.get(),
            spawns_per_minute: limits.flow.spawns.per_minute.get(),
            destructive_calls: limits.destructive.max_calls.get(),
            destructive_window: limits.destructive.window,
            counts_agents: limits.destructive.scope == Scope::Agent
                || limits.budget.has_agent_day(),
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            calls_per_minute: self.calls_per_minute.max(other.calls_per_minute),
            messages_per_minute: self.messages_per_minute.max(other.messages_per_minute),
            chatter: self.chatter.max(other.chatter),
            spawns_per_minute: self.spawns_per_minute.max(other.spawns_per_minute),
            destructive_calls: self.destructive_calls.max(other.destructive_calls),
            destructive_window: self.destructive_window.max(other.destructive_window),
            counts_agents: self.counts_agents || other.counts_agents,
        }
    }
}

/// The base with each override over it, one at a time. If several match one session, each of its
/// limits still has its value from one of these.
fn overridden(base: &Limits, overrides: &[Override]) -> impl Iterator<Item = Limits> {
    overrides.iter().map(|one| {
        let mut limits = base.clone();
        one.apply(&mut limits);
        limits
    })
}

/// The base's limits, with every tool and every target of the overrides added: a call is
/// destructive under these if it is so for any session.
pub(super) fn any_destructive(base: &Limits, overrides: &[Override]) -> DestructiveLimits {
    let mut any = base.destructive.clone();
    for Limits { destructive, .. } in overridden(base, overrides) {
        any.tools = union(&any.tools, &destructive.tools);
        any.targets = union(&any.targets, &destructive.targets);
        any.trust_hints |= destructive.trust_hints;
    }
    any
}

fn union<T: Clone + Eq + Hash>(all: &Arc<[T]>, more: &Arc<[T]>) -> Arc<[T]> {
    let known: HashSet<&T> = all.iter().collect();
    let new: Vec<&T> = more.iter().filter(|item| !known.contains(item)).collect();
    if new.is_empty() {
        return Arc::clone(all);
    }
    all.iter().chain(new).cloned().collect()
}
