//! An operator's orders to one session.

use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use sprag::{Event, Id, SessionState};
use utoipa::ToSchema;

use super::check::trace_parent;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::Operator;
use crate::limits;
use crate::param::{PathId, bad};
use crate::problem::Problem;
use crate::wire;

/// Why an order is given.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OrderRequest {
    /// The reason, for the log.
    #[schema(min_length = 1, max_length = 1000, example = "seen enough")]
    why: String,
    /// Who gives it, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
}

/// What came of an order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderResponse {
    /// The session.
    #[schema(value_type = String)]
    session: Id,
    /// What it may do now: `active`, `blocked` or `killed`.
    state: &'static str,
    /// Its generation: a reset starts the next.
    generation: u32,
    /// Who gave the order, as the log has it.
    by: String,
}

impl OrderRequest {
    /// Refuses one that says nothing, or too much.
    pub(crate) fn check(why: &str, by: Option<&str>) -> Result<(), Problem> {
        let most = limits::REASON_BYTES;
        if why.trim().is_empty() {
            return Err(bad("why", "say why; the log keeps it"));
        }
        for (field, text) in [("why", why), ("by", by.unwrap_or_default())] {
            if text.len() > most {
                return Err(bad(field, format!("at most {most} bytes")));
            }
        }
        Ok(())
    }
}

/// Kill a session
///
/// Everything in it and in its sub-agents is refused until a reset. Once this is answered, nothing more is
/// allowed, and the kill is on disk.
#[utoipa::path(
    post,
    path = "/v1/sessions/{id}/kill",
    tag = "sessions",
    params(("id" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    request_body = OrderRequest,
    responses(
        (status = 200, description = "It is killed", body = OrderResponse),
        wire::Bodied,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn kill(
    State(app): State<App>,
    operator: Operator,
    PathId(session): PathId,
    headers: HeaderMap,
    JsonBody(request): JsonBody<OrderRequest>,
) -> Result<axum::Json<OrderResponse>, Problem> {
    let event = Event::kill(session.as_str())?;
    order(&app, event, &operator, &request, trace_parent(&headers)).await
}

/// Reset a session
///
/// It starts its next generation with nothing held against it.
#[utoipa::path(
    post,
    path = "/v1/sessions/{id}/reset",
    tag = "sessions",
    params(("id" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    request_body = OrderRequest,
    responses(
        (status = 200, description = "It is reset", body = OrderResponse),
        wire::Bodied,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn reset(
    State(app): State<App>,
    operator: Operator,
    PathId(session): PathId,
    headers: HeaderMap,
    JsonBody(request): JsonBody<OrderRequest>,
) -> Result<axum::Json<OrderResponse>, Problem> {
    let event = Event::reset(session.as_str())?;
    order(&app, event, &operator, &request, trace_parent(&headers)).await
}

async fn order(
    app: &App,
    mut event: Event,
    operator: &Operator,
    request: &OrderRequest,
    parent: Option<&str>,
) -> Result<axum::Json<OrderResponse>, Problem> {
    OrderRequest::check(&request.why, request.by.as_deref())?;
    let by = operator.signs(request.by.as_deref());
    let session = event.session().clone();
    if let Event::Kill(order) | Event::Reset(order) = &mut event {
        order.by = Some(by.as_str().into());
        order.why = Some(request.why.as_str().into());
    }
    let record = app.decide(operator.sender(), event, parent).await?;
    let id = session.clone();
    let found = app.with_store(move |app| app.guard().session(id.as_str()));
    let state = found.await?.map(|found| found.summary.state);
    Ok(axum::Json(OrderResponse {
        session,
        state: state.map_or("active", SessionState::as_str),
        generation: record.verdict.generation,
        by,
    }))
}
