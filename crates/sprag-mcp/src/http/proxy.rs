//! The proxy: which server a request is for, and whether it may go there at all.

use std::sync::{Arc, PoisonError};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri};
use sprag_core::Id;
use sprag_http::{
    BodyReader, ForwarderError, Handler, Hosts, headers, is_own_origin, one_host, strict_path,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use super::exchange::McpExchange;
use super::limits;
use super::local_response::{self, ErrorResponse};
use super::proxy_config::ProxyConfig;
use super::public_address::{METADATA, PublicAddress};
use super::readable;
use super::response_body::ResponseBody;
use super::upstream::{McpServer, UpstreamOptions};
use crate::gate::{Gate, GateOptions, OnKill};
use crate::verdict_source::{LogSink, VerdictSource};
use sprag::FailMode;

const WELL_KNOWN: &str = "/.well-known/";

/// How a proxy is set up.
#[derive(Debug, Clone)]
pub struct ProxyOptions {
    /// The servers behind it.
    pub config: ProxyConfig,
    /// What stands before every server's path.
    pub mount: String,
    /// The names that it is known by; none: whoever mounts it has looked.
    pub hosts: Option<Hosts>,
    /// Origins of pages that may use it besides its own, as `https://app.example.com`.
    pub origins: Vec<String>,
    /// Its address as clients see it, without a path; none: by the `Host` of each request.
    pub public: Option<String>,
    /// It is reached over TLS.
    pub secure: bool,
    /// The agent, where the client's own name should not count.
    pub agent: Option<Id>,
    /// What no other proxy puts before the ids of its calls, and nobody can guess.
    pub mark: String,
    /// What holds when the guard does not answer.
    pub fail: FailMode,
    /// Many conversations may stand behind one protocol session.
    pub shared: bool,
    /// Whoever shows the same credentials is one conversation, which may be stopped as one.
    pub principal_is_session: bool,
    /// The guard may take a while to answer.
    pub guard_waits: bool,
    /// The longest body of a request, in bytes.
    pub body_bytes: usize,
    /// The most exchanges at once, streams among them.
    pub streams: usize,
}

impl ProxyOptions {
    /// A proxy before these servers, with everything else as usual. `mark` is what no other proxy has and
    /// nobody can guess.
    #[must_use]
    pub fn new(config: ProxyConfig, mark: String) -> Self {
        Self {
            config,
            mount: String::new(),
            hosts: None,
            origins: Vec::new(),
            public: None,
            secure: false,
            agent: None,
            mark,
            fail: FailMode::default(),
            shared: false,
            principal_is_session: false,
            guard_waits: true,
            body_bytes: limits::BODY_BYTES,
            streams: limits::STREAMS,
        }
    }
}

/// A proxy before servers that are reached over HTTP.
pub struct Proxy {
    upstreams: Vec<Arc<McpServer>>,
    options: ProxyOptions,
    bodies: BodyReader,
    streams: Arc<Semaphore>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").finish_non_exhaustive()
    }
}

/// Where a request goes.
struct ProxyRoute<'p> {
    upstream: &'p Arc<McpServer>,
    target: Option<Uri>,
    is_metadata: bool,
}

impl Proxy {
    /// A proxy that asks `source` and tells people through `log`.
    ///
    /// # Errors
    /// Returns an error if a server's certificate could not be checked.
    pub fn new(
        options: ProxyOptions,
        source: &Arc<dyn VerdictSource>,
        log: &Arc<LogSink>,
    ) -> Result<Self, ForwarderError> {
        let mut upstreams = Vec::new();
        for (number, config) in options.config.upstreams.iter().enumerate() {
            let host = config.url.host().unwrap_or("server");
            let unnamed = config.name.clone().or_else(|| Id::new(host).ok());
            let nobody = format!("mcp-http-{host}");
            let (Some(unnamed), Ok(session)) = (unnamed, Id::new(&nobody)) else {
                continue;
            };
            let gate = GateOptions {
                session,
                shared: true,
                agent: options.agent.clone(),
                server: config.name.clone(),
                unnamed,
                mark: format!("{}-{number}", options.mark),
                fail: options.fail,
                on_kill: OnKill::Refuse,
            };
            let log = Arc::clone(log);
            let sink: LogSink = Box::new(move |what| log(what));
            let gate = Gate::new(gate, Box::new(Arc::clone(source)), sink);
            let manners = UpstreamOptions {
                secret: options.mark.clone(),
                shared: (
                    options.shared,
                    options.shared || !options.principal_is_session,
                ),
                guard_waits: options.guard_waits,
            };
            let upstream = McpServer::new(config, &options.mount, gate, manners)?;
            upstreams.push(Arc::new(upstream));
        }
        Ok(Self {
            upstreams,
            bodies: BodyReader::new(
                limits::BODIES_KIB,
                limits::SMALL_BODY_BYTES,
                limits::BODY_TIME,
            ),
            streams: Arc::new(Semaphore::new(options.streams)),
            options,
        })
    }

    /// Whether a path is one of this proxy's.
    #[must_use]
    pub fn serves(&self, path: &str) -> bool {
        match path.strip_prefix(WELL_KNOWN) {
            Some(rest) => {
                let (_, resource) = well_known(rest);
                self.find(resource)
                    .is_some_and(|(found, _)| !found.path.is_empty())
            }
            None => self.find(path).is_some(),
        }
    }

    /// Answers one request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let (head, body) = request.into_parts();
        let answer = self.try_answer(head, body).await;
        answer.unwrap_or_else(|refused| *refused)
    }

    async fn try_answer<B>(
        &self,
        head: Parts,
        body: B,
    ) -> Result<Response<ResponseBody>, ErrorResponse>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let public = self.public(&head)?;
        let route = self.route(&head.uri)?;
        let Some(target) = route.target else {
            return Err(
                local_response::plain(StatusCode::BAD_REQUEST, "this path leads nowhere").into(),
            );
        };
        let turn = self.turn()?;
        readable::head(&head)?;
        if route.is_metadata && head.method == Method::GET {
            return self.metadata(route.upstream, head, public).await;
        }
        let exchange = McpExchange {
            upstream: Arc::clone(route.upstream),
            public,
            target,
            turn,
        };
        let (body, room) = self.read(body).await?;
        let answer = exchange.run(head, body).await;
        // The room that a large body takes is given back when an answer starts.
        drop(room);
        answer
    }

    /// The whole body of a request, and the room that it takes.
    async fn read<B>(&self, body: B) -> Result<(Bytes, Option<SemaphorePermit<'_>>), ErrorResponse>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let read = self.bodies.read(body, self.options.body_bytes).await;
        read.map_err(|error| local_response::plain(error.status(), &error.to_string()).into())
    }

    /// Room for one more exchange.
    fn turn(&self) -> Result<OwnedSemaphorePermit, ErrorResponse> {
        let turn = Arc::clone(&self.streams).try_acquire_owned();
        turn.map_err(|_| {
            let why = format!(
                "{} requests are under way; try again later",
                self.options.streams
            );
            let mut reply = local_response::plain(StatusCode::SERVICE_UNAVAILABLE, &why);
            let later = header::HeaderValue::from_static("1");
            reply.headers_mut().insert(header::RETRY_AFTER, later);
            reply.into()
        })
    }

    /// How the client sees the proxy; refuses what is not meant for it, and what another site's page sends.
    fn public(&self, head: &Parts) -> Result<PublicAddress, ErrorResponse> {
        let host = match one_host(&head.uri, &head.headers) {
            Ok(host) => host,
            Err(why) => return Err(local_response::plain(StatusCode::BAD_REQUEST, why).into()),
        };
        let hosts = self.options.hosts.as_ref();
        if hosts.is_some_and(|hosts| !hosts.knows(host)) {
            let why = format!("this proxy is not {host:?}; `--host NAME` makes it so");
            return Err(local_response::plain(StatusCode::FORBIDDEN, &why).into());
        }
        let is_own_origin = is_own_origin(&head.headers);
        if !is_own_origin && !self.may_come_from(&head.headers) {
            let why =
                "requests from pages of other sites are refused; `--allow-origin` lets one in";
            return Err(local_response::plain(StatusCode::FORBIDDEN, why).into());
        }
        let scheme = if self.options.secure { "https" } else { "http" };
        let origin = match &self.options.public {
            Some(public) => public.clone(),
            None => format!("{scheme}://{host}"),
        };
        Ok(PublicAddress {
            origin,
            is_own_origin,
        })
    }

    fn may_come_from(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return true;
        };
        let allowed = self.options.origins.iter().chain(&self.options.public);
        let mut allowed = allowed.map(String::as_bytes);
        allowed.any(|allowed| allowed.eq_ignore_ascii_case(origin.as_bytes()))
    }

    fn route(&self, uri: &Uri) -> Result<ProxyRoute<'_>, ErrorResponse> {
        let path = uri.path();
        // Where a request goes must be where every server reads that it goes. A slash at the end is part of some
        // servers' addresses.
        let plain = path.strip_suffix('/').unwrap_or(path);
        if let Err(why) = strict_path::segments(plain) {
            let why = format!("the path: {why}");
            return Err(local_response::plain(StatusCode::BAD_REQUEST, &why).into());
        }
        let nowhere = || {
            let why = "there is no server behind this path";
            ErrorResponse::from(local_response::plain(StatusCode::NOT_FOUND, why))
        };
        let Some(rest) = path.strip_prefix(WELL_KNOWN) else {
            let (upstream, rest) = self.find(path).ok_or_else(nowhere)?;
            return Ok(ProxyRoute {
                target: upstream.target(rest, uri.query()),
                upstream,
                is_metadata: false,
            });
        };
        let (kind, resource) = well_known(rest);
        let found = self.find(resource);
        let (upstream, resource) = match (found, self.upstreams.as_slice()) {
            (Some((upstream, rest)), _) => (upstream, format!("{}{rest}", upstream.own_path())),
            (None, [only]) => (only, resource.to_owned()),
            (None, _) => return Err(nowhere()),
        };
        Ok(ProxyRoute {
            target: upstream.at(&format!("{WELL_KNOWN}{kind}{resource}")),
            upstream,
            is_metadata: METADATA.strip_prefix(WELL_KNOWN) == Some(kind),
        })
    }

    /// The server with the longest path that `path` is at or below, and what follows it.
    fn find<'p, 'r>(&'p self, path: &'r str) -> Option<(&'p Arc<McpServer>, &'r str)> {
        let below = |upstream: &'p Arc<McpServer>| {
            let rest = path.strip_prefix(upstream.path.as_str())?;
            let is_below = rest.is_empty() || rest.starts_with('/');
            is_below.then_some((upstream, rest))
        };
        let found = self.upstreams.iter().filter_map(below);
        found.max_by_key(|(upstream, _)| upstream.path.len())
    }

    /// The metadata of a protected resource, with the resource as the client knows it.
    async fn metadata(
        &self,
        upstream: &Arc<McpServer>,
        mut head: Parts,
        public: PublicAddress,
    ) -> Result<Response<ResponseBody>, ErrorResponse> {
        headers::for_server(&mut head.headers);
        let told = upstream
            .metadata
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let own = format!("{METADATA}{}", upstream.own_path());
        let places = [told, Some(own), Some(METADATA.to_owned())];
        let mut refused =
            local_response::plain(StatusCode::NOT_FOUND, "the server has no metadata");
        for place in places.into_iter().flatten() {
            let Some(target) = upstream.at(&place) else {
                continue;
            };
            let mut request = Request::new(Full::new(Bytes::new()));
            *request.uri_mut() = target;
            *request.headers_mut() = head.headers.clone();
            let answered = upstream.send(request).await;
            let answered = answered.map_err(|failed| {
                ErrorResponse::from(local_response::plain(failed.status, &failed.why))
            })?;
            let (mut parts, body) = answered.into_parts();
            let body = Limited::new(body, limits::METADATA_BYTES).collect().await;
            let Ok(body) = body.map(http_body_util::Collected::to_bytes) else {
                continue;
            };
            headers::for_client(&mut parts.headers);
            parts.headers.remove(header::CONTENT_LENGTH);
            let is_found = parts.status.is_success();
            let new = public.metadata(upstream, &body);
            let body = new.map_or(body, Bytes::from);
            refused = Response::from_parts(parts, ResponseBody::whole(body));
            if is_found {
                return Ok(refused);
            }
        }
        Ok(refused)
    }
}

impl Handler for Proxy {
    type Body = ResponseBody;

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<ResponseBody> {
        Self::answer(&self, request).await
    }
}

/// `oauth-protected-resource/mcp` into its kind and the path of the resource.
fn well_known(rest: &str) -> (&str, &str) {
    match rest.find('/') {
        Some(at) => rest.split_at_checked(at).unwrap_or((rest, "")),
        None => (rest, ""),
    }
}
