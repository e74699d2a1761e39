//! What commands destroy: sweeping effects, what lies outside or is shared, and the workspace.

use sprag_core::{
    Call, Decision, Digest, Glob, Limits, Millis, Observed, ObservedEffect, Reach, RuleId,
};

use super::destructive::{is_destructive, speaks_for_volume, targets};
use super::findings::Findings;
use super::judge::Action;
use super::record::{FarLosses, NearTarget, Scoped};

/// After this a removal in the workspace is forgotten.
const NEAR_SPAN: Millis = Millis(10 * 60 * 1000);
/// So many outcomes are remembered to tell what is new.
const OUTCOMES: usize = 32;
/// So many removals in the workspace are remembered.
const REMOVALS: usize = 64;

/// How far an effect reaches once the policy had its say.
pub(crate) fn reach(effect: &ObservedEffect, limits: &Limits) -> Reach {
    let limits = &limits.destructive;
    let text = effect.text.as_deref().unwrap_or_default();
    // The thing itself, and every folder above it.
    let mut above: Vec<String> = vec![text.to_owned()];
    let mut parts: Vec<&str> = text.split('/').collect();
    while parts.len() > 1 {
        parts.pop();
        above.push(parts.join("/"));
    }
    let by: Vec<&str> = effect.by.split(' ').collect();
    let allows = |entry: &str| by.starts_with(&entry.split(' ').collect::<Vec<_>>());
    let named = |globs: &[Glob]| {
        globs
            .iter()
            .any(|glob| above.iter().any(|path| glob.matches(path)))
    };
    let protects = effect.reach != Reach::Scratch && named(&limits.protected);
    if effect.vital || protects {
        Reach::Sweeping
    } else if limits.allow.iter().any(|entry| allows(entry)) || named(&limits.scratch) {
        Reach::Scratch
    } else {
        effect.reach
    }
}

impl<'a> Action<'_, 'a> {
    pub(crate) fn effects(&self, call: &'a Call, limits: &Limits, findings: &mut Findings) {
        let sweeping = |effect: &&ObservedEffect| reach(effect, limits) == Reach::Sweeping;
        let mut all = call.effects.iter().filter(sweeping);
        if all.clone().any(|effect| effect.vital) {
            findings.add(limits, RuleId::DestructiveSweeping, Decision::Deny);
        } else if all.next().is_some() {
            findings.add(limits, RuleId::DestructiveSweeping, Decision::Ask);
        }
        let again = self
            .near(call, limits)
            .iter()
            .map(|target| self.removed(target))
            .max();
        match again {
            Some(4..) => findings.add(limits, RuleId::DestructiveTarget, Decision::Deny),
            Some(2..) => findings.add(limits, RuleId::DestructiveTarget, Decision::Warn),
            _ => {}
        }
        if let Some(far) = self.far(call, limits) {
            self.far_rules(&far, limits, findings);
        }
    }

    fn far_rules(&self, far: &FarLosses<'a>, limits: &Limits, findings: &mut Findings) {
        let destructive = &limits.destructive;
        let earlier: Vec<&FarLosses<'a>> = self
            .all_far(far.scope)
            .filter(|(at, _)| *at <= self.now && self.now.since(*at) < destructive.window)
            .map(|(_, losses)| losses)
            .collect();
        let max = destructive.max_same_target.get() as usize;
        let on = |target: &Digest| {
            earlier
                .iter()
                .filter(|losses| losses.targets.contains(target))
                .count()
        };
        let most = far.targets.iter().map(on).max().unwrap_or(0);
        let warns = max >= 2 && most + 1 == max;
        if most >= max {
            findings.add(limits, RuleId::DestructiveTarget, Decision::Deny);
        } else if warns {
            findings.add(limits, RuleId::DestructiveTarget, Decision::Warn);
        }
        let target_speaks = (most >= max || warns) && speaks_for_volume(limits);
        if !far.counts {
            return;
        }
        let max = destructive.max_calls.get() as usize;
        let counted = |now| {
            let all = self.all_far(far.scope).filter(|(_, losses)| losses.counts);
            all.filter(|(at, _)| *at <= now && now.since(*at) < destructive.window)
                .count()
        };
        let count = counted(self.now) + 1;
        let latest = self
            .all_far(far.scope)
            .filter(|(_, losses)| losses.counts)
            .last();
        let before = latest.map_or(0, |(latest, _)| counted(latest));
        if count >= max {
            findings.add(limits, RuleId::DestructiveVolume, Decision::Ask);
        } else if max >= 3 && count + 1 == max && before + 1 < max && !target_speaks {
            findings.add(limits, RuleId::DestructiveVolume, Decision::Warn);
        }
    }

    /// Every earlier call that destroyed something outside of the workspace.
    fn all_far(
        &self,
        scope: Scoped<'a>,
    ) -> impl Iterator<Item = (sprag_core::Timestamp, &FarLosses<'a>)> {
        let records = match scope {
            Scoped::Session(_) => self.actor.life,
            Scoped::Agent(_) => &self.history.records,
        };
        records.iter().filter_map(move |record| {
            let far = record.facts.far.as_ref()?;
            (far.scope == scope).then_some((record.now, far))
        })
    }

    /// What `call` destroys outside of the workspace, and where it counts.
    pub(crate) fn far(&self, call: &'a Call, limits: &Limits) -> Option<FarLosses<'a>> {
        let far = |effect: &&ObservedEffect| {
            matches!(reach(effect, limits), Reach::Outside | Reach::Shared)
        };
        let losses: Vec<&ObservedEffect> = call.effects.iter().filter(far).collect();
        (!losses.is_empty()).then(|| FarLosses {
            scope: self.scope(),
            targets: losses.iter().map(|effect| effect.target).collect(),
            counts: losses.iter().any(|effect| !effect.replaceable),
        })
    }

    /// What `call` removes in the workspace.
    pub(crate) fn near(&self, call: &'a Call, limits: &Limits) -> Vec<NearTarget<'a>> {
        let effects = call
            .effects
            .iter()
            .filter(|effect| reach(effect, limits) == Reach::Workspace);
        let mut near: Vec<NearTarget<'a>> = effects
            .map(|effect| NearTarget::Effect(effect.target))
            .collect();
        if call.path_reach == Some(Reach::Workspace) && is_destructive(call, limits) {
            near.extend(
                targets(&call.approach.fields, limits)
                    .into_iter()
                    .map(NearTarget::Tool),
            );
        }
        near.dedup();
        near
    }

    /// How often the target was removed since the session's last news.
    fn removed(&self, target: &NearTarget<'a>) -> usize {
        let mut removals: Vec<(&NearTarget<'a>, sprag_core::Timestamp)> = Vec::new();
        let mut outcomes: Vec<Digest> = Vec::new();
        let mut ever = false;
        for record in self.actor.life {
            if record.cells.session != Some(self.actor.id) {
                continue;
            }
            for near in &record.facts.near {
                ever = true;
                removals.push((near, record.now));
            }
            let excess = removals.len().saturating_sub(REMOVALS);
            removals.drain(..excess);
            let Observed::Step(step) = record.what else {
                continue;
            };
            if !ever || record.facts.judged.is_none() || outcomes.contains(&step.outcome.normal) {
                continue;
            }
            if !outcomes.is_empty() {
                removals.clear();
            }
            if outcomes.len() >= OUTCOMES {
                outcomes.remove(0);
            }
            outcomes.push(step.outcome.normal);
        }
        let recent = |at: sprag_core::Timestamp| at <= self.now && self.now.since(at) < NEAR_SPAN;
        removals
            .iter()
            .filter(|(held, at)| *held == target && recent(*at))
            .count()
    }
}
