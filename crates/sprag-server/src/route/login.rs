//! How the dashboard gets its token, and gives it back.
//!
//! There is no cookie. A browser sends a cookie to every port of a host and with requests that other pages make; a
//! header is only ever sent by a page that holds the token. The page keeps it in `sessionStorage`, which no other
//! origin can read and which ends with the tab.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sprag::Role;
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{Caller, Operator};
use crate::param::bad;
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// What proves a person: a login code, or the token of an operator or a viewer.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Login {
    /// The code of a link that `sprag serve` or `sprag open` printed. It is good once, and for 60 seconds.
    #[schema(nullable = false)]
    code: Option<String>,
    /// The operator token, or another token of an operator or a viewer.
    #[schema(nullable = false)]
    token: Option<String>,
}

/// A token for one dashboard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LoginAnswer {
    /// Send it as `Authorization: Bearer`.
    token: String,
    /// What it is called, for `sprag token revoke`.
    #[schema(example = "dashboard-3fa2c1d0")]
    name: String,
    /// When it ends, in milliseconds since the epoch.
    expires: u64,
}

/// A link that opens the dashboard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LoginLink {
    /// It, with the code in its fragment.
    #[schema(example = "http://127.0.0.1:7727/#code=9f…")]
    link: String,
    /// The code alone.
    code: String,
    /// When it ends, in milliseconds since the epoch.
    expires: u64,
}

/// Log a person in
///
/// Exchanges a login code, or the token of an operator or a viewer, for a token of the dashboard, which ends after 12
/// hours and has the same role. What is done with it is logged under the name of the token that it was exchanged for.
#[utoipa::path(
    post,
    path = "/v1/login",
    tag = "server",
    request_body = Login,
    security(()),
    responses(
        (status = 200, description = "The token of this dashboard", body = LoginAnswer),
        wire::Bodied,
        wire::AnyRole,
    ),
)]
pub(crate) async fn login(
    State(app): State<App>,
    JsonBody(login): JsonBody<Login>,
) -> Result<Json<LoginAnswer>, Problem> {
    let (person, role) = match (login.code, login.token) {
        (Some(code), None) => by_code(&app, &code).await?,
        (None, Some(token)) => by_token(&app, &token).await?,
        _ => return Err(bad("the body", "send either `code` or `token`")),
    };
    let owner = person.clone();
    let made = app.blocking(move |app| {
        let made = app.tokens().add_dashboard(&owner, role, app.guard().now());
        made.map_err(|error| {
            let detail = format!("the dashboard's token can't be stored: {error}");
            Problem::new(ProblemKind::Unavailable, detail)
        })
    });
    let made = made.await?;
    let name = &made.name;
    tracing::info!(target: "sprag", "[Operator] {person} opened a dashboard as {role}; its token is {name}");
    Ok(Json(LoginAnswer {
        token: made.token,
        name: made.name,
        expires: made.expires.0,
    }))
}

async fn by_code(app: &App, code: &str) -> Result<(String, Role), Problem> {
    if let Some(person) = app.tokens().redeem(code.trim(), app.guard().now()) {
        return Ok((person, Role::Operator));
    }
    // As slow as a wrong token, and told apart by its words.
    let slow = app.wrong_token().await;
    if slow.status() != 401 {
        return Err(slow);
    }
    let detail =
        "this link was used before or is older than 60 seconds; `sprag open` makes a new one";
    Err(Problem::new(ProblemKind::Unauthorized, detail))
}

async fn by_token(app: &App, token: &str) -> Result<(String, Role), Problem> {
    let holder = app.tokens().holder(token.trim(), app.guard().now());
    match holder {
        Some(holder) if holder.expires.is_some() => Err(no_renewal()),
        Some(holder) if matches!(holder.role, Role::Operator | Role::Viewer) => {
            Ok((holder.name.to_string(), holder.role))
        }
        Some(holder) => {
            let detail = format!(
                "the token {:?} is neither an operator's nor a viewer's",
                holder.name
            );
            Err(Problem::new(ProblemKind::Forbidden, detail))
        }
        None => Err(app.wrong_token().await),
    }
}

/// A token that could make others would never really end.
fn no_renewal() -> Problem {
    let detail = "a token of the dashboard can't be exchanged for another; use the operator token or `sprag open`";
    Problem::new(ProblemKind::Forbidden, detail)
}

/// Make a link that opens the dashboard
///
/// The link works once, and for 60 seconds. `sprag open` asks for it. Tokens of the dashboard can't.
#[utoipa::path(
    post,
    path = "/v1/login/code",
    tag = "server",
    responses(
        (status = 200, description = "The link", body = LoginLink),
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn code(
    State(app): State<App>,
    operator: Operator,
) -> Result<Json<LoginLink>, Problem> {
    if operator.is_dashboard {
        return Err(no_renewal());
    }
    let code = app.tokens().login_code(operator.name(), app.guard().now());
    let code = code.map_err(|error| Problem::new(ProblemKind::Unavailable, error.to_string()))?;
    Ok(Json(LoginLink {
        link: app.link(&code),
        code: code.code,
        expires: code.expires.0,
    }))
}

/// Log out
///
/// Revokes the token of the dashboard that the request is sent with. Other tokens stay good.
#[utoipa::path(
    delete,
    path = "/v1/login",
    tag = "server",
    responses((status = 204, description = "The token is revoked"), wire::AnyRole),
)]
pub(crate) async fn logout(State(app): State<App>, caller: Caller) -> Result<StatusCode, Problem> {
    if caller.expires.is_some() {
        let ended = app.blocking(move |app| {
            let ended = app.tokens().end_dashboard(&caller.name);
            ended.map_err(|error| Problem::new(ProblemKind::Unavailable, error.to_string()))
        });
        ended.await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
