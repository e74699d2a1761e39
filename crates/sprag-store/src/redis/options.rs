//! How a pod uses Redis, and what it does without.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sprag_core::{Glob, RuleId};

use super::Alone;
use crate::capacity::Capacity;

/// What a rule does while Redis can't be reached in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fail {
    /// It judges by what this pod remembers.
    #[default]
    Local,
    /// It lets everything pass.
    Open,
    /// It refuses whatever it would judge.
    Closed,
}

impl Fail {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

impl std::str::FromStr for Fail {
    type Err = FailError;

    fn from_str(text: &str) -> Result<Self, FailError> {
        [Self::Local, Self::Open, Self::Closed]
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| FailError::Mode(text.to_owned()))
    }
}

/// Why a text names no fail mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailError {
    /// There is no such mode.
    #[error("`{0}` is no way to fail; there are local, open and closed")]
    Mode(String),
    /// No rule matches.
    #[error("no rule is called `{0}`; `sprag rules` lists them")]
    Rule(String),
}

/// The fail mode of each rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FailModes {
    default: Fail,
    by_rule: Vec<(Glob, Fail)>,
}

impl FailModes {
    /// One mode for all rules.
    #[must_use]
    pub const fn all(default: Fail) -> Self {
        Self {
            default,
            by_rule: Vec::new(),
        }
    }

    /// Sets the mode of the rules that match `glob`; the longer literal part wins.
    #[must_use]
    pub fn with(mut self, glob: &str, mode: Fail) -> Self {
        self.by_rule.push((Glob::new(glob), mode));
        self.by_rule.sort_by_key(|(glob, _)| glob.literal_chars());
        self
    }

    /// Adds `mode` for all rules, or `rule=mode` for some.
    ///
    /// # Errors
    /// Where there is no such mode or rule.
    pub fn read(self, text: &str) -> Result<Self, FailError> {
        let Some((glob, mode)) = text.split_once('=') else {
            return Ok(Self {
                default: text.parse()?,
                ..self
            });
        };
        let known = Glob::new(glob);
        if !RuleId::ALL.iter().any(|rule| known.matches(rule.as_str())) {
            return Err(FailError::Rule(glob.to_owned()));
        }
        Ok(self.with(glob, mode.parse()?))
    }

    /// The mode of `rule`.
    #[must_use]
    pub fn of(&self, rule: RuleId) -> Fail {
        let matching = self.by_rule.iter().rev();
        matching
            .filter(|(glob, _)| glob.matches(rule.as_str()))
            .map(|(_, mode)| *mode)
            .next()
            .unwrap_or(self.default)
    }
}

/// Hears of every decision that was made without Redis.
pub type OnAlone = Arc<dyn Fn(&Alone) + Send + Sync>;

/// How a pod uses Redis.
#[derive(Clone)]
pub struct RedisOptions {
    /// Where it is: `redis://`, `rediss://`, `unix://`, with `+sentinel` or `+cluster` before the colon.
    pub url: String,
    /// All keys start with this in braces; pods with the same one share everything.
    pub namespace: String,
    /// The certificates to trust in PEM form; none: those of the system.
    pub ca: Option<Vec<u8>>,
    /// How long one decision may take before the pod decides alone.
    pub deadline: Duration,
    /// How many connections are kept open.
    pub connections: usize,
    /// What each rule does without Redis.
    pub fail: FailModes,
    /// How many replicas must have a kill, block or reset before it is answered.
    pub replicas: u32,
    /// How many records the log in Redis keeps.
    pub max_records: u64,
    /// How many sessions Redis keeps, and how many cells a pod keeps at hand.
    pub capacity: Capacity,
    /// What this pod is called in the log.
    pub pod: String,
    /// Hears of every decision that was made without Redis.
    pub on_alone: Option<OnAlone>,
}

impl RedisOptions {
    /// The usual settings for `url`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            namespace: "sprag".to_owned(),
            ca: None,
            deadline: Duration::from_millis(250),
            connections: 8,
            fail: FailModes::default(),
            replicas: 0,
            max_records: 100_000,
            capacity: Capacity::default(),
            pod: format!("process {}", std::process::id()),
            on_alone: None,
        }
    }
}

/// Without the address: it may hold a password.
impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions")
            .field("namespace", &self.namespace)
            .field("deadline", &self.deadline)
            .field("connections", &self.connections)
            .field("fail", &self.fail)
            .field("replicas", &self.replicas)
            .field("max_records", &self.max_records)
            .field("pod", &self.pod)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_name_decides_how_a_rule_fails() {
        let modes = FailModes::all(Fail::Local)
            .read("destructive.*=closed")
            .and_then(|modes| modes.read("*=open"))
            .unwrap();
        assert_eq!(modes.of(RuleId::DestructiveVolume), Fail::Closed);
        assert_eq!(modes.of(RuleId::FlowDepth), Fail::Open);
    }

    #[test]
    fn a_wrong_word_is_told_with_what_would_be_right() {
        let wrong = |text: &str| FailModes::default().read(text).unwrap_err().to_string();
        assert_eq!(
            wrong("shut"),
            "`shut` is no way to fail; there are local, open and closed"
        );
        assert_eq!(
            wrong("flow.dept=open"),
            "no rule is called `flow.dept`; `sprag rules` lists them"
        );
    }

    #[test]
    fn a_password_is_not_shown() {
        let options = RedisOptions::new("redis://user:hunter2@host/0");
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
