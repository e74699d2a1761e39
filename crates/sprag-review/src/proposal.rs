//! The mildest change of the policy that would have let a case pass.
//!
//! The limits of the rule are raised step by step, for the agent of the session only, and the case is judged under each.
//! If no limit helps, the rule is put into shadow for that agent. If another rule stops the same session then, it has to
//! give way too.

use sprag::case::{Case, CaseOutcome};
use sprag::policy_edit::{self, OverrideTarget, Value};
use sprag::replay::ReplayError;
use sprag_core::{Id, Policy, RuleId};

use crate::explain::explain;

/// How far limits are raised, in tenths.
const STEPS: [u64; 6] = [13, 16, 20, 30, 50, 100];

/// How many rules may have to give way: the same calls often trip several.
const ROUNDS: usize = 4;

/// One key that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedChange {
    /// The key: `flow.max_depth`, or the rule whose mode changes.
    pub key: String,
    /// What it holds now, as TOML.
    pub old: Option<String>,
    /// What it would hold, as TOML.
    pub value: String,
    /// The command that does the same.
    pub command: String,
}

/// A change of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// What changes, one for each rule that has to give way.
    pub changes: Vec<ProposedChange>,
    /// The override alone, as TOML.
    pub snippet: String,
    /// The whole policy with it, as TOML.
    pub text: String,
}

/// The mildest change of the policy `text` that would have let `case` pass; none if no change does.
///
/// # Errors
/// Returns an error if a record of the case can't be judged.
pub fn propose(case: &Case, text: &str) -> Result<Option<Proposal>, ReplayError> {
    let is_plain = |name: &&str| !name.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let (agent, session) = (case.head.agent.as_ref(), case.head.session.as_str());
    let agent = agent.map(Id::as_str).filter(is_plain);
    let who = OverrideTarget {
        agent,
        session: Some(session).filter(|session| agent.is_none() && is_plain(session)),
    };
    if who.agent.is_none() && who.session.is_none() {
        return Ok(None);
    }
    let mut proposal = Proposal {
        changes: Vec::new(),
        snippet: String::new(),
        text: text.to_owned(),
    };
    for _ in 0..ROUNDS {
        let Ok(policy) = Policy::from_toml(&proposal.text) else {
            return Ok(None);
        };
        let rule = match case.judge(&policy)? {
            CaseOutcome::Passes => {
                proposal.snippet = proposal.snippet.trim().to_owned();
                return Ok(Some(proposal));
            }
            CaseOutcome::Stopped { verdict, .. } => verdict.rule,
        };
        let now = policy.narrowed(agent, session);
        let Some(rule) = rule else {
            return Ok(None);
        };
        if !proposal.give_way(case, rule, &now, who)? {
            return Ok(None);
        }
    }
    Ok(None)
}

impl Proposal {
    /// Adds the mildest change under which `rule` does not stop the case any more; false if there is none.
    fn give_way(
        &mut self,
        case: &Case,
        rule: RuleId,
        now: &Policy,
        who: OverrideTarget<'_>,
    ) -> Result<bool, ReplayError> {
        let keys = explain(rule).keys;
        let limits = STEPS.iter().flat_map(|step| {
            let raise = move |key: &&'static str| {
                let old = now.get(key)?;
                let value = raised(&old, *step)?;
                Some(((*key).to_owned(), Some(old), value))
            };
            keys.iter().filter_map(raise)
        });
        let mode = (rule.to_string(), None, "\"shadow\"".to_owned());
        for (key, old, value) in limits.chain([mode]) {
            let path: Vec<&str> = match old {
                Some(_) => key.split('.').collect(),
                None => vec!["rules", &key],
            };
            let written = |text: &str| {
                let value: Value = value.parse().ok()?;
                Some(policy_edit::set(text, &path, value, who).ok()?.text)
            };
            let (Some(text), Some(snippet)) = (written(&self.text), written(&self.snippet)) else {
                continue;
            };
            let Ok(tried) = Policy::from_toml(&text) else {
                continue;
            };
            let still = match case.judge(&tried)? {
                CaseOutcome::Passes => None,
                CaseOutcome::Stopped { verdict, .. } => verdict.rule,
            };
            if still != Some(rule) {
                let command = command(&key, &value, who);
                self.changes.push(ProposedChange {
                    key,
                    old,
                    value,
                    command,
                });
                (self.text, self.snippet) = (text, snippet);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn command(key: &str, value: &str, who: OverrideTarget<'_>) -> String {
    let value = value.trim_matches('"');
    let whose = match (who.agent, who.session) {
        (Some(agent), _) => format!("--agent {}", quoted(agent)),
        (None, session) => format!("--session {}", quoted(session.unwrap_or_default())),
    };
    format!("sprag policy set {key} {} {whose}", quoted(value))
}

/// A word as a shell reads it.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/:".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A value with each of its numbers raised: `5`, `"15m"` and `{ warn = 3, block = 5 }` alike. None if it has none.
fn raised(value: &str, tenths: u64) -> Option<String> {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    let mut has_number = false;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number
            .find(|c: char| !c.is_ascii_digit() && c != '_')
            .unwrap_or(number.len());
        let (digits, after) = number.split_at(end);
        text += before;
        // The cents of `2.50` stay as they are.
        if before.ends_with('.') && has_number {
            text += digits;
        } else {
            let number: u64 = digits.replace('_', "").parse().ok()?;
            text += &number.saturating_mul(tenths).div_ceil(10).to_string();
        }
        has_number = true;
        rest = after;
    }
    text += rest;
    has_number.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_value_is_raised_whatever_its_form() {
        assert_eq!(raised("5", 13).as_deref(), Some("7"));
        assert_eq!(raised("\"15m\"", 20).as_deref(), Some("\"30m\""));
        assert_eq!(
            raised("{ warn = 3, block = 5 }", 20).as_deref(),
            Some("{ warn = 6, block = 10 }")
        );
        assert_eq!(raised("2.50", 20).as_deref(), Some("4.50"));
        assert_eq!(raised("\"informed\"", 20), None);
        assert_eq!(quoted("{ warn = 6 }"), "'{ warn = 6 }'");
    }
}
