//! The gateway: whether a request may come in at all, where it goes, and who answers it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::body::{Body, Bytes};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use sprag_core::Id;
use sprag_http::{BodyReader, Handler, is_own_origin, one_host};
use sprag_mcp::{FallbackSource, LogSink, VerdictSource};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::body::AnswerBody;
use crate::conversations::{Conversations, hex};
use crate::estimates::Estimates;
use crate::exchange::Exchange;
use crate::limits;
use crate::options::{GatewayError, GatewayOptions};
use crate::route::{NoRoute, Route};
use crate::tally::Tally;
use crate::upstream::Upstream;

/// Whether a gateway is there; `sprag doctor` asks.
const HEALTH: &str = "/healthz";
/// What clients beyond this machine show.
const TOKEN: &str = "x-sprag-token";

/// A guard between agents and their model APIs.
pub struct Gateway {
    pub(crate) options: GatewayOptions,
    pub(crate) guard: Arc<FallbackSource>,
    pub(crate) upstream: Upstream,
    pub(crate) conversations: Conversations,
    pub(crate) tally: Arc<Tally>,
    pub(crate) estimates: Arc<Estimates>,
    /// Digests of credentials are keyed with it; it never leaves this process.
    pub(crate) key: [u8; 32],
    bodies: BodyReader,
    streams: Arc<Semaphore>,
    /// Tells this gateway's reservations from those of another one.
    instance: [u8; 8],
    reservations: AtomicU64,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").finish_non_exhaustive()
    }
}

/// An answer that refuses a request.
type Refusal = Box<Response<AnswerBody>>;

impl Gateway {
    /// A gateway that asks `source` and reports to people through `log`.
    ///
    /// # Errors
    /// Returns an error if connections to upstreams can't be set up.
    pub fn new(
        options: GatewayOptions,
        source: Box<dyn VerdictSource>,
        log: LogSink,
    ) -> Result<Self, GatewayError> {
        let (mut key, mut instance) = ([0; 32], [0; 8]);
        let drawn = getrandom::fill(&mut key).and_then(|()| getrandom::fill(&mut instance));
        drawn.map_err(|error| GatewayError::Key {
            why: error.to_string(),
        })?;
        Ok(Self {
            guard: Arc::new(FallbackSource::new(source, options.fail, log)),
            upstream: Upstream::new()?,
            conversations: Conversations::default(),
            tally: Arc::default(),
            estimates: Arc::default(),
            key,
            bodies: BodyReader::new(
                limits::BODIES_KIB,
                limits::SMALL_BODY_BYTES,
                limits::BODY_TIME,
            ),
            streams: Arc::new(Semaphore::new(options.streams)),
            instance,
            reservations: AtomicU64::new(0),
            options,
        })
    }

    /// What passed through it.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// An id that no other request has, of this gateway or of another.
    pub(crate) fn reservation(&self) -> Option<Id> {
        let number = self.reservations.fetch_add(1, Ordering::Relaxed);
        Id::new(&format!("gateway-{}-{number}", hex(&self.instance))).ok()
    }

    /// Answers one request.
    pub async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<AnswerBody>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let (head, body) = request.into_parts();
        match self.try_answer(head, body).await {
            Ok(response) => response,
            Err(refusal) => *refusal,
        }
    }

    async fn try_answer<B>(
        self: Arc<Self>,
        head: Parts,
        body: B,
    ) -> Result<Response<AnswerBody>, Refusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        self.admit(&head)?;
        if head.uri.path() == HEALTH {
            return Err(plain(StatusCode::OK, "ready"));
        }
        let is_post = head.method == hyper::Method::POST;
        let route = Route::find(
            &self.options.upstreams,
            is_post,
            head.uri.path(),
            head.uri.query(),
        );
        let route = route.map_err(|why| match why {
            NoRoute::Unknown => plain(
                StatusCode::NOT_FOUND,
                "there is no model API behind this path; try /anthropic, /openai or /gemini",
            ),
            NoRoute::Ambiguous(why) => plain(StatusCode::BAD_REQUEST, &format!("the path: {why}")),
        })?;
        if head.headers.contains_key(header::UPGRADE) {
            // Clients that try a WebSocket first fall back to plain requests.
            return Err(plain(
                StatusCode::UPGRADE_REQUIRED,
                "only plain HTTP is answered here",
            ));
        }
        let turn = Arc::clone(&self.streams).try_acquire_owned();
        let turn = turn.map_err(|_| {
            plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many requests are under way",
            )
        })?;
        let read = self.bodies.read(body, limits::REQUEST_BYTES).await;
        let (body, room) = read.map_err(|error| plain(error.status(), &error.to_string()))?;
        let exchange = Exchange {
            gateway: Arc::clone(&self),
            turn,
        };
        let answer = exchange.run(route, head, body).await;
        // The room that a large body takes is given back when an answer starts.
        drop(room);
        Ok(answer)
    }

    /// Refuses what is not meant for this gateway, what another site's page sends, and who shows no
    /// token where one is needed.
    fn admit(&self, head: &Parts) -> Result<(), Refusal> {
        let host = one_host(&head.uri, &head.headers);
        let host = host.map_err(|why| plain(StatusCode::BAD_REQUEST, why))?;
        let hosts = self.options.hosts.as_ref();
        if hosts.is_some_and(|hosts| !hosts.knows(host)) {
            return Err(plain(
                StatusCode::MISDIRECTED_REQUEST,
                "this gateway is not known by that name",
            ));
        }
        let has_origin = head.headers.contains_key(header::ORIGIN);
        if has_origin && !is_own_origin(&head.headers) {
            return Err(plain(
                StatusCode::FORBIDDEN,
                "requests from pages of other sites are refused",
            ));
        }
        let Some(token) = &self.options.token else {
            return Ok(());
        };
        let shown = head
            .headers
            .get(TOKEN)
            .map_or(&b""[..], HeaderValue::as_bytes);
        if bool::from(shown.ct_eq(token.as_bytes())) {
            return Ok(());
        }
        Err(plain(
            StatusCode::UNAUTHORIZED,
            "x-sprag-token is missing or wrong",
        ))
    }
}

impl Handler for Gateway {
    type Body = AnswerBody;

    fn answer(
        self: Arc<Self>,
        request: Request<hyper::body::Incoming>,
    ) -> impl Future<Output = Response<AnswerBody>> + Send {
        Self::answer(self, request)
    }
}

/// Something is wrong with the request, in plain words.
pub(crate) fn plain(status: StatusCode, why: &str) -> Refusal {
    let mut response = Response::new(AnswerBody::whole(format!("sprag gateway: {why}\n")));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.into()
}
