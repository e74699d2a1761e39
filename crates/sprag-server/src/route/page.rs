//! The first page, where the operator's link leads.

use axum::http::HeaderMap;
use axum::response::Response;

use crate::dashboard;
use crate::wire;

/// The dashboard
///
/// A login code in the fragment of the address is exchanged by the page itself; the server never sees it here.
#[utoipa::path(
    get,
    path = "/",
    tag = "server",
    security(()),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        wire::AnyRole,
    ),
)]
pub(crate) async fn index(headers: HeaderMap) -> Response {
    dashboard::index(&headers)
}
