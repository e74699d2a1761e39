//! Stand-in for reading policies until `sprag-core` does.

use serde_json::Value;
use sprag_core::Policy;

/// Reads a policy.
pub(crate) fn policy_from_value(value: &Value) -> Result<Policy, PolicyErrors> {
    if value.is_object() {
        Ok(Policy::default())
    } else {
        Err(PolicyErrors("a policy is an object".to_owned()))
    }
}

/// Stand-in for what is wrong with a policy.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct PolicyErrors(String);
