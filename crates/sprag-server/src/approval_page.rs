//! The page behind a link in a notification: two buttons, and nothing that depends on who asks.
//!
//! The page is the same for every link. What it shows and what it answers goes through `/v1/links/{code}`, with
//! the secret that only the browser has.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

const PAGE: &str = include_str!("approval_page/page.html");
const SCRIPT: &str = include_str!("approval_page/page.js");
const STYLE: &str = include_str!("approval_page/page.css");

/// The page and its two parts.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let part = |text, kind| get(move || async move { answer(text, kind) });
    Router::new()
        .route("/approve/{code}", part(PAGE, "text/html; charset=utf-8"))
        .route(
            "/approve.js",
            part(SCRIPT, "text/javascript; charset=utf-8"),
        )
        .route("/approve.css", part(STYLE, "text/css; charset=utf-8"))
}

fn answer(text: &'static str, kind: &'static str) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
