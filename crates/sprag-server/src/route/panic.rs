//! A panic: everything that agents do is refused, and its end.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::Panic;
use utoipa::ToSchema;

use super::orders::OrderRequest;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{Operator, Reader};
use crate::problem::Problem;
use crate::wire;

/// Why, and who asks.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PanicOrder {
    /// The reason, for the log and for the agents.
    #[schema(min_length = 1, max_length = 1000)]
    why: String,
    /// Who asks, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
}

/// Whether everything that agents do is refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PanicState {
    /// Whether a panic is in force.
    panic: bool,
    /// Who asked for it.
    #[schema(required)]
    by: Option<String>,
    /// The reason.
    #[schema(required)]
    why: Option<String>,
}

/// What the end of a panic changed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CalmResult {
    /// Whether a panic is still in force: a file keeps one up until it is removed.
    panic: bool,
    /// Whether a panic was in force by an order until now.
    ended: bool,
}

impl From<Option<Panic>> for PanicState {
    fn from(panic: Option<Panic>) -> Self {
        let text = |text: Option<Box<str>>| text.map(String::from);
        let is_on = panic.is_some();
        let panic = panic.unwrap_or_default();
        Self {
            panic: is_on,
            by: text(panic.by),
            why: text(panic.why),
        }
    }
}

/// Whether a panic is in force
#[utoipa::path(
    get,
    path = "/v1/panic",
    tag = "policy",
    responses((status = 200, description = "The panic, or none", body = PanicState), wire::OperatorOnly),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
) -> Result<axum::Json<PanicState>, Problem> {
    app.blocking(|app| Ok(axum::Json(app.guard().panicked()?.into())))
        .await
}

/// Refuse everything that agents do
///
/// Users' words pass. It holds for every process that shares the store, and a pause does not lift it.
#[utoipa::path(
    post,
    path = "/v1/panic",
    tag = "policy",
    request_body = PanicOrder,
    responses(
        (status = 200, description = "The panic", body = PanicState),
        wire::Bodied,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn panic(
    State(app): State<App>,
    operator: Operator,
    JsonBody(order): JsonBody<PanicOrder>,
) -> Result<axum::Json<PanicState>, Problem> {
    OrderRequest::check(&order.why, order.by.as_deref())?;
    let by = operator.signs(order.by.as_deref());
    app.blocking(move |app| {
        let panic = app.guard().panic(&by, &order.why)?;
        Ok(axum::Json(Some(panic).into()))
    })
    .await
}

/// End a panic
#[utoipa::path(
    post,
    path = "/v1/calm",
    tag = "policy",
    request_body = PanicOrder,
    responses(
        (status = 200, description = "What that changed", body = CalmResult),
        wire::Bodied,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn calm(
    State(app): State<App>,
    operator: Operator,
    JsonBody(order): JsonBody<PanicOrder>,
) -> Result<axum::Json<CalmResult>, Problem> {
    OrderRequest::check(&order.why, order.by.as_deref())?;
    let by = operator.signs(order.by.as_deref());
    app.blocking(move |app| {
        let ended = app.guard().calm(&by, &order.why)?.is_some();
        let panic = app.guard().panicked()?.is_some();
        Ok(axum::Json(CalmResult { panic, ended }))
    })
    .await
}
