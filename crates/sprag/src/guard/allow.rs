//! Approved for good: the command of a question goes into the policy, for one project or for one agent.
//!
//! A person who says "always" to a command wants the policy to say so, where others can read it and take it
//! back. `destructive.allow` names commands; an entry `terraform destroy in /srv/app` holds in that project
//! only. An override replaces the list of the base, so what holds for the agent already is written with it.

use sprag_core::{Approval, ApprovalScope, Id, Policy, allowed_in};
use toml_edit::{Array, Value};

use super::{Guard, GuardError};
use crate::policy_edit::{self, EditError, OverrideTarget};
use crate::policy_file::PolicyFile;
use crate::questions::Question;

/// Why a command can't be allowed for good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllowError {
    /// It is not asked because of what a command destroys.
    #[error("no command of this call can be allowed for good: approve it for `once` or `session`")]
    NoCommand,
    /// The call names no project.
    #[error("the call names no project folder: approve it for `once`, `session` or `agent`")]
    NoProject,
    /// The agent is not known, or its name can't stand in a policy.
    #[error(
        "the call names no agent that a policy could name: approve it for `once`, `session` or `project`"
    )]
    NoAgent,
    /// The policy file is JSON.
    #[error("the policy file is JSON: add {entries} to `destructive.allow` by hand")]
    Json {
        /// What to add.
        entries: String,
    },
    /// The policy file can't be changed.
    #[error("the policy file can't be changed: {0}")]
    Edit(#[from] EditError),
    /// An override of the policy leaves it out.
    #[error("an override of the policy would still ask: add {entries} to its `destructive.allow`")]
    Overridden {
        /// What to add.
        entries: String,
    },
    /// The guard failed.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

/// The entries of `destructive.allow` that an approval for good writes; none for a scope that ends.
///
/// # Errors
/// Returns an error if the call has no command, project or agent to write.
pub(crate) fn entries(
    approval: &Approval,
    agent: Option<&Id>,
    scope: ApprovalScope,
) -> Result<Vec<String>, AllowError> {
    let is_plain = |agent: &&Id| {
        !agent
            .as_str()
            .contains(['*', '?', '[', ']', '{', '}', '\\'])
    };
    let commands = || match approval.commands.as_slice() {
        [] => Err(AllowError::NoCommand),
        commands => Ok(commands),
    };
    match scope {
        ApprovalScope::Project => {
            let root = approval.root.as_deref();
            let in_root = |command: &str| root.and_then(|root| allowed_in(command, root));
            let entries = commands()?.iter().map(|command| in_root(command));
            entries.collect::<Option<_>>().ok_or(AllowError::NoProject)
        }
        ApprovalScope::Agent => {
            agent.filter(is_plain).ok_or(AllowError::NoAgent)?;
            Ok(commands()?.iter().map(ToString::to_string).collect())
        }
        ApprovalScope::Once | ApprovalScope::Session => Ok(Vec::new()),
    }
}

impl Guard {
    /// Whether `question` can be approved for `scope`.
    ///
    /// # Errors
    /// Returns an error if the scope needs a command, a project or an agent that the call does not name.
    pub fn can_allow(&self, question: &Question, scope: ApprovalScope) -> Result<(), AllowError> {
        entries(&question.approval, question.agent.as_ref(), scope).map(|_| ())
    }

    /// Writes the commands of `question` into the policy file `file`, as `scope` says. The log keeps who did
    /// it. Returns the entries; none for a scope that ends by itself.
    ///
    /// # Errors
    /// Returns an error if there is nothing to write or the policy can't be changed; then it is as before.
    pub fn allow_commands(
        &self,
        question: &Question,
        scope: ApprovalScope,
        file: Option<&PolicyFile>,
        by: &str,
    ) -> Result<Vec<String>, AllowError> {
        let agent = question.agent.as_ref().map(Id::as_str);
        let entries = entries(&question.approval, question.agent.as_ref(), scope)?;
        if entries.is_empty() {
            return Ok(entries);
        }
        let shown = || format!("{entries:?}");
        let file = file.ok_or(GuardError::NoPolicyFile)?;
        if file.is_json() {
            return Err(AllowError::Json { entries: shown() });
        }
        let text = PolicyFile::optional(file.path()).text();
        let mut text = text.map_err(GuardError::Policy)?.unwrap_or_default();
        let session = question.session.as_str();
        let whole = OverrideTarget::default();
        let own = OverrideTarget { agent, ..whole };
        let holds = |policy: &Policy| {
            let limits = policy.limits_for(agent, session);
            let has = |entry: &String| {
                limits
                    .destructive
                    .allow
                    .iter()
                    .any(|held| **held == **entry)
            };
            entries.iter().all(has)
        };
        let mut policy = self.policy();
        // For a project the base is enough, unless an override for the agent has a list of its own.
        let targets = match scope {
            ApprovalScope::Agent => vec![own],
            _ => vec![whole, own],
        };
        for who in targets {
            if holds(&policy) {
                break;
            }
            text = with_entries(&text, &policy, &entries, who)?;
            policy = file.parse(Some(&text)).map_err(GuardError::Policy)?;
        }
        if !holds(&policy) {
            return Err(AllowError::Overridden { entries: shown() });
        }
        let why = format!(
            "approved {}: {}",
            question.approval.code,
            entries.join(", ")
        );
        self.replace_policy(&text, None, by, &why)?;
        Ok(entries)
    }
}

/// The policy's text with the entries added to the list that holds for `who`.
fn with_entries(
    text: &str,
    policy: &Policy,
    entries: &[String],
    who: OverrideTarget<'_>,
) -> Result<String, EditError> {
    let limits = policy.limits_for(who.agent, "");
    let held = match who.agent {
        Some(_) => &limits.destructive.allow,
        None => &policy.base().destructive.allow,
    };
    let mut list: Array = held.iter().map(|entry| &**entry).collect();
    for entry in entries
        .iter()
        .filter(|entry| !held.iter().any(|held| **held == ***entry))
    {
        list.push(entry.as_str());
    }
    let path = ["destructive", "allow"];
    Ok(policy_edit::set(text, &path, Value::Array(list), who)?.text)
}
