//! Calls that destroy: how many in the window, and how many on one target.

use sprag_core::{Call, Decision, Field, Limits, Mode, Observed, Reach, RuleId, Scope, Timestamp};

use super::findings::Findings;
use super::judge::Action;
use super::record::{Scoped, Target};

impl<'a> Action<'_, 'a> {
    pub(crate) fn destructive(&self, call: &'a Call, limits: &Limits, findings: &mut Findings) {
        let Some((scope, targets)) = self.destroys(call, limits) else {
            return;
        };
        let earlier = self.earlier_targets(scope, self.now, limits);
        let max = limits.destructive.max_same_target.get() as usize;
        let most = targets
            .iter()
            .map(|target| earlier.iter().filter(|on| on.contains(target)).count())
            .max();
        match most {
            Some(most) if most >= max => {
                findings.add(limits, RuleId::DestructiveTarget, Decision::Kill);
            }
            Some(most) if most + 1 == max && max >= 2 => {
                findings.add(limits, RuleId::DestructiveTarget, Decision::Warn);
            }
            _ => {}
        }
        let target_speaks = most.is_some_and(|most| most >= max || most + 1 == max && max >= 2)
            && speaks_for_volume(limits);
        let again = most.is_some_and(|most| most > 0) || self.was_called(call, limits);
        let by_user = self.actor.is_attended() && limits.destructive.scope == Scope::Session;
        if by_user && self.goes_on(call) {
            return;
        }
        let stop = match by_user && !again {
            true => Decision::Ask,
            false => Decision::Kill,
        };
        self.volume((scope, stop), target_speaks, limits, findings);
    }

    /// A kill on the Nth call, and a word on the one before, unless the call before it had one.
    fn volume(
        &self,
        (scope, stop): (Scoped<'a>, Decision),
        target_speaks: bool,
        limits: &Limits,
        findings: &mut Findings,
    ) {
        let max = limits.destructive.max_calls.get() as usize;
        let count_at = |now| self.earlier_targets(scope, now, limits).len();
        let count = count_at(self.now) + 1;
        let before = self
            .destroyed(scope)
            .last()
            .map_or(0, |(latest, _)| count_at(latest));
        if count >= max {
            findings.add(limits, RuleId::DestructiveVolume, stop);
        } else if max >= 3 && count + 1 == max && before + 1 < max && !target_speaks {
            findings.add(limits, RuleId::DestructiveVolume, Decision::Warn);
        }
    }

    /// Whether the very same call was let through in the window.
    fn was_called(&self, call: &Call, limits: &Limits) -> bool {
        self.actor.life.iter().any(|record| {
            let own = record.cells.session == Some(self.actor.id);
            let ran = record.facts.ran.map(|approach| approach.exact);
            let made = match record.what {
                Observed::Call(call) if record.facts.accepted => Some(call.approach.exact),
                _ => None,
            };
            let is_same = [ran, made].contains(&Some(call.approach.exact));
            own && is_same && self.now.since(record.now) < limits.destructive.window
        })
    }

    /// Where a destructive call counts and what it is on.
    pub(crate) fn destroys(
        &self,
        call: &'a Call,
        limits: &Limits,
    ) -> Option<(Scoped<'a>, Vec<Target<'a>>)> {
        let near = matches!(call.path_reach, Some(Reach::Scratch | Reach::Workspace));
        if near || !is_destructive(call, limits) {
            return None;
        }
        Some((self.scope(), targets(&call.approach.fields, limits)))
    }

    /// Where what is destroyed counts.
    pub(crate) fn scope(&self) -> Scoped<'a> {
        match (self.actor.limits.destructive.scope, self.actor.agent) {
            (Scope::Agent, Some(agent)) => Scoped::Agent(agent),
            _ => Scoped::Session(self.actor.id),
        }
    }

    /// The targets of each earlier destructive call in the window that ends at `now`.
    fn earlier_targets(
        &self,
        scope: Scoped<'a>,
        now: Timestamp,
        limits: &Limits,
    ) -> Vec<&[Target<'a>]> {
        self.destroyed(scope)
            .filter(|(at, _)| *at <= now && now.since(*at) < limits.destructive.window)
            .map(|(_, targets)| targets)
            .collect()
    }

    /// Every earlier destructive call with its targets.
    fn destroyed(&self, scope: Scoped<'a>) -> impl Iterator<Item = (Timestamp, &[Target<'a>])> {
        // What an agent did outlives the sessions that did it.
        let records = match scope {
            Scoped::Session(_) => &self.actor.life[self.actor.seen_by_user()..],
            Scoped::Agent(_) => &self.history.records,
        };
        records.iter().filter_map(move |record| {
            let (counted, targets) = record.facts.destroys.as_ref()?;
            (*counted == scope).then_some((record.now, &targets[..]))
        })
    }
}

/// Told is told: enforced or asked alike, in shadow only beside a volume that is in shadow too.
pub(crate) fn speaks_for_volume(limits: &Limits) -> bool {
    let target = limits.modes.get(RuleId::DestructiveTarget);
    let volume = limits.modes.get(RuleId::DestructiveVolume);
    match target {
        Mode::Off => false,
        Mode::Shadow => matches!(volume, Mode::Shadow | Mode::Off),
        Mode::Ask | Mode::Enforce => true,
    }
}

pub(crate) fn is_destructive(call: &Call, limits: &Limits) -> bool {
    let hinted = limits.destructive.trust_hints && call.hints.destructive == Some(true);
    let named = call.approach.tool.as_ref().is_some_and(|tool| {
        let name = snake_case(tool.as_str());
        limits
            .destructive
            .tools
            .iter()
            .any(|glob| match glob.as_str() {
                word if word.chars().all(char::is_alphanumeric) => has_word(&name, word),
                _ => glob.matches(&name),
            })
    });
    hinted || named
}

/// A word destroys as the first, second or last of a name, unless the first one is harmless or it is a gesture.
fn has_word(name: &str, word: &str) -> bool {
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let harmless = "get list search read find restore undo is can undelete";
    let first = words.first().copied().unwrap_or_default();
    let places = [words.first(), words.get(1), words.last()];
    places.contains(&Some(&word))
        && !harmless.split(' ').any(|other| other == first)
        && !words.contains(&"drag")
}

/// `deleteAsset`, `Delete-Asset` and `DELETE.asset` are `delete_asset`.
fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let starts_word = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        let ends_acronym = before.is_some_and(char::is_uppercase)
            && chars.get(at + 1).is_some_and(|after| after.is_lowercase());
        if c.is_uppercase() && (starts_word || ends_acronym) {
            snake.push('_');
        }
        match c {
            '-' | '.' => snake.push('_'),
            _ => snake.extend(c.to_lowercase()),
        }
    }
    snake
}

/// Every way to take one value for each target field. No target field, no target.
pub(crate) fn targets<'a>(fields: &'a [Field], limits: &Limits) -> Vec<Target<'a>> {
    let mut named: Vec<&'a Field> = fields
        .iter()
        .filter(|field| limits.destructive.targets.contains(&field.name))
        .collect();
    named.sort_by_key(|field| &field.name);
    let mut targets: Vec<Target<'a>> = Vec::new();
    for values in named.chunk_by(|one, other| one.name == other.name) {
        let started = if targets.is_empty() {
            vec![Vec::new()]
        } else {
            targets
        };
        targets = started
            .iter()
            .flat_map(|target| {
                values.iter().map(move |value| {
                    let mut target = target.clone();
                    target.push((&*value.name, value.digest));
                    target
                })
            })
            .collect();
    }
    targets
}
