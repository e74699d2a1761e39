//! Why each rule exists, when it trips, when it lets go, and how to tune it.
//!
//! A guard that only says "denied" gets switched off. Whoever is stopped by a rule, or wants to set
//! one, must learn in a minute what went wrong for somebody else before it existed, what exactly it
//! counts, and which key to turn. The texts live next to the library, not in the binary, so that
//! the dashboard and other front ends tell the same story. The texts are data: a rule without one
//! fails a test.

mod budget;
mod call;
mod flow;
mod inbox;
mod output;
mod progress;
mod session;

use serde::Serialize;
use sprag_core::{Decision, RuleId};

/// Everything a person needs to know about one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What the rule answers when it trips, mildest first.
    pub verdicts: &'static [Decision],
    /// The policy keys that hold its limits, the main one first.
    pub keys: &'static [&'static str],
    /// What the limit is counted over, where no key says it: `per minute`.
    pub per: Option<&'static str>,
    /// Why the rule exists: what went wrong for somebody without it.
    pub why: &'static str,
    /// What exactly makes it trip.
    pub trips: &'static str,
    /// What makes it let go again.
    pub resets: &'static str,
    /// How to set it, and what to think of first.
    pub tune: &'static str,
    /// Cases in which people expect something else.
    pub odd: &'static [&'static str],
}

impl Explanation {
    const EMPTY: Self = Self {
        verdicts: &[],
        keys: &[],
        per: None,
        why: "",
        trips: "",
        resets: "",
        tune: "",
        odd: &[],
    };
}

/// The explanation of `rule`.
#[must_use]
pub const fn explain(rule: RuleId) -> Explanation {
    match rule {
        RuleId::SessionKilled => session::KILLED,
        RuleId::SessionPanic => session::PANIC,
        RuleId::AccessDenied => session::ACCESS,
        RuleId::AccessSelf => session::OWN,
        RuleId::SessionBlocked => session::BLOCKED,
        RuleId::FlowCorrelation => flow::CORRELATION,
        RuleId::FlowSelfCall => flow::SELF_CALL,
        RuleId::FlowDepth => flow::DEPTH,
        RuleId::FlowSessions => flow::SESSIONS,
        RuleId::FlowDuration => flow::DURATION,
        RuleId::FlowRate => flow::RATE,
        RuleId::FlowTotal => flow::TOTAL,
        RuleId::FlowRevisits => flow::REVISITS,
        RuleId::FlowSpawns => flow::SPAWNS,
        RuleId::FlowChatter => inbox::CHATTER,
        RuleId::FlowEcho => inbox::ECHO,
        RuleId::FlowUnattended => inbox::UNATTENDED,
        RuleId::InboxRate => inbox::RATE,
        RuleId::ConversationLength => inbox::CONVERSATION,
        RuleId::CallIdentical => call::IDENTICAL,
        RuleId::CallRepeat => call::REPEAT,
        RuleId::DestructiveSweeping => call::SWEEPING,
        RuleId::DestructiveVolume => call::VOLUME,
        RuleId::DestructiveTarget => call::TARGET,
        RuleId::SessionDefiance => session::DEFIANCE,
        RuleId::SessionRerun => session::RERUN,
        RuleId::ProgressStagnation => progress::STAGNATION,
        RuleId::ProgressStuck => progress::STUCK,
        RuleId::ProgressRecurrence => progress::RECURRENCE,
        RuleId::ProgressChurn => progress::CHURN,
        RuleId::ProgressProbe => progress::PROBE,
        RuleId::OutputChant => output::CHANT,
        RuleId::OutputRepeat => output::REPEAT,
        RuleId::BudgetActions => budget::ACTIONS,
        RuleId::BudgetTokens => budget::TOKENS,
        RuleId::BudgetCost => budget::COST,
        RuleId::BudgetTime => budget::TIME,
        // A rule without texts: the test below finds it.
        _ => Explanation::EMPTY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_all_its_texts() {
        for &rule in RuleId::ALL {
            let text = explain(rule);
            for (part, words) in [
                ("why", text.why),
                ("trips", text.trips),
                ("resets", text.resets),
                ("tune", text.tune),
            ] {
                assert!(words.len() > 40, "{rule}: `{part}` says too little");
                assert!(
                    words.ends_with('.'),
                    "{rule}: `{part}` ends in mid-sentence"
                );
                assert!(
                    !words.contains("  "),
                    "{rule}: `{part}` holds a double space"
                );
            }
            assert!(!text.verdicts.is_empty(), "{rule}: no verdict");
            assert!(text.verdicts.is_sorted(), "{rule}: the mildest comes first");
        }
    }

    #[test]
    fn every_key_that_is_named_can_be_set() {
        let policy = sprag_core::Policy::default();
        for &rule in RuleId::ALL {
            for key in explain(rule).keys {
                assert!(policy.get(key).is_some(), "{rule}: `{key}`");
            }
        }
    }

    #[test]
    fn no_two_rules_share_a_story() {
        let mut stories: Vec<_> = RuleId::ALL.iter().map(|&rule| explain(rule).why).collect();
        stories.sort_unstable();
        stories.dedup();
        assert_eq!(stories.len(), RuleId::ALL.len());
    }

    #[test]
    fn depth_beyond_five_is_called_a_design_smell() {
        let text = explain(RuleId::FlowDepth);
        assert!(text.tune.contains("more than 5"));
        assert!(text.tune.contains("design smell"));
    }
}
