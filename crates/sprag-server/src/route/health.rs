//! Whether the server lives, and whether it guards.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// That the server lives.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The version of the server.
    version: &'static str,
}

/// Whether the process lives
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "server",
    responses((status = 200, description = "It does", body = Health), wire::Public),
)]
pub(crate) async fn healthz() -> axum::Json<Health> {
    axum::Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Whether it can decide and remember
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "server",
    responses(
        (status = 200, description = "It can", body = Health),
        wire::Unready,
    ),
)]
pub(crate) async fn readyz(State(app): State<App>) -> Result<axum::Json<Health>, Problem> {
    if *app.ending().borrow() {
        return Err(Problem::new(ProblemKind::Unavailable, "the server ends"));
    }
    let status = app.with_store(|app| Ok(app.guard().status())).await?;
    match status.degraded {
        Some(why) => Err(Problem::new(ProblemKind::Unavailable, why)),
        None => Ok(healthz().await),
    }
}
