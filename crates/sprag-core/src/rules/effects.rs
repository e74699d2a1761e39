//! `destructive.sweeping`, and `destructive.volume` and `.target` over what commands destroy.
//!
//! What people lost to agents was lost through commands, not through tools called `delete`. A command
//! is judged by how far its effects reach. If a whole place where data lives goes at once, a person is
//! asked before the first time; for `/`, a home, a system directory or a device nobody is asked. What
//! others use may be destroyed twice in a row before a person is asked. What lies in the workspace is the
//! agent's own business, as long as something new comes of it.
//!
//! Trips when: a sweeping effect; the Nth call in the window that destroys something outside or shared; a
//! target that was already in N of them; the third, and the fifth, removal of one thing in the workspace with
//! no news in between.
//! Resets when: the window slides on; for the workspace with every news. A reset clears all of it.
//! Bounded by: as for tools; 64 things in the workspace.
//! Odd cases: a call that was refused or approved is not counted; replaceable things count for their target
//! only; a policy's `allow` and `scratch` lift no vital effect.

use crate::cell::hash::hash_bytes;
use crate::cell::{AgentCell, CallLosses, Destructive, SessionCell};
use crate::effect::{ObservedEffect, Reach};
use crate::finding::{Finding, Findings};
use crate::id::Id;
use crate::observation::Call;
use crate::policy::{DestructiveLimits, Limits};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};
use crate::verdict::Decision;

use super::destructive::{DestructionSource, counted, memory, raise_hint, speaks_for_volume};

/// With a lower limit there is no room for a warning.
const WARNS_FROM: u32 = 3;
/// On which removal of one thing in the workspace, with no news in between, a warning comes.
const NEAR_WARN: u32 = 3;
/// On which it is refused.
const NEAR_DENY: u32 = 5;
/// So many targets are named in a message.
const NAMED: usize = 5;

/// What a call destroys, by how it is judged.
#[derive(Debug, Default)]
pub(crate) struct Losses<'c> {
    sweeping: Vec<&'c ObservedEffect>,
    /// Outside and shared.
    far: Vec<&'c ObservedEffect>,
    /// In the workspace: targets, and the first of them in clear.
    near: Vec<u64>,
    near_text: Option<&'c str>,
}

impl<'c> Losses<'c> {
    /// What `call` destroys under `limits`; `tool` are the targets of a destructive tool in the workspace.
    pub(crate) fn of(call: &'c Call, limits: &DestructiveLimits, tool: &[u64]) -> Self {
        let mut losses = Self::default();
        for effect in &call.effects {
            match effect.reach_under(limits, call.root.as_deref()) {
                Reach::Scratch => {}
                Reach::Workspace => {
                    losses.near.push(target(effect));
                    losses.near_text = losses.near_text.or(effect.text.as_deref());
                }
                Reach::Outside | Reach::Shared => losses.far.push(effect),
                Reach::Sweeping => losses.sweeping.push(effect),
            }
        }
        losses.near.extend(tool);
        losses.near.sort_unstable();
        losses.near.dedup();
        losses
    }

    /// Whether the call counts for the volume.
    fn counts(&self) -> bool {
        self.far.iter().any(|effect| !effect.replaceable)
    }

    fn far_targets(&self) -> Vec<u64> {
        let mut targets: Vec<u64> = self.far.iter().map(|effect| target(effect)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweeping.is_empty() && self.far.is_empty() && self.near.is_empty()
    }

    /// What is judged of the effects, the whole places first.
    pub(crate) fn judged(&self) -> impl Iterator<Item = &'c ObservedEffect> {
        self.sweeping.iter().chain(&self.far).copied()
    }

    /// What the memories of destructive calls keep of it.
    pub(crate) fn counted(&self, losses: &mut CallLosses) {
        losses.near.clone_from(&self.near);
        losses.far = self.far_targets();
        losses.counts = self.counts();
        if losses.counts {
            let names = self.far.iter().filter_map(|effect| effect.text.clone());
            losses.far_names = names.take(NAMED).collect();
        }
    }
}

fn target(effect: &ObservedEffect) -> u64 {
    effect.target.prefix() ^ hash_bytes(b"effect")
}

/// Judges what a call destroys before it is let through.
pub(crate) fn judge(
    losses: &Losses<'_>,
    call: &Call,
    cells: (&mut SessionCell, Option<&mut AgentCell>),
    now: Timestamp,
    limits: &Limits,
    found: &mut Findings,
) {
    let case = EffectCase {
        losses,
        call,
        now,
        limits,
    };
    case.sweeping(found);
    case.near(cells.0, found);
    if !losses.far.is_empty() {
        let memory = memory(DestructionSource::Commands, cells, limits);
        let target_warns = case.target(memory, found);
        case.volume(memory, target_warns, found);
    }
}

struct EffectCase<'a> {
    losses: &'a Losses<'a>,
    call: &'a Call,
    now: Timestamp,
    limits: &'a Limits,
}

impl EffectCase<'_> {
    fn sweeping(&self, found: &mut Findings) {
        let vital = self.losses.sweeping.iter().find(|effect| effect.vital);
        let Some(effect) = vital.or(self.losses.sweeping.first()) else {
            return;
        };
        let decision = if effect.vital {
            Decision::Deny
        } else {
            Decision::Ask
        };
        found.add(self.limits, RuleId::DestructiveSweeping, || {
            let what = effect.in_words();
            let by = &effect.by;
            let message = if effect.vital {
                let empty = if effect.text.as_deref().is_some_and(|text| text.contains('$')) {
                    " A variable in it may be empty: write `${NAME:?}`."
                } else {
                    ""
                };
                format!("`{by}` {what}: that is never run for an agent.{empty} Name the one thing that has to go.")
            } else if effect.reach == Reach::Sweeping {
                format!("`{by}` {what}: a whole place where data lives would go at once. A person has to approve it.")
            } else {
                format!("`{by}` {what}, which the policy protects. A person has to approve it.")
            };
            let finding = self.finding(RuleId::DestructiveSweeping, decision, message);
            let finding = finding.with("by", &**by).with("effects", self.words());
            // Nothing but the policy's own line lifts what it protects.
            if effect.vital || effect.reach != Reach::Sweeping {
                finding
            } else {
                finding.hint(format!("sprag policy set destructive.allow '[\"{by}\"]'"))
            }
        });
    }

    /// The workspace: by target alone, and only while nothing new comes of it.
    fn near(&self, session: &SessionCell, found: &mut Findings) {
        let memory = session.held.near.as_deref();
        let earlier = self
            .losses
            .near
            .iter()
            .map(|target| memory.map_or(0, |memory| memory.count(*target, self.now)));
        let count = earlier.max().map_or(0, |earlier| earlier.saturating_add(1));
        let decision = match count {
            NEAR_DENY.. => Decision::Deny,
            NEAR_WARN.. => Decision::Warn,
            _ => return,
        };
        found.add(self.limits, RuleId::DestructiveTarget, || {
            let on = self.losses.near_text.map_or_else(String::new, |text| format!(" of `{text}`"));
            let then = if decision == Decision::Warn {
                format!("({count}/{NEAR_DENY} before it is refused) Look at what the last one changed before you repeat it.")
            } else {
                "Stop, and say what keeps coming back.".to_owned()
            };
            let message = format!("{count} removals{on} with nothing new in between. {then}");
            self.finding(RuleId::DestructiveTarget, decision, message)
                .with("target", self.losses.near_text)
                .with("count", count)
                .with("max", NEAR_DENY)
        });
    }

    /// Whether the target is near its limit, for the volume that need not warn too.
    fn target(&self, memory: &Destructive, found: &mut Findings) -> bool {
        let (span, max) = (
            self.limits.destructive.window,
            self.limits.destructive.max_same_target.get(),
        );
        let worst = self
            .losses
            .far
            .iter()
            .map(|effect| (memory.count_target(target(effect), self.now, span), *effect))
            .max_by_key(|(count, _)| *count);
        let Some((earlier, effect)) = worst else {
            return false;
        };
        let decision = if earlier >= max {
            Decision::Deny
        } else if max >= 2 && earlier + 1 == max {
            Decision::Warn
        } else {
            return false;
        };
        found.add(self.limits, RuleId::DestructiveTarget, || {
            let count = earlier + 1;
            let elapsed = memory
                .first_on(target(effect), self.now, span)
                .map_or(Millis(0), |since| self.now.since(since));
            let what = effect.in_words();
            let then = if decision == Decision::Warn {
                "one more is refused. Check why it is still there instead of destroying it again."
            } else {
                "refused. Check why it is still there, and report it."
            };
            let message = format!(
                "`{}` {what} for the {count}. time in {}s: {then}",
                effect.by,
                elapsed.0 / 1000
            );
            self.finding(RuleId::DestructiveTarget, decision, message)
                .with("target", effect.text.as_deref())
                .with("count", count)
                .with("max", max)
                .with("window_ms", span.0)
                .hint(raise_hint(
                    "destructive.max_same_target",
                    self.call,
                    max * 2,
                ))
        });
        speaks_for_volume(self.limits)
    }

    /// Asks on the Nth call in the window, and warns on the one before it.
    fn volume(&self, memory: &Destructive, target_warns: bool, found: &mut Findings) {
        if !self.losses.counts() {
            return;
        }
        let (span, max) = (
            self.limits.destructive.window,
            self.limits.destructive.max_calls.get(),
        );
        let count = counted(memory, self.now, span).saturating_add(1);
        let latest = memory.window.latest();
        let said = latest.is_some_and(|latest| counted(memory, latest, span) + 1 >= max);
        let near = max >= WARNS_FROM && count + 1 == max && !said && !target_warns;
        let decision = if count >= max {
            Decision::Ask
        } else if near {
            Decision::Warn
        } else {
            return;
        };
        found.add(self.limits, RuleId::DestructiveVolume, || {
            let since = memory.window.oldest(self.now, span);
            let elapsed = since.map_or(Millis(0), |since| self.now.since(since));
            let names = self.names(memory);
            let shown: Vec<&str> = names.iter().map(String::as_str).take(NAMED).collect();
            let happened = format!(
                "{count} destructive commands in {}s ({})",
                elapsed.0 / 1000,
                shown.join(", ")
            );
            let message = if decision == Decision::Ask {
                format!("{happened}: a person has to approve the next one.")
            } else {
                format!(
                    "{happened}: one more within {}s needs a person's approval.",
                    span.0 / 1000
                )
            };
            self.finding(RuleId::DestructiveVolume, decision, message)
                .with("targets", names)
                .with("count", count)
                .with("max", max)
                .with("window_ms", span.0)
                .hint(raise_hint("destructive.max_calls", self.call, max * 10))
        });
    }

    fn names(&self, memory: &Destructive) -> Vec<String> {
        let earlier = memory.names(self.now, self.limits.destructive.window);
        let this = self
            .losses
            .far
            .iter()
            .filter_map(|effect| effect.text.as_deref());
        earlier.chain(this.take(NAMED)).map(str::to_owned).collect()
    }

    fn words(&self) -> Vec<String> {
        self.call
            .effects
            .iter()
            .map(ObservedEffect::in_words)
            .collect()
    }

    fn finding(&self, rule: RuleId, decision: Decision, message: String) -> Finding {
        let tool = self.call.approach.tool.as_ref().map_or("", Id::as_str);
        Finding::new(rule, decision, message).with("tool", tool)
    }
}
