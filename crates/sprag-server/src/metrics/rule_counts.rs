//! Verdicts by rule, verdict and mode, and refusals by rule.
//!
//! Most combinations never happen, so one is made when it is first seen; from then on it is found by its
//! place. Refusals are there from the start, so that a rate can be taken from the first one on.

use std::sync::OnceLock;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use sprag_core::{Decision, RuleId, Verdict};

use super::OneLabel;

type ThreeLabels = [(&'static str, &'static str); 3];

const DECISIONS: usize = Decision::ALL.len();
const MODES: [&str; 2] = ["enforce", "shadow"];
const PLACES: usize = RuleId::ALL.len() * DECISIONS * MODES.len();

#[derive(Debug)]
pub(super) struct RuleCounts {
    family: Family<ThreeLabels, Counter>,
    /// Nothing fired: the most usual case.
    allowed: Counter,
    fired: Vec<OnceLock<Counter>>,
    refused: Vec<Counter>,
}

impl RuleCounts {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let family: Family<ThreeLabels, Counter> = Family::default();
        let help = "Verdicts by the rule that decided; in shadow, what it would have been";
        registry.register("verdicts", help, family.clone());
        let refusals: Family<OneLabel, Counter> = Family::default();
        let help = "Calls and messages that were refused, by rule";
        registry.register("refusals", help, refusals.clone());
        let refused = RuleId::ALL
            .iter()
            .map(|rule| refusals.get_or_create_owned(&[("rule", rule.as_str())]))
            .collect();
        Self {
            allowed: family.get_or_create_owned(&labels(Decision::Allow, "none", "enforce")),
            family,
            fired: (0..PLACES).map(|_| OnceLock::new()).collect(),
            refused,
        }
    }

    pub(super) fn count(&self, verdict: &Verdict) {
        match verdict.rule {
            None => {
                self.allowed.inc();
            }
            Some(rule) => {
                self.fired(rule, verdict.decision, 0);
                if verdict.refuses()
                    && let Some(count) = self.refused.get(rule as usize)
                {
                    count.inc();
                }
            }
        }
        if let Some(would) = &verdict.would {
            self.fired(would.rule, would.decision, 1);
        }
    }

    fn fired(&self, rule: RuleId, decision: Decision, mode: usize) {
        let place = (rule as usize * DECISIONS + decision as usize) * MODES.len() + mode;
        let (Some(slot), Some(mode)) = (self.fired.get(place), MODES.get(mode)) else {
            return;
        };
        slot.get_or_init(|| {
            self.family
                .get_or_create_owned(&labels(decision, rule.as_str(), mode))
        })
        .inc();
    }
}

fn labels(decision: Decision, rule: &'static str, mode: &'static str) -> ThreeLabels {
    [
        ("verdict", decision.as_str()),
        ("rule", rule),
        ("mode", mode),
    ]
}
