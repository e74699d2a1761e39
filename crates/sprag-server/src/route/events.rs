//! What one session did, record by record.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sprag::{LogQuery, LogScope, record_json};
use utoipa::{IntoParams, ToSchema};

use super::sessions::{SortOrder, none};
use crate::app::App;
use crate::caller::Reader;
use crate::param::{ApiQuery, PathId, page};
use crate::problem::Problem;
use crate::wire;

/// EventsQuery of them.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// EventsQuery way; newest first (`desc`) where nothing is said.
    #[param(inline)]
    order: Option<SortOrder>,
    /// The `next` of the page before.
    after: Option<u64>,
    /// How many.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// A part of a session's records.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordPage {
    /// The records.
    #[schema(value_type = Vec<wire::Record>)]
    items: Vec<Value>,
    /// The `after` of the next page; null at the end.
    #[schema(required)]
    next: Option<u64>,
}

/// What a session did
#[utoipa::path(
    get,
    path = "/v1/sessions/{id}/events",
    tag = "sessions",
    params(("id" = String, Path, description = "The session", min_length = 1, max_length = 256), EventsQuery),
    responses(
        (status = 200, description = "A page of its records", body = RecordPage),
        wire::Missing,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn events(
    State(app): State<App>,
    _: Reader,
    PathId(session): PathId,
    ApiQuery(query): ApiQuery<EventsQuery>,
) -> Result<axum::Json<RecordPage>, Problem> {
    let log_query = LogQuery {
        scope: LogScope::Session(session.clone()),
        newest_first: query.order.unwrap_or_default() == SortOrder::Desc,
        after: query.after,
        limit: page(query.limit)?,
    };
    app.blocking(move |app| {
        let found = app.guard().records(&log_query)?;
        if found.items.is_empty() && app.guard().session(session.as_str())?.is_none() {
            return Err(none(&session));
        }
        Ok(axum::Json(RecordPage {
            items: found.items.iter().map(record_json).collect(),
            next: found.next,
        }))
    })
    .await
}
