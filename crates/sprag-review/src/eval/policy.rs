//! The policy that a run is judged under: the one that is asked about, less what the run can't tell.

use serde_json::{Map, Value, json};
use sprag_core::{Policy, RuleId};

use super::error::EvalError;
use super::label::TimeSource;

/// The rules that are left out where times are made up: each of them only compares times.
pub const NEED_TIME: [RuleId; 5] = [
    RuleId::FlowDuration,
    RuleId::FlowRate,
    RuleId::FlowChatter,
    RuleId::InboxRate,
    RuleId::BudgetTime,
];

/// A policy, once for recorded and once for made-up times.
#[derive(Debug, Clone)]
pub struct EvalPolicy {
    recorded: Policy,
    synthetic: Policy,
}

impl EvalPolicy {
    /// Takes a policy as the JSON that a policy file holds or stands for.
    ///
    /// # Errors
    /// Returns an error if it is wrong.
    pub fn new(document: &Value) -> Result<Self, EvalError> {
        let mut timeless = document.clone();
        for rule in NEED_TIME {
            switch_off(&mut timeless, rule);
        }
        Ok(Self {
            recorded: Policy::from_value(&or_empty(document))?,
            synthetic: Policy::from_value(&timeless)?,
        })
    }

    /// The one for runs with times like these.
    #[must_use]
    pub fn for_time(&self, time: TimeSource) -> &Policy {
        match time {
            TimeSource::Recorded => &self.recorded,
            TimeSource::Synthetic => &self.synthetic,
        }
    }
}

fn or_empty(document: &Value) -> Value {
    if document.is_null() {
        json!({})
    } else {
        document.clone()
    }
}

/// Sets `rule` to off, in the overrides too where they name rules: theirs would win.
fn switch_off(document: &mut Value, rule: RuleId) {
    let off = json!({ "rules": { rule.as_str(): "off" } });
    if let Some(Value::Array(overrides)) = document.get_mut("override") {
        for with_rules in overrides
            .iter_mut()
            .filter(|one| one.get("rules").is_some())
        {
            merge(with_rules, &off);
        }
    }
    merge(document, &off);
}

/// Lays `over` over `base`: tables key by key, everything else replaced.
pub fn merge(base: &mut Value, over: &Value) {
    let Value::Object(over) = over else {
        *base = over.clone();
        return;
    };
    if !base.is_object() {
        *base = Value::Object(Map::new());
    }
    if let Value::Object(base) = base {
        for (name, value) in over {
            merge(base.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag_core::Mode;

    #[test]
    fn made_up_times_are_not_judged_whatever_the_policy_says() {
        let document = json!({
            "rules": {"flow.*": "enforce", "inbox.rate": "enforce"},
            "override": [{"agent": "a", "rules": {"flow.*": "enforce"}}, {"agent": "b", "flow": {"max_depth": 3}}],
        });
        let policy = EvalPolicy::new(&document).unwrap();
        for (time, mode) in [
            (TimeSource::Recorded, Mode::Enforce),
            (TimeSource::Synthetic, Mode::Off),
        ] {
            for agent in [None, Some("a"), Some("b")] {
                let limits = policy.for_time(time).limits_for(agent, "s");
                assert_eq!(limits.modes.get(RuleId::FlowRate), mode);
                assert_eq!(limits.modes.get(RuleId::InboxRate), mode);
                assert_eq!(limits.modes.get(RuleId::FlowDepth), Mode::Enforce);
            }
        }
    }

    #[test]
    fn no_policy_is_the_default() {
        let policy = EvalPolicy::new(&Value::Null).unwrap();
        assert_eq!(policy.for_time(TimeSource::Recorded), &Policy::default());
    }
}
