//! A policy while it is being written: whether it is right, and what it would stand beside.

use serde::{Deserialize, Serialize};
use sprag::policy_edit::{self, OverrideTarget, Value};
use sprag::{Decision, Policy, RuleId};
use sprag_review::explain;
use utoipa::ToSchema;

use super::replay::read_policy;
use crate::body::JsonBody;
use crate::caller::Reader;
use crate::param::bad;
use crate::problem::Problem;
use crate::wire;

/// A policy that is not in force.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PolicyDraft {
    /// It, as TOML text.
    text: String,
}

/// A policy that is right.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyDigest {
    /// The digest that it would have.
    digest: String,
}

/// What there is to set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyDefaults {
    /// The built-in policy as TOML, every key in it.
    text: String,
    /// The rules, in their order.
    rules: Vec<RuleText>,
}

/// A rule, for who reads the policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RuleText {
    /// Its id.
    #[schema(example = "flow.depth")]
    id: &'static str,
    /// The keys that hold its limits.
    #[schema(value_type = Vec<String>)]
    keys: &'static [&'static str],
    /// What it answers, the mildest first.
    #[schema(value_type = Vec<wire::Decision>)]
    verdicts: &'static [Decision],
    /// Why it exists.
    why: &'static str,
    /// What makes it trip.
    trips: &'static str,
    /// What makes it let go again.
    resets: &'static str,
    /// How to set it.
    tune: &'static str,
    /// Cases in which people expect something else.
    #[schema(value_type = Vec<String>)]
    odd: &'static [&'static str],
}

/// Check a policy
///
/// Every mistake is told, with its key and line. Nothing is changed.
#[utoipa::path(
    post,
    path = "/v1/policy/check",
    tag = "policy",
    request_body = PolicyDraft,
    responses(
        (status = 200, description = "It is right", body = PolicyDigest),
        wire::Bodied, wire::PolicyWrong, wire::OperatorOnly,
    ),
)]
pub(crate) async fn check(
    _: Reader,
    JsonBody(draft): JsonBody<PolicyDraft>,
) -> Result<axum::Json<PolicyDigest>, Problem> {
    let policy = read_policy(&draft.text)?;
    Ok(axum::Json(PolicyDigest {
        digest: policy.digest(),
    }))
}

/// One change of a policy's text.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PolicyEdit {
    /// The text, as TOML.
    text: String,
    /// The key, or the rule whose mode is set.
    #[schema(example = "flow.max_depth")]
    key: String,
    /// The value, as TOML; a word may stand without quotes.
    #[schema(example = "6")]
    value: String,
    /// For these agents only: a name or a glob.
    agent: Option<String>,
    /// For these sessions only: a name or a glob.
    session: Option<String>,
}

/// A policy's text after the change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EditedPolicy {
    /// The text, as TOML; comments and order stay.
    text: String,
}

/// Set one key in a policy's text
///
/// It is what `sprag policy set` does to a file: comments and order stay. Nothing is changed but the text that is
/// answered.
#[utoipa::path(
    post,
    path = "/v1/policy/edit",
    tag = "policy",
    request_body = PolicyEdit,
    responses(
        (status = 200, description = "The new text", body = EditedPolicy),
        wire::Bodied, wire::PolicyWrong, wire::OperatorOnly,
    ),
)]
pub(crate) async fn edit(
    _: Reader,
    JsonBody(edit): JsonBody<PolicyEdit>,
) -> Result<axum::Json<EditedPolicy>, Problem> {
    let is_rule = edit.key.parse::<RuleId>().is_ok();
    let path: Vec<&str> = match is_rule && Policy::default().get(&edit.key).is_none() {
        true => vec!["rules", &edit.key],
        false => edit.key.split('.').collect(),
    };
    let value = edit.value.trim();
    let value = value.parse().unwrap_or_else(|_| Value::from(value));
    let who = OverrideTarget {
        agent: edit.agent.as_deref(),
        session: edit.session.as_deref(),
    };
    let edited = policy_edit::set(&edit.text, &path, value, who);
    let text = edited.map_err(|error| bad("text", error))?.text;
    read_policy(&text)?;
    Ok(axum::Json(EditedPolicy { text }))
}

/// What there is to set
#[utoipa::path(
    get,
    path = "/v1/policy/defaults",
    tag = "policy",
    responses((status = 200, description = "The built-in policy and the rules", body = PolicyDefaults), wire::OperatorOnly),
)]
pub(crate) async fn defaults(_: Reader) -> axum::Json<PolicyDefaults> {
    let rule = |rule: &RuleId| {
        let explained = explain(*rule);
        RuleText {
            id: rule.as_str(),
            keys: explained.keys,
            verdicts: explained.verdicts,
            why: explained.why,
            trips: explained.trips,
            resets: explained.resets,
            tune: explained.tune,
            odd: explained.odd,
        }
    };
    axum::Json(PolicyDefaults {
        text: Policy::default().to_toml(),
        rules: RuleId::ALL.iter().map(rule).collect(),
    })
}
