//! Counts over time, for charts.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::Reader;
use crate::param::ApiQuery;
use crate::problem::Problem;
use crate::stats::{StatsQuery, StatsResponse};
use crate::wire;

/// Which time, and how fine.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct When {
    /// From when on, in milliseconds since 1970; an hour ago where it is not said.
    since: Option<u64>,
    /// Up to when, in milliseconds since 1970; until now where it is not said.
    until: Option<u64>,
    /// The least length of a bucket, in seconds: 10, 300 or 3600 are kept.
    step: Option<u64>,
}

/// What happened over time
#[utoipa::path(
    get,
    path = "/v1/stats",
    tag = "server",
    params(When),
    responses((status = 200, description = "Counts in buckets", body = StatsResponse), wire::OperatorOnly),
)]
pub(crate) async fn stats(
    State(app): State<App>,
    _: Reader,
    ApiQuery(when): ApiQuery<When>,
) -> Result<axum::Json<StatsResponse>, Problem> {
    let query = StatsQuery {
        since: when.since,
        until: when.until,
        step: when.step,
    };
    Ok(axum::Json(app.stats().answer(&query, app.guard().now())))
}
