//! Policy: every limit and mode, as data.
//!
//! [`Limits`] is what the rules read: one flat answer for one session. [`Policy`] is what people
//! write: a base, overrides by agent and session, and how single tools are to be seen.
//! [`Policy::limits_for`] merges the matching overrides over the base.
//!
//! A text goes through [`document`] (TOML or JSON into one tree with lines), [`read`] (the tree
//! into a policy, collecting every mistake) and out again through [`write`]. The table in [`key`]
//! lists all keys.

mod document;
mod duration;
mod error;
mod field;
pub mod import;
mod key;
mod limit;
mod limits;
mod mode;
mod output;
mod overrides;
mod prices;
mod read;
mod read_overrides;
mod rules;
#[cfg(feature = "schema")]
mod schema;
mod setting;
mod spawns;
mod tool;
mod widest;
mod write;

use sha2::{Digest as _, Sha256};

pub use duration::DurationError;
pub use error::{PolicyError, PolicyErrors, PolicyProblem};
pub use key::PolicyKey;
pub use limit::{Limit, LimitError, MAX_LIMIT};
pub use limits::{
    AccessLimits, Amounts, AskLimits, BudgetLimits, CallLimits, Classifier, ConversationLimits,
    DestructiveLimits, Echo, FlowLimits, InboxLimits, Limits, ProgressLimits, Scope, SessionLimits,
    Threshold,
};
pub use mode::{Mode, Modes};
pub use output::OutputLimits;
pub use overrides::LimitsRef;
#[cfg(feature = "schema")]
pub use schema::policy_schema;
pub use spawns::{MAX_OPEN_SUB_AGENTS, Spawns};
pub(crate) use widest::Widest;
use widest::any_destructive;

use document::Node;
use error::ErrorList;
use key::KEYS;
use overrides::{Matching, Merged, Override};

use crate::rule::RuleId;

/// The longest text of a policy.
pub const MAX_POLICY_BYTES: usize = 1024 * 1024;

/// Everything that people may set, checked: a policy that exists is a sound one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policy {
    /// What holds if no override matches.
    base: Limits,
    /// The same without a pause.
    written: Limits,
    /// In the order in which they are applied.
    overrides: Vec<Override>,
    paused: bool,
    merged: Merged,
    widest: Widest,
    any_destructive: DestructiveLimits,
}

impl Policy {
    /// Reads TOML.
    ///
    /// # Errors
    /// Returns everything that is wrong with it.
    pub fn from_toml(text: &str) -> Result<Self, PolicyErrors> {
        Self::from_text(text, document::parse_toml)
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// Returns everything that is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, PolicyErrors> {
        Self::from_text(text, document::parse_json)
    }

    /// Takes a JSON value that was parsed before, as part of something else.
    ///
    /// # Errors
    /// Returns everything that is wrong with it, without lines.
    pub fn from_value(value: &serde_json::Value) -> Result<Self, PolicyErrors> {
        let mut errors = ErrorList::default();
        let document = document::from_value(value, document::MAX_DEPTH);
        if document.is_none() {
            errors.push("", None, PolicyProblem::TooDeep);
        }
        Self::from_document(document, errors)
    }

    fn from_text(
        text: &str,
        parse: impl FnOnce(&str, &mut ErrorList) -> Option<Node>,
    ) -> Result<Self, PolicyErrors> {
        let mut errors = ErrorList::default();
        let (max, found) = (MAX_POLICY_BYTES, text.len());
        if found > max {
            errors.push("", None, PolicyProblem::TooLong { max, found });
            return Self::from_document(None, errors);
        }
        let document = parse(text, &mut errors);
        Self::from_document(document, errors)
    }

    fn from_document(document: Option<Node>, mut errors: ErrorList) -> Result<Self, PolicyErrors> {
        let policy = document.map(|document| read::policy(&document, &mut errors));
        let policy = policy.unwrap_or_default();
        // The log keeps the text of what is in force and has to read it again.
        let (max, found) = (MAX_POLICY_BYTES, policy.to_toml().len());
        if errors.is_empty() && found > max {
            errors.push("", None, PolicyProblem::TooLongInFull { max, found });
        }
        errors.finish()?;
        Ok(policy)
    }

    fn new(base: Limits, mut overrides: Vec<Override>) -> Self {
        overrides.sort_by_key(Override::rank);
        Self {
            widest: Widest::of(&base, &overrides),
            any_destructive: any_destructive(&base, &overrides),
            written: base.clone(),
            base,
            overrides,
            paused: false,
            merged: Merged::default(),
        }
    }

    /// The limits for a session: the base, and over it all overrides that match, key by key;
    /// agents' first, then sessions', each by number of literal characters, then in the order of
    /// the file.
    #[must_use]
    pub fn limits_for(&self, agent: Option<&str>, session: &str) -> LimitsRef<'_> {
        let Some(matching) = Matching::of(&self.overrides, agent, session) else {
            return LimitsRef::base(&self.base);
        };
        self.merged.get_or(matching, || {
            let limits = matching.merge(&self.written, &self.overrides);
            self.as_paused(limits)
        })
    }

    /// What windows that several sessions share must remember.
    pub(crate) fn widest(&self) -> Widest {
        self.widest
    }

    /// What any session under this policy may call destructive. What the digester keeps depends on
    /// this alone, so that it need not know whose limits an event is under.
    pub(crate) fn any_destructive(&self) -> &DestructiveLimits {
        &self.any_destructive
    }

    /// The policy of one session: what is in force for it as the base, with no overrides left. For
    /// showing; the engine asks [`Policy::limits_for`].
    #[must_use]
    pub fn narrowed(&self, agent: Option<&str>, session: &str) -> Self {
        let limits = Limits::clone(&self.limits_for(agent, session));
        Self::new(limits, Vec::new())
    }

    /// The same policy with or without a pause: every mode capped at shadow, whatever is written.
    /// Killed sessions stay killed.
    #[must_use]
    pub fn with_pause(mut self, paused: bool) -> Self {
        self.paused = paused;
        self.base = self.as_paused(self.written.clone());
        self.merged = Merged::default();
        self
    }

    /// The same policy with some rules off everywhere, whatever is written.
    #[must_use]
    pub fn without(&self, rules: &[RuleId]) -> Self {
        let mut limits = self.written.clone();
        let mut overrides = self.overrides.clone();
        for rule in rules {
            limits.modes.set(*rule, Mode::Off);
            for one in &mut overrides {
                one.modes.remove(rule);
            }
        }
        Self::new(limits, overrides).with_pause(self.paused)
    }

    fn as_paused(&self, mut limits: Limits) -> Limits {
        if self.paused {
            limits.modes = limits.modes.capped();
        }
        limits
    }

    /// Whether any limit is over all sessions of an agent. If none is, only usage touches the
    /// agents' cells.
    #[must_use]
    pub const fn counts_agents(&self) -> bool {
        self.widest.counts_agents
    }

    /// Whether every mode is capped at shadow.
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.paused
    }

    /// What is in force if no override matches.
    #[must_use]
    pub const fn base(&self) -> &Limits {
        &self.base
    }

    /// Every key that a policy may set, besides `rules`, `prices`, `tool` and `override`.
    #[must_use]
    pub fn keys() -> &'static [PolicyKey] {
        KEYS
    }

    /// What is in force for a key (`flow.max_depth`), a small table (`flow.echo`), the price of a
    /// model (`prices."gpt-*"`) or the mode of a rule (`rules.flow.depth`) if no override matches, as it is written in TOML.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        if let Some(key) = PolicyKey::find(name) {
            return Some(write::show(key.kind, &(key.load)(&self.base)));
        }
        if let Some(model) = name.strip_prefix("prices.") {
            let model = model.trim_matches('"');
            let mut prices = self.base.prices.iter();
            let (_, price) = prices.find(|(glob, _)| glob.as_str() == model)?;
            return Some(write::price(price));
        }
        if let Some(rule) = name.strip_prefix("rules.") {
            let rule = rule.trim_matches('"').parse().ok()?;
            return Some(write::quoted(self.base.modes.get(rule).as_str()));
        }
        write::small_table(self, name)
    }

    /// The key that `wrong` probably stands for.
    #[must_use]
    pub fn nearest_key(wrong: &str) -> Option<&'static str> {
        crate::nearest::nearest(wrong, KEYS.iter().map(PolicyKey::name))
    }

    /// The whole of what is in force, as TOML; it reads back as a policy that judges the same.
    #[must_use]
    pub fn to_toml(&self) -> String {
        write::to_toml(self)
    }

    /// The SHA-256 of [`Policy::to_toml`] in hex: policies that mean the same have the same.
    #[must_use]
    pub fn digest(&self) -> String {
        Self::digest_of(&self.to_toml())
    }

    /// The digest of a policy whose [`Policy::to_toml`] is `text`, for whoever has made it already.
    #[must_use]
    pub fn digest_of(text: &str) -> String {
        let digest = Sha256::digest(text);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests;
