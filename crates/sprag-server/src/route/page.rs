//! The first page, where the operator's link leads.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::login::cookie;
use crate::app::App;
use crate::dashboard;
use crate::param::ApiQuery;
use crate::problem::Problem;
use crate::wire;

/// What the link carries.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct IndexQuery {
    /// The operator token; traded for a cookie at once.
    token: Option<String>,
}

/// The dashboard
///
/// With a token in the address it sets the cookie and leads on to the address without it.
#[utoipa::path(
    get,
    path = "/",
    tag = "server",
    params(IndexQuery),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 303, description = "The token is traded for a cookie"),
        wire::AnyRole,
    ),
)]
pub(crate) async fn index(
    State(app): State<App>,
    ApiQuery(query): ApiQuery<IndexQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match query.token {
        Some(token) => {
            let cookie = cookie(&app, &token).await?;
            let mut response = Redirect::to("/").into_response();
            if let Ok(cookie) = cookie.parse() {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            Ok(response)
        }
        None => Ok(dashboard::index(&headers)),
    }
}
