//! One order to many sessions: those that were selected, or those of a group of stops.

use std::collections::BTreeSet;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::{Event, Id};
use utoipa::ToSchema;

use super::orders::OrderRequest;
use super::stops::is_stopped;
use crate::activity::{StopFilter, group_number};
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::Operator;
use crate::limits;
use crate::param::{bad, id};
use crate::problem::Problem;
use crate::wire;

/// Which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BulkOrder {
    /// Everything in them is refused until a reset.
    Kill,
    /// They start their next generation with nothing held against them.
    Reset,
}

/// One order to many sessions.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct BulkOrderRequest {
    /// Which order.
    order: BulkOrder,
    /// To these sessions.
    #[serde(default)]
    #[schema(max_items = 500)]
    sessions: Vec<String>,
    /// To the sessions of this group of stops that are still stopped; a reset only.
    #[schema(nullable = false)]
    group: Option<String>,
    /// The reason, for the log.
    #[schema(min_length = 1, max_length = 1000, example = "the catalogue was down")]
    why: String,
    /// Who gives it, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
}

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkOrderResponse {
    /// The sessions that obeyed.
    #[schema(value_type = Vec<String>)]
    done: Vec<Id>,
    /// Those that could not be reached, with the reason.
    failed: Vec<OrderFailure>,
    /// How many of the group are left for another request.
    left: u64,
    /// Who gave the order, as the log has it.
    by: String,
}

/// A session that an order did not reach.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderFailure {
    /// The session.
    #[schema(value_type = String)]
    session: Id,
    /// Why not.
    why: String,
}

/// Kill or reset many sessions
///
/// Each session gets an order of its own, and the log a record of each. At most 500 a request.
#[utoipa::path(
    post,
    path = "/v1/orders",
    tag = "sessions",
    request_body = BulkOrderRequest,
    responses(
        (status = 200, description = "Whom it reached", body = BulkOrderResponse),
        wire::Bodied,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn order(
    State(app): State<App>,
    operator: Operator,
    JsonBody(request): JsonBody<BulkOrderRequest>,
) -> Result<axum::Json<BulkOrderResponse>, Problem> {
    OrderRequest::check(&request.why, request.by.as_deref())?;
    let (sessions, left) = chosen(&app, &request).await?;
    let by = operator.signs(request.by.as_deref());
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for session in sessions {
        let mut event = match request.order {
            BulkOrder::Kill => Event::kill(session.as_str())?,
            BulkOrder::Reset => Event::reset(session.as_str())?,
        };
        if let Event::Kill(order) | Event::Reset(order) = &mut event {
            order.by = Some(by.as_str().into());
            order.why = Some(request.why.as_str().into());
        }
        match app.decide(operator.sender(), event, None).await {
            Ok(_) => done.push(session),
            Err(problem) => failed.push(OrderFailure {
                session,
                why: problem.to_string(),
            }),
        }
    }
    Ok(axum::Json(BulkOrderResponse {
        done,
        failed,
        left,
        by,
    }))
}

/// The sessions that are meant, and how many more there are.
async fn chosen(app: &App, request: &BulkOrderRequest) -> Result<(Vec<Id>, u64), Problem> {
    let most = limits::MAX_PAGE;
    let Some(group) = &request.group else {
        if request.sessions.is_empty() || request.sessions.len() > most {
            return Err(bad("sessions", format!("name 1 to {most}, or a group")));
        }
        let ids = request.sessions.iter().map(|text| id("sessions", text));
        let ids: BTreeSet<Id> = ids.collect::<Result<_, _>>()?;
        return Ok((ids.into_iter().collect(), 0));
    };
    if !request.sessions.is_empty() {
        return Err(bad("group", "name sessions or a group, not both"));
    }
    if request.order == BulkOrder::Kill {
        return Err(bad(
            "order",
            "a group holds what was stopped; it can be reset",
        ));
    }
    let number = group_number(group).ok_or_else(|| bad("group", "it is no group of stops"))?;
    app.blocking(move |app| {
        let filter = StopFilter {
            group: Some(number),
            ..StopFilter::default()
        };
        let members: BTreeSet<Id> = app.activity().ask(|ledger, _| {
            let stops = ledger.stops_of(&filter);
            stops.map(|stop| stop.session().clone()).collect()
        });
        let (mut stopped, mut left) = (Vec::new(), 0);
        for session in members {
            if stopped.len() == most {
                left += 1;
            } else if is_stopped(app, &session)? {
                stopped.push(session);
            }
        }
        Ok((stopped, left))
    })
    .await
}
