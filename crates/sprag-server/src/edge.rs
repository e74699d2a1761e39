//! What every request meets before any route, and every answer on its way out.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use sprag_mcp::http::Hosts;
use tower::Service as _;

use crate::caller::Peer;
use crate::mcp_mount::McpMount;
use crate::origin;

/// What a page of this server may do: nothing that does not come from this server itself.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                   font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
                   form-action 'self'; frame-ancestors 'none'; \
                   require-trusted-types-for 'script'; trusted-types svelte-trusted-html";

/// The door and the routes behind it; cheap to clone.
#[derive(Clone)]
pub(crate) struct Edge {
    pub(crate) hosts: std::sync::Arc<Hosts>,
    pub(crate) routes: Router,
    /// MCP servers behind this one.
    pub(crate) mcp: Option<McpMount>,
}

impl Edge {
    /// Answers one request.
    pub(crate) async fn answer(
        mut self,
        peer: Peer,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let mut response = match origin::check(&self.hosts, peer, request.uri(), request.headers())
        {
            Ok(()) => {
                let path = request.uri().path();
                if let Some(mcp) = self.mcp.filter(|mcp| mcp.serves(path)) {
                    return Ok(mcp.answer(peer, request).await);
                }
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(peer);
                self.routes.call(request).await?
            }
            Err(problem) => problem.into_response(),
        };
        protect(response.headers_mut());
        Ok(response)
    }
}

/// Tells browsers what not to do with an answer. Data is only never to be taken for something else; what may be
/// shown as a page gets all of it.
fn protect(headers: &mut HeaderMap) {
    const PAGES: [(HeaderName, HeaderValue); 4] = [
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(CSP),
        ),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("same-origin"),
        ),
    ];
    const JSON: &[u8] = b"application/json";
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind != Some(JSON) {
        // What is relayed may do even less than our own pages, and says so itself.
        let own = headers.get(header::CONTENT_SECURITY_POLICY).cloned();
        headers.extend(PAGES);
        if let Some(own) = own {
            headers.insert(header::CONTENT_SECURITY_POLICY, own);
        }
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
