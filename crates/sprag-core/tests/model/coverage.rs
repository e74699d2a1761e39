//! How often each rule said what it can say: a rule that never fires is a rule that is not tested.

use std::collections::BTreeMap;

use sprag_core::{Decision, RuleId};

use super::engine::Answer;

/// How often a rule decided, or in shadow would have.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    enforced: BTreeMap<(RuleId, Decision), usize>,
    shadow: BTreeMap<(RuleId, Decision), usize>,
    /// How often each code was told, and each error.
    words: BTreeMap<String, usize>,
}

impl Coverage {
    pub(crate) fn add(&mut self, answer: &Answer) {
        let verdict = match answer {
            Ok(verdict) => verdict,
            Err(error) => return self.hear(format!("{error:?}")),
        };
        if let Some(code) = verdict.code {
            self.hear(format!("{code:?}"));
        }
        if let Some(rule) = verdict.rule {
            *self.enforced.entry((rule, verdict.decision)).or_default() += 1;
        }
        if let Some((decision, rule)) = verdict.would {
            *self.shadow.entry((rule, decision)).or_default() += 1;
        }
    }

    fn hear(&mut self, word: String) {
        *self.words.entry(word).or_default() += 1;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (word, count) in other.enforced {
            *self.enforced.entry(word).or_default() += count;
        }
        for (word, count) in other.shadow {
            *self.shadow.entry(word).or_default() += count;
        }
        for (word, count) in other.words {
            *self.words.entry(word).or_default() += count;
        }
    }

    /// What was said less than `least` times.
    pub(crate) fn rare(&self, least: usize) -> Vec<String> {
        let mut rare = Vec::new();
        for word in [
            "SessionKilledLoopGuard",
            "SessionBlockedLoopGuard",
            "SessionStaleGeneration",
            "NewerGeneration",
            "Panic",
        ] {
            let count = self.words.get(word).copied().unwrap_or(0);
            if count < least {
                rare.push(format!("{word}: {count}"));
            }
        }
        for rule in RuleId::ALL {
            for decision in says(*rule) {
                let word = (*rule, *decision);
                let enforced = self.enforced.get(&word).copied().unwrap_or(0);
                let shadow = self.shadow.get(&word).copied().unwrap_or(0);
                if enforced < least {
                    rare.push(format!("{rule} {decision}: {enforced}"));
                }
                if shadow < least && rule.has_mode() {
                    rare.push(format!("{rule} {decision} in shadow: {shadow}"));
                }
            }
        }
        rare
    }
}

/// What a rule can say. The two rules that only the informed classifier has are not the model's.
fn says(rule: RuleId) -> &'static [Decision] {
    use Decision::{Ask, Block, Deny, Kill, Warn};
    match rule {
        RuleId::SessionKilled => &[Warn, Deny, Kill],
        RuleId::SessionPanic => &[Warn, Deny],
        RuleId::SessionBlocked | RuleId::FlowEcho | RuleId::FlowSpawns => &[Warn, Deny],
        RuleId::FlowChatter | RuleId::CallRepeat | RuleId::SessionRerun => &[Warn],
        RuleId::DestructiveSweeping => &[Ask, Deny],
        RuleId::DestructiveVolume => &[Warn, Ask, Kill],
        RuleId::DestructiveTarget => &[Warn, Deny, Kill],
        RuleId::SessionDefiance => &[Block, Kill],
        RuleId::ProgressStagnation | RuleId::ProgressStuck => &[Warn, Block],
        RuleId::OutputChant | RuleId::OutputRepeat => &[Warn, Block],
        RuleId::ProgressRecurrence | RuleId::ProgressChurn | RuleId::ProgressProbe => &[],
        RuleId::BudgetActions => &[Warn, Deny, Block, Kill],
        RuleId::BudgetTokens | RuleId::BudgetCost | RuleId::BudgetTime => &[Warn, Block],
        _ => &[Deny],
    }
}
