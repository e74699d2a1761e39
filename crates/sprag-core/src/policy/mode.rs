//! Whether a rule decides, asks a person, only reports, or is off.
//!
//! A new rule or limit is best tried on real traffic before it stops anyone, so every rule but the
//! kill gate has a mode of its own. A pause is the same idea for all of them at once: it caps each
//! mode at [`Mode::Shadow`] and leaves what was written as it is.

use serde::{Deserialize, Serialize};

use crate::rule::RuleId;

/// What a rule's finding does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Nothing: the rule is not judged.
    Off,
    /// It is reported in `would`; nothing is stopped.
    Shadow,
    /// A person decides: what it would refuse waits for an approval. Its warnings stay warnings.
    Ask,
    /// It decides.
    Enforce,
}

/// The mode of every rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes([Mode; RuleId::ALL.len()]);

impl Modes {
    /// The mode of `rule`.
    #[must_use]
    pub fn get(&self, rule: RuleId) -> Mode {
        self.0.get(rule as usize).copied().unwrap_or(Mode::Enforce)
    }

    /// Sets the mode of `rule`. A rule that has none stays enforced.
    pub fn set(&mut self, rule: RuleId, mode: Mode) {
        if !rule.has_mode() {
            return;
        }
        if let Some(slot) = self.0.get_mut(rule as usize) {
            *slot = mode;
        }
    }
}

impl Mode {
    /// Every mode, the strongest first.
    pub const ALL: [Self; 4] = [Self::Enforce, Self::Ask, Self::Shadow, Self::Off];

    /// The word that people write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Shadow => "shadow",
            Self::Ask => "ask",
            Self::Enforce => "enforce",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

impl Modes {
    /// The modes with none above shadow; the kill gate stays as it is.
    pub(crate) fn capped(mut self) -> Self {
        for rule in RuleId::ALL {
            let mode = self.get(*rule);
            self.set(*rule, mode.min(Mode::Shadow));
        }
        self
    }
}

impl Default for Modes {
    fn default() -> Self {
        let mut modes = Self([Mode::Enforce; RuleId::ALL.len()]);
        modes.set(RuleId::FlowRevisits, Mode::Off);
        modes
    }
}
