//! What each rule does while Redis can't be reached: judge locally, let everything pass, or refuse.

use sprag_core::{Decision, Glob, Id, Mode, Observed, Policy, RuleId, UnknownWord, Verdict, words};

use crate::draft::Draft;

words! {
    "fail mode",
    /// What a rule does while Redis can't be reached in time.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum RuleFailMode {
        /// It judges by what this pod remembers.
        #[default]
        Local = "local",
        /// It lets everything pass.
        Open = "open",
        /// It refuses whatever it would judge.
        Closed = "closed",
    }
}

/// Why a text can't be read as a fail mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailModeError {
    /// No mode has this name.
    #[error(transparent)]
    Mode(#[from] UnknownWord),
    /// No rule matches.
    #[error("no rule is called `{0}`; `sprag rules` lists them")]
    Rule(String),
}

/// The fail mode of each rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleFailModes {
    default: RuleFailMode,
    by_rule: Vec<(Glob, RuleFailMode)>,
}

impl RuleFailModes {
    /// Uses one mode for all rules.
    #[must_use]
    pub const fn all(default: RuleFailMode) -> Self {
        Self {
            default,
            by_rule: Vec::new(),
        }
    }

    /// Sets the mode of the rules that match `glob`. If several globs match a rule, the one with the
    /// longest literal part decides.
    #[must_use]
    pub fn with(mut self, glob: &str, mode: RuleFailMode) -> Self {
        self.by_rule.push((Glob::new(glob), mode));
        self.by_rule.sort_by_key(|(glob, _)| glob.literal_chars());
        self
    }

    /// Adds `MODE` for all rules, or `RULE=MODE` for the rules that match.
    ///
    /// # Errors
    /// Returns an error if no mode or no rule has that name.
    pub fn read(self, text: &str) -> Result<Self, FailModeError> {
        let Some((glob, mode)) = text.split_once('=') else {
            return Ok(Self {
                default: text.parse()?,
                ..self
            });
        };
        let known = Glob::new(glob);
        if !RuleId::ALL.iter().any(|rule| known.matches(rule.as_str())) {
            return Err(FailModeError::Rule(glob.to_owned()));
        }
        Ok(self.with(glob, mode.parse()?))
    }

    /// The mode of `rule`.
    #[must_use]
    pub fn of(&self, rule: RuleId) -> RuleFailMode {
        // Sorted by literal length, so the last match is the most specific one.
        let mut matching = self.by_rule.iter().rev();
        matching
            .find(|(glob, _)| glob.matches(rule.as_str()))
            .map_or(self.default, |(_, mode)| *mode)
    }

    /// The rules that let everything pass without Redis.
    pub(super) fn open_rules(&self) -> Vec<RuleId> {
        let rules = RuleId::ALL.iter().copied();
        rules
            .filter(|rule| self.of(*rule) == RuleFailMode::Open)
            .collect()
    }

    /// The refusal by the first enforced rule that fails closed and would judge this event.
    pub(super) fn refusal(&self, draft: &Draft, why: &str) -> Option<Verdict> {
        let observed = &draft.observation.what;
        let policy = &draft.policy.policy;
        let rule = RuleId::ALL.iter().copied().find(|rule| {
            self.of(*rule) == RuleFailMode::Closed
                && judges(*rule, observed)
                && is_enforced(policy, *rule, observed)
        })?;
        // A step or usage has already happened, so it can only be warned about.
        let decision = match observed {
            Observed::Step(_) | Observed::Usage(_) | Observed::Output(_) => Decision::Warn,
            _ => Decision::Deny,
        };
        Some(Verdict::new(decision).with_rule(rule).with_message(format!(
            "Sprag can't reach its shared memory ({why}), and {rule} is set to refuse until it \
                 can."
        )))
    }
}

fn is_enforced(policy: &Policy, rule: RuleId, observed: &Observed) -> bool {
    let (agent, session) = agent_and_session(observed);
    let limits = policy.limits_for(agent.map(Id::as_str), session.as_str());
    limits.modes.get(rule) >= Mode::Ask
}

/// The agent and the session whose limits apply to an event.
pub(super) fn agent_and_session(observed: &Observed) -> (Option<&Id>, &Id) {
    match observed {
        Observed::Message(message) => match &message.from {
            Some(from) => (message.agent.as_ref(), from),
            None => (message.to_agent.as_ref(), &message.to),
        },
        Observed::Call(call) => (call.agent.as_ref(), &call.session),
        Observed::Step(step) => (step.agent.as_ref(), &step.session),
        Observed::Usage(usage) => (usage.agent.as_ref(), &usage.session),
        Observed::Output(output) => (output.agent.as_ref(), &output.session),
        Observed::Kill(order) | Observed::Reset(order) => (None, &order.session),
        Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
            (None, &dispatch.session)
        }
        Observed::Approve(answer) | Observed::Decline(answer) => (None, &answer.session),
    }
}

/// Whether a rule looks at such an event at all. A user's message is never refused because Redis is
/// down.
fn judges(rule: RuleId, observed: &Observed) -> bool {
    let family = rule.as_str().split('.').next().unwrap_or_default();
    match observed {
        Observed::Message(message) => {
            message.from.is_some()
                && (matches!(family, "flow" | "inbox" | "conversation")
                    || matches!(rule, RuleId::SessionKilled | RuleId::BudgetActions))
        }
        Observed::Call(_) => matches!(
            family,
            "access" | "call" | "destructive" | "session" | "budget"
        ),
        Observed::Step(_) => family == "progress",
        Observed::Usage(_) => family == "budget",
        Observed::Output(_) => family == "output",
        Observed::Kill(_)
        | Observed::Reset(_)
        | Observed::DispatchStart(_)
        | Observed::DispatchEnd(_)
        | Observed::Approve(_)
        | Observed::Decline(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_name_decides_how_a_rule_fails() {
        let modes = RuleFailModes::all(RuleFailMode::Local)
            .read("destructive.*=closed")
            .and_then(|modes| modes.read("*=open"))
            .unwrap();
        assert_eq!(modes.of(RuleId::DestructiveVolume), RuleFailMode::Closed);
        assert_eq!(modes.of(RuleId::FlowDepth), RuleFailMode::Open);
    }

    #[test]
    fn an_unknown_mode_or_rule_is_reported_with_what_to_use() {
        let wrong = |text: &str| RuleFailModes::default().read(text).unwrap_err().to_string();
        assert_eq!(
            wrong("shut"),
            "there is no fail mode \"shut\"; known are local, open, closed"
        );
        assert_eq!(
            wrong("flow.dept=open"),
            "no rule is called `flow.dept`; `sprag rules` lists them"
        );
    }
}
