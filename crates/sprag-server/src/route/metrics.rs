//! Counts for Prometheus.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::caller::Caller;
use crate::metrics::{METRICS_TYPE, Readings};
use crate::problem::Problem;
use crate::wire;

/// Metrics, as OpenMetrics text
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    security((), ("token" = [])),
    responses(
        (status = 200, description = "The counts", body = String, content_type = "application/openmetrics-text"),
        wire::AnyRole,
    ),
)]
pub(crate) async fn metrics(State(app): State<App>, _: Caller) -> Result<Response, Problem> {
    let text = app.blocking(|app| Ok(app.metrics().encode(&Readings::of(app.guard()))));
    Ok(([(header::CONTENT_TYPE, METRICS_TYPE)], text.await?).into_response())
}
