//! One server behind the proxy: the gate before it, the connections to it, and its address seen from both sides.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Request, Response, StatusCode, Uri};
use sprag_http::{Forwarder, ForwarderError};

use super::credentials;
use super::protocol_sessions::ProtocolSessions;
use super::proxy_config::UpstreamConfig;
use crate::gate::{Gate, RequestScope};

/// The protocol session of the older revisions.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// One server behind the proxy.
pub(super) struct McpServer {
    pub(super) gate: Gate,
    pub(super) sessions: ProtocolSessions,
    /// Where clients find it.
    pub(super) path: String,
    /// Where its metadata was last said to be, on its own host.
    pub(super) metadata: Mutex<Option<String>>,
    url: Uri,
    origin: String,
    timeout: Duration,
    forwarder: Forwarder,
    is_down: AtomicBool,
    secret: String,
    /// Whether a session, and whether a principal, may stand for many.
    shared: (bool, bool),
    guard_waits: bool,
}

/// Why a server gave no answer.
#[derive(Debug)]
pub(super) struct UpstreamFailure {
    pub(super) status: StatusCode,
    pub(super) why: String,
}

/// How clients are told apart.
#[derive(Debug, Clone)]
pub(super) struct UpstreamOptions {
    pub(super) secret: String,
    pub(super) shared: (bool, bool),
    pub(super) guard_waits: bool,
}

impl McpServer {
    pub(super) fn new(
        config: &UpstreamConfig,
        mount: &str,
        gate: Gate,
        manners: UpstreamOptions,
    ) -> Result<Self, ForwarderError> {
        let scheme = config.url.scheme_str().unwrap_or("http");
        let host = config.url.authority().map_or("", |host| host.as_str());
        Ok(Self {
            gate,
            sessions: ProtocolSessions::default(),
            path: format!("{mount}{}", config.path),
            metadata: Mutex::default(),
            origin: format!("{scheme}://{host}"),
            url: config.url.clone(),
            timeout: config.timeout,
            forwarder: Forwarder::new(config.ca.as_deref())?,
            is_down: AtomicBool::new(false),
            secret: manners.secret,
            shared: manners.shared,
            guard_waits: manners.guard_waits,
        })
    }

    /// How long an answer may take to start, and one that is held to come to its end.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// The path of the server's own address.
    pub(super) fn own_path(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// The address behind `rest`, which follows this server's path in front.
    pub(super) fn target(&self, rest: &str, query: Option<&str>) -> Option<Uri> {
        if rest.is_empty() && query.is_none() {
            return Some(self.url.clone());
        }
        let base = if rest.is_empty() {
            self.url.path()
        } else {
            self.own_path()
        };
        let queries: Vec<&str> = [self.url.query(), query].into_iter().flatten().collect();
        let mark = if queries.is_empty() { "" } else { "?" };
        self.at(&format!("{base}{rest}{mark}{}", queries.join("&")))
    }

    /// Another path on the same host.
    pub(super) fn at(&self, path: &str) -> Option<Uri> {
        format!("{}{path}", self.origin).parse().ok()
    }

    /// The scope of a request, and whether its answer may be fetched later on another one.
    pub(super) fn scope(&self, headers: &HeaderMap) -> (RequestScope, bool) {
        let (session_shared, principal_shared) = self.shared;
        if let Some(session) = headers.get(SESSION)
            && let Some(id) = credentials::of_session(&self.path, session)
        {
            let scope = self.sessions.of(&id, session_shared);
            return (scope.exchange_within(), true);
        }
        let scope = match credentials::of_principal(headers, &self.secret) {
            Some(principal) => RequestScope::exchange(principal, principal_shared),
            None => RequestScope::exchange(self.gate.anonymous().clone(), principal_shared),
        };
        (scope, false)
    }

    /// A protocol session starts with the answer to `scope`.
    pub(super) fn introduce(&self, headers: &HeaderMap, scope: &RequestScope) {
        let session = headers.get(SESSION);
        let session = session.and_then(|session| credentials::of_session(&self.path, session));
        if let Some(session) = session {
            let known = self.sessions.of(&session, self.shared.0);
            if known.agent().is_none() {
                known.set_agent(scope.agent());
            }
        }
    }

    /// A protocol session is over.
    pub(super) fn forget(&self, headers: &HeaderMap) {
        let session = headers.get(SESSION);
        let session = session.and_then(|session| credentials::of_session(&self.path, session));
        if let Some(session) = session {
            self.sessions.forget(&session);
        }
    }

    /// Asks the gate. A guard that may keep us waiting must not keep others.
    pub(super) fn judge<T>(&self, ask: impl FnOnce(&Gate) -> T) -> T {
        if self.guard_waits {
            tokio::task::block_in_place(|| ask(&self.gate))
        } else {
            ask(&self.gate)
        }
    }

    /// Sends a request and waits until an answer starts.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, UpstreamFailure> {
        let answer = tokio::time::timeout(self.timeout, self.forwarder.send(request)).await;
        let failed = match answer {
            Ok(Ok(response)) => {
                if self.is_down.swap(false, Ordering::Relaxed) {
                    self.gate.log(format_args!("{} answers again", self.origin));
                }
                return Ok(response);
            }
            Ok(Err(why)) => UpstreamFailure {
                status: StatusCode::BAD_GATEWAY,
                why,
            },
            Err(_) => UpstreamFailure {
                status: StatusCode::GATEWAY_TIMEOUT,
                why: format!("no answer in {:?}", self.timeout),
            },
        };
        if !self.is_down.swap(true, Ordering::Relaxed) {
            let (origin, why) = (&self.origin, &failed.why);
            self.gate
                .log(format_args!("{origin} does not answer: {why}"));
        }
        Err(failed)
    }

    /// The `Origin` under which the server knows itself.
    pub(super) fn set_origin(&self, headers: &mut HeaderMap) {
        if let Ok(own) = header::HeaderValue::from_str(&self.origin) {
            headers.insert(header::ORIGIN, own);
        }
    }
}
