//! Other limits for some agents and sessions.
//!
//! The limits of a session are asked for on every event, and most sessions match no override: they
//! get the base by reference. For the others the merge is done once for each set of overrides that
//! matches together and kept; sessions come and go, but the sets they fall into are few.
//!
//! Bounded by [`MAX_OVERRIDES`] and, for what is kept, [`MAX_KEPT`]: names that agents choose
//! can't make it grow.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use super::key::KEYS;
use super::limits::Limits;
use super::mode::Mode;
use super::setting::Setting;
use crate::glob::Glob;
use crate::rule::RuleId;

/// The most overrides in one policy.
pub(super) const MAX_OVERRIDES: usize = 1_000;

/// The most merged limits that are kept.
const MAX_KEPT: usize = 256;

const WORDS: usize = MAX_OVERRIDES.div_ceil(64);

/// What a policy sets for the sessions that match.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Override {
    /// The agents it is for. A session whose agent is unknown matches none.
    pub(super) agent: Option<Glob>,
    /// The sessions it is for.
    pub(super) session: Option<Glob>,
    /// By position in [`KEYS`].
    pub(super) settings: BTreeMap<usize, Setting>,
    /// The modes it sets.
    pub(super) modes: BTreeMap<RuleId, Mode>,
}

impl Override {
    /// What comes later in this order wins: agents' before sessions', the more literal last.
    pub(super) fn rank(&self) -> (bool, usize) {
        let glob = self.session.as_ref().or(self.agent.as_ref());
        (self.session.is_some(), glob.map_or(0, Glob::literal_chars))
    }

    fn matches(&self, agent: Option<&str>, session: &str) -> bool {
        let agents = self
            .agent
            .as_ref()
            .is_none_or(|glob| agent.is_some_and(|agent| glob.matches(agent)));
        agents
            && self
                .session
                .as_ref()
                .is_none_or(|glob| glob.matches(session))
    }

    pub(super) fn apply(&self, limits: &mut Limits) {
        for (index, setting) in &self.settings {
            if let Some(key) = KEYS.get(*index) {
                (key.store)(limits, setting);
            }
        }
        for (rule, mode) in &self.modes {
            limits.modes.set(*rule, *mode);
        }
    }
}

/// Which overrides match, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Matching([u64; WORDS]);

impl Matching {
    /// None if no override matches.
    pub(super) fn of(overrides: &[Override], agent: Option<&str>, session: &str) -> Option<Self> {
        let mut bits = [0; WORDS];
        let mut any = false;
        for (index, candidate) in overrides.iter().enumerate() {
            if candidate.matches(agent, session)
                && let Some(word) = bits.get_mut(index / 64)
            {
                *word |= 1 << (index % 64);
                any = true;
            }
        }
        any.then_some(Self(bits))
    }

    fn holds(&self, index: usize) -> bool {
        let word = self.0.get(index / 64).copied().unwrap_or(0);
        word & (1 << (index % 64)) != 0
    }

    /// The base with the matching overrides over it, in their order.
    pub(super) fn merge(&self, base: &Limits, overrides: &[Override]) -> Limits {
        let mut limits = base.clone();
        for (index, matching) in overrides.iter().enumerate() {
            if self.holds(index) {
                matching.apply(&mut limits);
            }
        }
        bring_warnings_forward(&mut limits);
        limits
    }
}

/// Each override is sound over the base, but one may lower what another one's warning comes
/// before. The warning then comes together with it.
pub(super) fn bring_warnings_forward(limits: &mut Limits) {
    for key in KEYS {
        let Some(next) = key.warns_before() else {
            continue;
        };
        let bound = (next.load)(limits);
        if let (Setting::Count(warn), Setting::Count(count)) = ((key.load)(limits), &bound)
            && warn > *count
        {
            (key.store)(limits, &bound);
        }
    }
}

/// The limits for one session: the base itself, or shared merged ones.
#[derive(Debug, Clone)]
pub struct LimitsRef<'p>(LimitsSource<'p>);

#[derive(Debug, Clone)]
enum LimitsSource<'p> {
    Base(&'p Limits),
    Merged(Arc<Limits>),
}

impl<'p> LimitsRef<'p> {
    pub(super) fn base(limits: &'p Limits) -> Self {
        Self(LimitsSource::Base(limits))
    }
}

impl Deref for LimitsRef<'_> {
    type Target = Limits;

    fn deref(&self) -> &Limits {
        match &self.0 {
            LimitsSource::Base(limits) => limits,
            LimitsSource::Merged(limits) => limits,
        }
    }
}

/// What was merged before. It is not part of the policy: a clone starts without it, and
/// two policies are the same whatever they hold here.
#[derive(Debug, Default)]
pub(super) struct Merged(RwLock<HashMap<Matching, Arc<Limits>>>);

impl Merged {
    pub(super) fn get_or(
        &self,
        matching: Matching,
        merge: impl FnOnce() -> Limits,
    ) -> LimitsRef<'static> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = kept.get(&matching).cloned();
        drop(kept);
        let limits = found.unwrap_or_else(|| {
            let limits = Arc::new(merge());
            let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
            kept.insert(matching, Arc::clone(&limits));
            limits
        });
        LimitsRef(LimitsSource::Merged(limits))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.read().unwrap().len()
    }
}

impl Clone for Merged {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Merged {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
