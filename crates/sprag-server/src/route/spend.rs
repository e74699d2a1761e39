//! What was spent: by whom, when, and by what was stopped in the end.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa::ToSchema;

use crate::activity::{Span, Spend, SpendBy, SpendRow, StopFilter};
use crate::app::App;
use crate::caller::Reader;
use crate::param::{ApiQuery, bad, id, page};
use crate::problem::Problem;
use crate::wire;

/// What spending to add up.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SpendQuery {
    /// By what to add it up; by agent if nothing is said.
    #[param(inline)]
    by: Option<SpendBy>,
    /// Only that of this agent.
    #[param(min_length = 1, max_length = 256)]
    agent: Option<String>,
    /// Not before the hour of this time, in milliseconds since 1970.
    from: Option<u64>,
    /// Not after the hour of this time, in milliseconds since 1970.
    to: Option<u64>,
    /// Leave out so many rows first.
    offset: Option<usize>,
    /// How many rows.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// What was spent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SpendPage {
    /// All of it.
    total: Spend,
    /// What sessions had spent by the time a rule stopped them, each counted once.
    stopped: Spend,
    /// A part of the rows, the most expensive first; days and hours in their order.
    items: Vec<SpendRow>,
    /// How many rows there are.
    rows: usize,
    /// Over time: days, or hours for a span of two days or less.
    times: Vec<SpendRow>,
    /// The length of one of those times, in seconds.
    step: u64,
    /// From when on nothing is missing; null if nothing is missing at all.
    #[schema(required)]
    complete_since: Option<u64>,
    /// Whether the log from before the start was read.
    ready: bool,
}

/// Spans up to this length are shown by the hour.
const BY_HOUR_MS: u64 = 49 * 3_600_000;

/// What was spent
///
/// Tokens and money from the usage that was reported. No record is read for it: the server adds usage up as it comes,
/// by session and hour, so the ends of a span count as whole hours.
#[utoipa::path(
    get,
    path = "/v1/spend",
    tag = "server",
    params(SpendQuery),
    responses((status = 200, description = "What was spent", body = SpendPage), wire::OperatorOnly),
)]
pub(crate) async fn spend(
    State(app): State<App>,
    _: Reader,
    ApiQuery(query): ApiQuery<SpendQuery>,
) -> Result<axum::Json<SpendPage>, Problem> {
    let agent = query.agent.as_deref().map(|text| id("agent", text));
    let (agent, size) = (agent.transpose()?, page(query.limit)?);
    if let (Some(from), Some(to)) = (query.from, query.to)
        && from >= to
    {
        return Err(bad("to", "it must be after `from`"));
    }
    let span = Span {
        from: query.from,
        to: query.to,
    };
    let now = app.guard().now().0;
    let length = query
        .to
        .unwrap_or(now)
        .saturating_sub(query.from.unwrap_or(0));
    let (by_time, step) = match length <= BY_HOUR_MS {
        true => (SpendBy::Hour, 3_600),
        false => (SpendBy::Day, 86_400),
    };
    app.blocking(move |app| {
        let filter = StopFilter {
            span,
            agent: agent.clone(),
            shadow: Some(false),
            ..StopFilter::default()
        };
        Ok(axum::Json(app.activity().ask(|ledger, ready| {
            let rows = ledger.spend(query.by.unwrap_or_default(), span, agent.as_ref());
            SpendPage {
                total: ledger.spent(span, agent.as_ref()),
                stopped: ledger.spent_when_stopped(&filter),
                rows: rows.len(),
                items: rows
                    .into_iter()
                    .skip(query.offset.unwrap_or(0))
                    .take(size)
                    .collect(),
                times: ledger.spend(by_time, span, agent.as_ref()),
                step,
                complete_since: ledger.complete_since(),
                ready,
            }
        })))
    })
    .await
}
