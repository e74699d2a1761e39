//! One flow: who called whom, how deep, what came back and what was refused.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::{Id, LogQuery, LogScope};
use utoipa::{IntoParams, ToSchema};

use super::stops::text;
use crate::activity::{FlowFilter, FlowRow, Span};
use crate::app::App;
use crate::caller::Reader;
use crate::flow_tree::{FlowCall, FlowNode, FlowTree};
use crate::limits;
use crate::param::{ApiQuery, PathId, id, page};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// One flow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Flow {
    /// Its correlation id.
    #[schema(value_type = String)]
    flow: Id,
    /// When its first record was made.
    started: u64,
    /// When its last record was made.
    touched: u64,
    /// Who took part, in the order in which they came; `parent` makes a tree of them.
    sessions: Vec<FlowNode>,
    /// The messages, oldest first.
    calls: Vec<FlowCall>,
    /// There are more records than are shown.
    cut: bool,
}

/// Which flows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FlowsQuery {
    /// Only those whose id, sessions or agents hold this text, in any case.
    q: Option<String>,
    /// Only those that this agent took part in.
    #[param(min_length = 1, max_length = 256)]
    agent: Option<String>,
    /// Only those in which something was refused.
    refused: Option<bool>,
    /// Only those that were active at or after this time, in milliseconds since 1970.
    from: Option<u64>,
    /// Only those that began before this time, in milliseconds since 1970.
    to: Option<u64>,
    /// Leave out so many first.
    offset: Option<usize>,
    /// How many.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// A part of the flows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowPage {
    /// The flows, the most recently active first.
    items: Vec<FlowRow>,
    /// How many match, on all pages together.
    total: usize,
    /// From when on nothing is missing; null if nothing is missing at all.
    #[schema(required)]
    complete_since: Option<u64>,
    /// Whether the log from before the start was read.
    ready: bool,
}

/// List flows
#[utoipa::path(
    get,
    path = "/v1/flows",
    tag = "sessions",
    params(FlowsQuery),
    responses((status = 200, description = "A page of them", body = FlowPage), wire::OperatorOnly),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _: Reader,
    ApiQuery(query): ApiQuery<FlowsQuery>,
) -> Result<axum::Json<FlowPage>, Problem> {
    let agent = query.agent.as_deref().map(|text| id("agent", text));
    let filter = FlowFilter {
        span: Span {
            from: query.from,
            to: query.to,
        },
        text: text(query.q.as_deref()),
        agent: agent.transpose()?,
        refused: query.refused.unwrap_or(false),
    };
    let size = page(query.limit)?;
    app.blocking(move |app| {
        Ok(axum::Json(app.activity().ask(|ledger, ready| {
            let flows = ledger.flows.list(&filter);
            let total = flows.len();
            let chosen = flows.into_iter().skip(query.offset.unwrap_or(0));
            FlowPage {
                items: chosen.take(size).collect(),
                total,
                complete_since: ledger.complete_since(),
                ready,
            }
        })))
    })
    .await
}

/// The call tree of a flow
#[utoipa::path(
    get,
    path = "/v1/flows/{id}",
    tag = "sessions",
    params(("id" = String, Path, description = "The flow's correlation id", min_length = 1, max_length = 256)),
    responses(
        (status = 200, description = "Who called whom", body = Flow),
        wire::Missing,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
    PathId(flow): PathId,
) -> Result<axum::Json<Flow>, Problem> {
    app.heavy(move |app| read(app, flow)).await
}

fn read(app: &App, flow: Id) -> Result<axum::Json<Flow>, Problem> {
    let mut query = LogQuery {
        scope: LogScope::Flow(flow.clone()),
        ..LogQuery::default()
    };
    let mut tree = FlowTree::default();
    let mut span = None;
    let mut cut = false;
    while !cut {
        let page = app.guard().records(&query)?;
        for record in &page.items {
            if tree.len() == limits::FLOW_MESSAGES {
                cut = true;
                break;
            }
            tree.observe(record);
            let (started, _) = span.unwrap_or((record.at.0, record.at.0));
            span = Some((started, record.at.0));
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    let Some((started, touched)) = span else {
        let detail = format!("the log holds nothing of flow {flow}");
        return Err(Problem::new(ProblemKind::NotFound, detail));
    };
    let (mut sessions, calls) = tree.finish();
    for node in &mut sessions {
        let session = app.guard().session(node.session().as_str())?;
        node.stands(session.map(|session| session.summary.state));
    }
    Ok(axum::Json(Flow {
        flow,
        started,
        touched,
        sessions,
        calls,
        cut,
    }))
}
