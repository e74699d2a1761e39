//! The policy in force, for commands that look at it themselves.

use std::path::Path;

use serde_json::{Value, json};
use sprag::{PolicyFile, PolicyFileError};
use sprag_core::Policy;

use crate::failure::Failure;
use crate::settings::Settings;

/// The policy that these settings and the `--policy` flag lead to.
pub(crate) fn load(settings: &Settings, flag: Option<&Path>) -> Result<Policy, Failure> {
    match settings.policy_file(flag) {
        Some(file) => Ok(file.load()?),
        None => Ok(Policy::default()),
    }
}

/// The same policy and, as JSON, what its file says; empty if there is no file.
pub(crate) fn load_with_document(
    settings: &Settings,
    flag: Option<&Path>,
) -> Result<(Policy, Value), Failure> {
    match settings.policy_file(flag) {
        Some(file) => load_document(&file),
        None => Ok((Policy::default(), json!({}))),
    }
}

/// The policy in `file` and, as JSON, what the file says; empty if it may be missing and is.
pub(crate) fn load_document(file: &PolicyFile) -> Result<(Policy, Value), Failure> {
    let text = file.text()?;
    let policy = file.parse(text.as_deref())?;
    let document = match text {
        None => json!({}),
        Some(text) if file.is_json() => {
            serde_json::from_str(&text).map_err(|error| Failure::new(error.to_string()))?
        }
        Some(text) => as_json(&text)?,
    };
    Ok((policy, document))
}

/// TOML as JSON.
pub(crate) fn as_json(text: &str) -> Result<Value, Failure> {
    toml::from_str(text).map_err(|error| Failure::new(error.to_string()))
}

impl From<PolicyFileError> for Failure {
    fn from(error: PolicyFileError) -> Self {
        let failure = Self::new(error.to_string());
        match error.advice() {
            Some(advice) => failure.next(advice),
            None => failure,
        }
    }
}
