//! What every request meets before any route, and every answer on its way out.
//!
//! Two things hold here for everything that is mounted, now or later. Our own credentials are taken out of a request
//! before anything sees it. And an answer that no route of ours made ([`own`]) is somebody else's: a browser must not
//! run it as a page of this origin, and it may not change what the browser keeps for this origin.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::extract::Request as RouteRequest;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use axum::middleware::Next;
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use sprag_http::Hosts;
use tower::Service as _;

use crate::caller::Peer;
use crate::credentials;
use crate::gateway_mount::GatewayMount;
use crate::mcp_mount::McpMount;
use crate::origin;
use crate::problem::{Problem, ProblemKind};
use crate::unread::BodyEnd;

/// What a page of this server may do: nothing that does not come from this server itself.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                   font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
                   form-action 'self'; frame-ancestors 'none'; \
                   require-trusted-types-for 'script'; trusted-types svelte-trusted-html";

/// What an answer of somebody else may do: nothing, and in an origin of its own.
const SANDBOX: &str = "default-src 'none'; sandbox; frame-ancestors 'none'; form-action 'none'";

/// Headers by which an answer acts on its whole origin, beyond the `Access-Control-` family.
const FOR_ORIGINS: [&str; 36] = [
    "set-cookie",
    "set-cookie2",
    "clear-site-data",
    "strict-transport-security",
    "public-key-pins",
    "expect-ct",
    "service-worker-allowed",
    "refresh",
    "link",
    "alt-svc",
    "nel",
    "report-to",
    "reporting-endpoints",
    "sourcemap",
    "x-sourcemap",
    "timing-allow-origin",
    "origin-agent-cluster",
    "permissions-policy",
    "document-policy",
    "content-security-policy-report-only",
    "cross-origin-opener-policy",
    "cross-origin-embedder-policy",
    "speculation-rules",
    "x-permitted-cross-domain-policies",
    "accept-ch",
    "critical-ch",
    "delegate-ch",
    "use-as-dictionary",
    "set-login",
    "secure-session-registration",
    "sec-session-registration",
    "secure-session-challenge",
    "sec-session-challenge",
    "activate-storage-access",
    "observe-browsing-topics",
    "x-dns-prefetch-control",
];

/// Marks an answer that a route of this server made itself.
#[derive(Debug, Clone, Copy)]
struct OwnResponse;

/// The layer around this server's own routes: they read our credentials, and their answers are ours. Whatever is mounted
/// beside them gets neither.
pub(crate) async fn own(request: RouteRequest, next: Next) -> axum::response::Response {
    let (mut parts, body) = request.into_parts();
    credentials::give_back(&mut parts.headers, &parts.extensions);
    let mut response = next.run(RouteRequest::from_parts(parts, body)).await;
    response.extensions_mut().insert(OwnResponse);
    response
}

/// The door and the routes behind it; cheap to clone.
#[derive(Clone)]
pub(crate) struct Edge {
    pub(crate) hosts: std::sync::Arc<Hosts>,
    pub(crate) routes: Router,
    /// MCP servers behind this one.
    pub(crate) mcp: Option<McpMount>,
    /// Model APIs behind this one.
    pub(crate) gateway: Option<GatewayMount>,
}

impl Edge {
    /// Answers one request.
    pub(crate) async fn answer(
        self,
        peer: Peer,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let (request, body_end) = BodyEnd::watch(request);
        let mut response = self.respond(peer, request).await?;
        body_end.announce(&mut response);
        let is_own = response.extensions().get::<OwnResponse>().is_some();
        if is_own {
            protect_own(response.headers_mut());
        } else {
            protect_foreign(response.headers_mut());
        }
        Ok(response)
    }

    async fn respond(
        mut self,
        peer: Peer,
        mut request: Request<Body>,
    ) -> Result<Response<Body>, Infallible> {
        let checked = origin::check(&self.hosts, peer, request.uri(), request.headers());
        if let Err(problem) = checked.and_then(|()| no_token_in(request.uri())) {
            return Ok(problem.into_response());
        }
        credentials::take(&mut request);
        let path = request.uri().path();
        if let Some(mcp) = self.mcp.filter(|mcp| mcp.serves(path)) {
            return Ok(mcp.answer(peer, request).await);
        }
        if let Some(gateway) = self.gateway.filter(|gateway| gateway.serves(path)) {
            return Ok(gateway.answer(peer, request).await);
        }
        request.extensions_mut().insert(peer);
        self.routes.call(request).await
    }
}

/// Refuses a token in an address, which would end up in logs, and go to whatever is behind this server. The first page
/// ignores one, for whoever kept an old link.
fn no_token_in(uri: &axum::http::Uri) -> Result<(), Problem> {
    let is_first_page = uri.path() == "/";
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    if is_first_page || !credentials::holds_token(path.as_bytes()) {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::BadRequest,
        "a token has no place in an address, where logs keep it; send it as a header",
    ))
}

/// Tells browsers what not to do with an answer of ours. Data is only never to be taken for something else; what may
/// be shown as a page gets all of it.
fn protect_own(headers: &mut HeaderMap) {
    const JSON: &[u8] = b"application/json";
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind != Some(JSON) {
        as_page(headers, CSP);
    }
    never_guess(headers);
}

/// Keeps an answer of somebody else from acting as this server.
fn protect_foreign(headers: &mut HeaderMap) {
    let cors = |name: &&HeaderName| name.as_str().starts_with("access-control-");
    let cors: Vec<HeaderName> = headers.keys().filter(cors).cloned().collect();
    for name in cors {
        headers.remove(name);
    }
    for name in FOR_ORIGINS {
        headers.remove(name);
    }
    as_page(headers, SANDBOX);
    never_guess(headers);
}

/// What a browser is told of whatever it may show as a page, in place of what an answer says itself.
fn as_page(headers: &mut HeaderMap, policy: &'static str) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn never_guess(headers: &mut HeaderMap) {
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
