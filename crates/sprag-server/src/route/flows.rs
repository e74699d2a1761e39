//! One flow: who called whom, how deep, what came back and what was refused.

use axum::extract::State;
use serde::Serialize;
use sprag::{Id, LogQuery, LogScope};
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::Operator;
use crate::flow_tree::{FlowCall, FlowNode, FlowTree};
use crate::limits;
use crate::param::PathId;
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

/// The call tree of a flow
#[utoipa::path(
    get,
    path = "/v1/flows/{id}",
    tag = "sessions",
    params(("id" = String, Path, description = "The flow's correlation id", min_length = 1, max_length = 256)),
    security(("token" = [])),
    responses(
        (status = 200, description = "Who called whom", body = Flow),
        wire::Missing,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Operator,
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
