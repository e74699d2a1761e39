//! Everything in shadow for a while, and its end.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::{Millis, Pause};
use utoipa::ToSchema;

use super::orders::OrderRequest;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{Operator, Reader};
use crate::param::bad;
use crate::problem::Problem;
use crate::wire;

/// How long, and why.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PauseOrder {
    /// How long, as `20m` or `1h`.
    #[serde(rename = "for")]
    #[schema(example = "20m", pattern = "^([0-9]{1,3}(d|h|m|s|ms))+$")]
    span: String,
    /// The reason, for the log.
    #[schema(min_length = 1, max_length = 1000)]
    why: Option<String>,
    /// Who asks, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
}

/// Who ends it.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ResumeOrder {
    /// Who asks, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
}

/// Whether rules only report what they would do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PauseState {
    /// Whether a pause is in force.
    paused: bool,
    /// When it ends by itself.
    #[schema(required)]
    until: Option<u64>,
    /// Who asked for it.
    #[schema(required)]
    by: Option<String>,
    /// The reason.
    #[schema(required)]
    why: Option<String>,
}

/// What the end of a pause changed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResumeResult {
    /// Always false: no pause is in force now.
    paused: bool,
    /// Whether a pause was in force until now.
    ended: bool,
}

impl From<Option<Pause>> for PauseState {
    fn from(pause: Option<Pause>) -> Self {
        Self {
            paused: pause.is_some(),
            until: pause.as_ref().and_then(|pause| Some(pause.until?.0)),
            by: pause.as_ref().and_then(|pause| pause.by.clone()),
            why: pause.and_then(|pause| pause.why),
        }
    }
}

/// Whether a pause is in force
#[utoipa::path(
    get,
    path = "/v1/pause",
    tag = "policy",
    responses((status = 200, description = "The pause, or none", body = PauseState), wire::OperatorOnly),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
) -> Result<axum::Json<PauseState>, Problem> {
    app.blocking(|app| Ok(axum::Json(app.guard().paused()?.into())))
        .await
}

/// Put every rule into shadow for a while
///
/// `would` of each verdict holds what it would have been. Killed sessions stay killed. It ends by itself.
#[utoipa::path(
    post,
    path = "/v1/pause",
    tag = "policy",
    request_body = PauseOrder,
    responses(
        (status = 200, description = "The pause", body = PauseState),
        wire::Bodied,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn pause(
    State(app): State<App>,
    operator: Operator,
    JsonBody(order): JsonBody<PauseOrder>,
) -> Result<axum::Json<PauseState>, Problem> {
    OrderRequest::check(order.why.as_deref().unwrap_or("-"), order.by.as_deref())?;
    let span: Millis = order.span.parse().map_err(|error| bad("for", error))?;
    let by = operator.signs(order.by.as_deref());
    app.blocking(move |app| {
        let pause = app.guard().pause(span, &by, order.why.as_deref())?;
        Ok(axum::Json(Some(pause).into()))
    })
    .await
}

/// End a pause
#[utoipa::path(
    post,
    path = "/v1/resume",
    tag = "policy",
    request_body = ResumeOrder,
    responses(
        (status = 200, description = "No pause is in force", body = ResumeResult),
        wire::Bodied,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn resume(
    State(app): State<App>,
    operator: Operator,
    JsonBody(order): JsonBody<ResumeOrder>,
) -> Result<axum::Json<ResumeResult>, Problem> {
    OrderRequest::check("-", order.by.as_deref())?;
    let by = operator.signs(order.by.as_deref());
    app.blocking(move |app| {
        let ended = app.guard().resume(&by)?.is_some();
        Ok(axum::Json(ResumeResult {
            paused: false,
            ended,
        }))
    })
    .await
}
