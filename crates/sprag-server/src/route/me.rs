//! Who asks, and what answers: what a page needs before anything else.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::wire;

/// Who asks, and what answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    /// What the asker may do: `agent`, `relay`, `hook`, `operator` or `viewer`.
    #[schema(example = "operator")]
    role: String,
    /// What the asker's token is called.
    name: String,
    /// The name of the token that opened this dashboard; orders are logged under it.
    #[schema(required)]
    person: Option<String>,
    /// The version of the server.
    version: &'static str,
    /// What keeps the log: `sqlite`, `memory`.
    store: &'static str,
}

/// Who am I
#[utoipa::path(
    get,
    path = "/v1/me",
    tag = "server",
    security((), ("token" = [])),
    responses((status = 200, description = "The asker, and the server", body = Me), wire::AnyRole),
)]
pub(crate) async fn me(State(app): State<App>, caller: Caller) -> Result<axum::Json<Me>, Problem> {
    let status = app.with_store(|app| Ok(app.guard().status())).await?;
    Ok(axum::Json(Me {
        role: caller.role.to_string(),
        name: caller.name.to_string(),
        person: caller.person.map(|person| person.to_string()),
        version: env!("CARGO_PKG_VERSION"),
        store: status.kind,
    }))
}
