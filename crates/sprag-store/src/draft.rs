//! What goes into a store: an observation with the policy it is to be judged under.

use std::sync::Arc;

use sprag_core::{Observation, Policy};

/// A policy in force, with what the log keeps of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivePolicy {
    /// What the engine reads.
    pub policy: Policy,
    /// Its digest: each record names the policy it was judged under by it.
    pub digest: String,
    /// Its text, kept once per digest; whoever verifies or replays reads the policy from it again.
    pub text: String,
}

impl ActivePolicy {
    /// A policy with the digest and the text that it gives of itself.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let text = policy.to_toml();
        Self {
            digest: Policy::digest_of(&text),
            text,
            policy,
        }
    }
}

/// Reads a policy from a text that a log kept; none where it is not what the digest says.
#[must_use]
pub fn read_policy(digest: &str, text: &str) -> Option<Policy> {
    let policy = Policy::from_toml(text).ok()?;
    (policy.digest() == digest).then_some(policy)
}

/// A payload that the user wanted kept: JSON, already redacted. The store does not look into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured(Box<str>);

impl Captured {
    /// Wraps a JSON text that was redacted before.
    #[must_use]
    pub fn new(json: impl Into<Box<str>>) -> Self {
        Self(json.into())
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An event on its way into the log.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The event, digested; what it leaves open is filled in by the store.
    pub observation: Observation,
    /// The policy to judge it under.
    pub policy: Arc<ActivePolicy>,
    /// Its payload, where capture is on.
    pub captured: Option<Captured>,
}
