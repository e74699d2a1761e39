//! Trading the operator token for a cookie, so that the dashboard need not keep it.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sprag::{Millis, Role};
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonBody;
use crate::caller::Caller;
use crate::problem::{Problem, ProblemKind};
use crate::tokens::COOKIE;
use crate::wire;

/// How long a login lasts.
const LASTS_DAYS: u64 = 30;

/// The token of an operator.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Login {
    /// It.
    token: String,
}

/// Log an operator in
///
/// Trades an operator token for a cookie that no script can read.
#[utoipa::path(
    post,
    path = "/v1/login",
    tag = "server",
    request_body = Login,
    responses(
        (status = 204, description = "The cookie is set"),
        wire::Bodied,
        wire::AnyRole,
    ),
)]
pub(crate) async fn login(
    State(app): State<App>,
    JsonBody(login): JsonBody<Login>,
) -> Result<Response, Problem> {
    let cookie = cookie(&app, &login.token).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// Log out
#[utoipa::path(
    delete,
    path = "/v1/login",
    tag = "server",
    responses((status = 204, description = "The cookie is gone"), wire::AnyRole),
)]
pub(crate) async fn logout(_: Caller, _: HeaderMap) -> Response {
    let gone = format!("{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response()
}

/// The cookie for an operator's token.
pub(super) async fn cookie(app: &App, token: &str) -> Result<String, Problem> {
    let token = token.trim();
    match app.tokens().holder(token) {
        Some(holder) if holder.role == Role::Operator => {}
        Some(holder) => {
            let detail = format!("the token {:?} is not an operator's", holder.name);
            return Err(Problem::new(ProblemKind::Forbidden, detail));
        }
        None => return Err(app.wrong_token().await),
    }
    let lasts = Millis(LASTS_DAYS * Millis::DAY.0);
    let value = app.tokens().cookie(token, app.guard().now().plus(lasts));
    let secure = if app.is_secure() { "; Secure" } else { "" };
    let age = lasts.0 / 1_000;
    Ok(format!(
        "{COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}"
    ))
}
