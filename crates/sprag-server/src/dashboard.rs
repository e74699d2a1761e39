//! The dashboard: a page and its parts, as bytes that the build put into the program.
//!
//! Nothing here depends on who asks: the page holds no data, it asks the API with a token that it keeps in
//! `sessionStorage`. Every address of the dashboard answers the same page, which reads the rest from the address itself.
//! Parts carry a digest in their names and may be kept for ever; the page is asked for each time and
//! answered with "not modified" where it is the same.

mod files;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::problem::{Problem, ProblemKind};
use files::Asset;

const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");
/// The addresses of the dashboard, apart from the first page, which the operator's link leads to.
const PAGES: [&str; 15] = [
    "/sessions",
    "/sessions/{*id}",
    "/stops",
    "/stops/{*id}",
    "/agents",
    "/agents/{*id}",
    "/flows",
    "/flows/{*id}",
    "/spend",
    "/rules",
    "/rules/{*id}",
    "/notifications",
    "/policy",
    "/log",
    "/login",
];

/// The page at its other addresses, and its parts.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let page = |headers: HeaderMap| async move { index(&headers) };
    PAGES
        .iter()
        .fold(Router::new(), |router, path| router.route(path, get(page)))
        .route("/assets/{file}", get(part))
        .route(
            "/favicon.svg",
            get(|headers: HeaderMap| async move { named("favicon.svg", &headers, ASK_AGAIN) }),
        )
}

/// The page itself, or why it is not there.
pub(crate) fn index(headers: &HeaderMap) -> Response {
    match files::find("index.html") {
        Some(page) => answer(page, headers, ASK_AGAIN),
        None => (
            [(header::CONTENT_TYPE, "text/html; charset=utf-8")],
            files::plain_page(),
        )
            .into_response(),
    }
}

async fn part(Path(file): Path<String>, headers: HeaderMap) -> Response {
    named(&format!("assets/{file}"), &headers, FOR_EVER)
}

fn named(name: &str, headers: &HeaderMap, caching: HeaderValue) -> Response {
    match files::find(name) {
        Some(asset) => answer(asset, headers, caching),
        None => Problem::new(
            ProblemKind::NotFound,
            "the dashboard has no such part; reload the page, the server may be a newer one",
        )
        .into_response(),
    }
}

fn answer(asset: &Asset, headers: &HeaderMap, caching: HeaderValue) -> Response {
    let (bytes, encoding) = asset.encoded(accepted(headers));
    let tag = asset.tag(encoding);
    let same = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|tags| tags.split(',').any(|known| known.trim() == tag));
    let mut response = if same {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        bytes.into_response()
    };
    let mut put = |name: HeaderName, value: HeaderValue| {
        response.headers_mut().insert(name, value);
    };
    put(header::CONTENT_TYPE, asset.media_type());
    put(header::CACHE_CONTROL, caching);
    put(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        put(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        put(header::ETAG, tag);
    }
    response
}

/// What the browser says it can read.
fn accepted(headers: &HeaderMap) -> &str {
    let accepted = headers.get(header::ACCEPT_ENCODING);
    accepted
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    const PAGE: Asset = Asset {
        name: "index.html",
        plain: b"plain",
        gzip: Some(b"gzip"),
        brotli: Some(b"brotli"),
    };

    #[test]
    fn the_smallest_form_that_the_browser_reads_is_sent() {
        for (accepts, encoding) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("gzip", Some("gzip")),
            ("gzip;q=0, br;q=0", None),
            ("", None),
        ] {
            let answer = answer(&PAGE, &asking(header::ACCEPT_ENCODING, accepts), ASK_AGAIN);
            let sent = answer.headers().get(header::CONTENT_ENCODING);
            assert_eq!(sent.map(HeaderValue::as_bytes), encoding.map(str::as_bytes));
        }
    }

    #[test]
    fn a_page_that_the_browser_has_is_not_sent_again() {
        let first = answer(&PAGE, &HeaderMap::new(), ASK_AGAIN);
        let tag = first.headers().get(header::ETAG).unwrap().clone();
        let known = HeaderMap::from_iter([(header::IF_NONE_MATCH, tag)]);
        assert_eq!(first.status(), StatusCode::OK);
        let again = answer(&PAGE, &known, ASK_AGAIN);
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn the_page_is_there_or_says_why_not() {
        let answer = index(&HeaderMap::new());
        assert_eq!(answer.status(), StatusCode::OK);
        let kind = answer.headers().get(header::CONTENT_TYPE).unwrap();
        assert_eq!(kind, "text/html; charset=utf-8");
    }

    #[test]
    fn an_unknown_part_is_a_problem_and_not_the_page() {
        let answer = named("assets/nothing.js", &HeaderMap::new(), FOR_EVER);
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    }
}
