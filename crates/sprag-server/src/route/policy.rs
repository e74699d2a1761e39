//! The policy in force: seen, replaced, and what it was before.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sprag::{GuardError, LogQuery, LogScope, PolicyFileError, Record, Reload};
use sprag_store::Noted;
use utoipa::{IntoParams, ToSchema};

use super::orders::OrderRequest;
use super::pause::PauseState;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{Operator, Reader};
use crate::param::{ApiQuery, PathId, page};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// The policy in force.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyResponse {
    /// Its digest: each record names the policy it was judged under by it.
    digest: String,
    /// The whole policy as TOML, defaults included.
    text: String,
    /// The policy file as it was written, with its comments; null where there is none yet.
    #[schema(required)]
    file_text: Option<String>,
    /// Where the policy file is; null where the policy can't be changed here.
    #[schema(required)]
    file: Option<String>,
    /// The pause that is in force.
    pause: PauseState,
}

/// A new policy.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PolicyOrder {
    /// The new policy file, whole: TOML, or JSON where the file is JSON.
    text: String,
    /// The reason, for the log.
    #[schema(min_length = 1, max_length = 1000)]
    why: String,
    /// Who asks, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
    /// The digest of the policy that this was made from; refused where another is in force by now.
    base: Option<String>,
}

/// What came of a new policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyReplaced {
    /// Whether another policy is in force now; a new layout of the same one changes nothing.
    changed: bool,
    /// The digest of the one before.
    from: String,
    /// The digest of the one in force.
    digest: String,
}

/// PolicyHistoryQuery part of the history.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PolicyHistoryQuery {
    /// The `next` of the page before.
    after: Option<u64>,
    /// How many.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// A part of the history, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyHistory {
    /// The changes.
    items: Vec<PolicyChange>,
    /// The `after` of the next page; null at the end.
    #[schema(required)]
    next: Option<u64>,
}

/// One change of the policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyChange {
    /// The number of its record.
    seq: u64,
    /// When.
    at: u64,
    /// The digest of the policy in force from then on.
    digest: String,
    /// What happened: `policy_loaded`, `policy_changed` or `policy_rejected`, with who, why and from where.
    #[schema(value_type = serde_json::Map<String, Value>)]
    note: Value,
}

/// A policy that was in force once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyText {
    /// Its digest.
    digest: String,
    /// All of it as TOML, defaults included.
    text: String,
}

/// The policy in force
#[utoipa::path(
    get,
    path = "/v1/policy",
    tag = "policy",
    responses((status = 200, description = "The policy", body = PolicyResponse), wire::OperatorOnly),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
) -> Result<axum::Json<PolicyResponse>, Problem> {
    app.blocking(|app| {
        let policy = app.guard().policy();
        let path = app.policy_file().map(|file| file.path());
        Ok(axum::Json(PolicyResponse {
            digest: policy.digest(),
            text: policy.to_toml(),
            file_text: path.and_then(|path| std::fs::read_to_string(path).ok()),
            file: path.map(|path| path.display().to_string()),
            pause: app.guard().paused()?.into(),
        }))
    })
    .await
}

/// Replace the policy
///
/// The whole file is written in one step and taken at once, or not at all. Every mistake is told, with its key
/// and line. The log keeps who and why.
#[utoipa::path(
    put,
    path = "/v1/policy",
    tag = "policy",
    request_body = PolicyOrder,
    responses(
        (status = 200, description = "It is in force", body = PolicyReplaced),
        wire::Conflicting, wire::Bodied, wire::PolicyWrong, wire::OperatorOnly,
    ),
)]
pub(crate) async fn replace(
    State(app): State<App>,
    operator: Operator,
    JsonBody(order): JsonBody<PolicyOrder>,
) -> Result<axum::Json<PolicyReplaced>, Problem> {
    OrderRequest::check(&order.why, order.by.as_deref())?;
    let by = operator.signs(order.by.as_deref());
    app.blocking(move |app| {
        let before = app.guard().policy_digest();
        let base = order.base.as_deref();
        let came = app
            .guard()
            .replace_policy(&order.text, base, &by, &order.why)
            .map_err(refused)?;
        Ok(axum::Json(match came {
            Reload::Changed { from, to } => PolicyReplaced {
                changed: true,
                from,
                digest: to,
            },
            _ => PolicyReplaced {
                changed: false,
                from: before,
                digest: app.guard().policy_digest(),
            },
        }))
    })
    .await
}

fn refused(error: GuardError) -> Problem {
    match error {
        GuardError::Policy(PolicyFileError::Wrong { errors, .. }) => Problem::policy(&errors),
        GuardError::PolicyMoved { .. } | GuardError::NoPolicyFile => {
            Problem::new(ProblemKind::Conflict, error.to_string())
        }
        other => other.into(),
    }
}

/// What the policy was before
#[utoipa::path(
    get,
    path = "/v1/policy/history",
    tag = "policy",
    params(PolicyHistoryQuery),
    responses((status = 200, description = "Its changes", body = PolicyHistory), wire::OperatorOnly),
)]
pub(crate) async fn history(
    State(app): State<App>,
    _: Reader,
    ApiQuery(which): ApiQuery<PolicyHistoryQuery>,
) -> Result<axum::Json<PolicyHistory>, Problem> {
    let size = page(which.limit)?;
    app.heavy(move |app| changes(app, which.after, size)).await
}

fn changes(
    app: &App,
    after: Option<u64>,
    size: usize,
) -> Result<axum::Json<PolicyHistory>, Problem> {
    let mut query = LogQuery {
        scope: LogScope::Notes,
        newest_first: true,
        after,
        ..LogQuery::default()
    };
    let mut items = Vec::new();
    loop {
        let found = app.guard().records(&query)?;
        let mut changes = found.items.iter().filter_map(PolicyChange::of);
        items.extend(changes.by_ref().take(size - items.len()));
        let more = changes.next().is_some();
        let next = items.last().map(|item: &PolicyChange| item.seq);
        match found.next {
            _ if more => return Ok(axum::Json(PolicyHistory { items, next })),
            Some(next) => query.after = Some(next),
            None => return Ok(axum::Json(PolicyHistory { items, next: None })),
        }
    }
}

impl PolicyChange {
    fn of(record: &Record) -> Option<Self> {
        let note = record.note().filter(|note| {
            matches!(
                note,
                Noted::PolicyLoaded { .. }
                    | Noted::PolicyChanged { .. }
                    | Noted::PolicyRejected { .. }
            )
        })?;
        Some(Self {
            seq: record.seq,
            at: record.at.0,
            digest: record.policy.clone(),
            note: serde_json::to_value(note).ok()?,
        })
    }
}

/// A policy that was in force once
#[utoipa::path(
    get,
    path = "/v1/policy/history/{digest}",
    tag = "policy",
    params(("digest" = String, Path, description = "Its digest", min_length = 1, max_length = 256)),
    responses(
        (status = 200, description = "Its text", body = PolicyText),
        wire::Missing,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn once(
    State(app): State<App>,
    _: Reader,
    PathId(digest): PathId,
) -> Result<axum::Json<PolicyText>, Problem> {
    app.blocking(move |app| {
        let text = app.guard().store().policy_text(digest.as_str())?;
        let none = || {
            Problem::new(
                ProblemKind::NotFound,
                format!("the log knows no policy {digest}"),
            )
        };
        Ok(axum::Json(PolicyText {
            text: text.ok_or_else(none)?,
            digest: digest.to_string(),
        }))
    })
    .await
}

/// The JSON Schema of policies
#[utoipa::path(
    get,
    path = "/v1/policy/schema",
    tag = "policy",
    responses((status = 200, description = "The schema", body = serde_json::Map<String, Value>), wire::Public),
)]
pub(crate) async fn schema() -> axum::Json<Value> {
    axum::Json(sprag_core::policy_schema())
}
