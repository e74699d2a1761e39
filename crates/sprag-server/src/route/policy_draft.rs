//! A policy while it is being written: whether it is right, and what it would stand beside.

use serde::{Deserialize, Serialize};
use sprag::{Policy, RuleId, explain};
use utoipa::ToSchema;

use super::replay::read_policy;
use crate::body::JsonBody;
use crate::caller::Operator;
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
    /// What makes it trip.
    trips: &'static str,
}

/// Check a policy
///
/// Every mistake is told, with its key and line. Nothing is changed.
#[utoipa::path(
    post,
    path = "/v1/policy/check",
    tag = "policy",
    request_body = PolicyDraft,
    security(("token" = [])),
    responses(
        (status = 200, description = "It is right", body = PolicyDigest),
        wire::Bodied, wire::PolicyWrong, wire::OperatorOnly,
    ),
)]
pub(crate) async fn check(
    _: Operator,
    JsonBody(draft): JsonBody<PolicyDraft>,
) -> Result<axum::Json<PolicyDigest>, Problem> {
    let policy = read_policy(&draft.text)?;
    Ok(axum::Json(PolicyDigest {
        digest: policy.digest(),
    }))
}

/// What there is to set
#[utoipa::path(
    get,
    path = "/v1/policy/defaults",
    tag = "policy",
    security(("token" = [])),
    responses((status = 200, description = "The built-in policy and the rules", body = PolicyDefaults), wire::OperatorOnly),
)]
pub(crate) async fn defaults(_: Operator) -> axum::Json<PolicyDefaults> {
    let rule = |rule: &RuleId| {
        let explained = explain(*rule);
        RuleText {
            id: rule.as_str(),
            keys: explained.keys,
            trips: explained.trips,
        }
    };
    axum::Json(PolicyDefaults {
        text: Policy::default().to_toml(),
        rules: RuleId::ALL.iter().map(rule).collect(),
    })
}
