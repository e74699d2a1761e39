//! The message relay: what agents say to each other is judged before it is passed on.
//!
//! An agent server that has no guard gets one by being put behind this. Every message names its receiver in the
//! path and its sender in the body; the relay joins it to its flow, asks the guard, and passes it on with the
//! flow's correlation id in the body and as trace context. While the upstream answers, the flow is the running
//! dispatch of the receiver, and what that agent sends meanwhile inherits it. So agents need never be told
//! the id, and can't get it wrong.
//!
//! What is not a message (`GET`, other paths below the same place) passes through unjudged. The routes exist only
//! where there is an agent server behind.

mod config;
mod dispatches;
mod forward;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod headers;
mod message;
mod message_body;
mod open_api;
mod path;
mod refusal;
mod session;
mod trace;
mod upstream;
mod upstream_response;
mod verdict;

use std::sync::Arc;

use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Router};
use sprag::{Role, Sender};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::caller::Caller;
use crate::credentials;
use crate::error::ServerError;
use crate::problem::Problem;

pub use config::{FieldError, FieldNames, RelayConfig, RelayTrust};
pub(crate) use open_api::RelayApi;
pub use path::message_path;

use dispatches::Dispatches;
use path::{RelayPath, RelayRoute};
use upstream::AgentServer;

/// What the relay is to the guard: an adapter that speaks for all agents behind it.
const SENDER: Sender = Sender::anonymous(Role::Relay);

/// How many messages may be passed on in the background at once.
const BACKGROUND: usize = 4096;

/// What the relay's routes share.
pub(crate) struct Relay {
    names: FieldNames,
    path: String,
    trust: RelayTrust,
    upstream: AgentServer,
    dispatches: Arc<Dispatches>,
    background: Arc<Semaphore>,
}

/// Who sends a request to the relay.
#[derive(Debug, Clone)]
struct RelayCaller {
    caller: Caller,
    /// Whether a token says so, and not only the place that the request came from.
    has_token: bool,
}

impl Relay {
    /// The relay before the agent server in `config`; none if it names none.
    pub(crate) fn new(config: &RelayConfig) -> Result<Option<Self>, ServerError> {
        let Some(upstream) = &config.upstream else {
            return Ok(None);
        };
        Ok(Some(Self {
            names: config.fields.clone(),
            path: config.path.clone(),
            trust: config.trust,
            upstream: AgentServer::new(upstream)?,
            dispatches: Arc::default(),
            background: Arc::new(Semaphore::new(BACKGROUND)),
        }))
    }

    /// The routes, below the path that was chosen. Which of them a request is for is decided by [`RelayPath`]
    /// alone, so that no way of writing a path leads around it.
    pub(crate) fn routes(self, app: &App) -> Router<App> {
        let path = self.path.clone();
        Router::new()
            .route(&path, any(answer))
            .route(&format!("{path}/"), any(answer))
            .route(&format!("{path}/{{*rest}}"), any(answer))
            .layer(from_fn_with_state(app.clone(), identify))
            .layer(Extension(Arc::new(self)))
    }
}

/// Finds out who sends a request, from credentials that the rest of the relay never sees.
async fn identify(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let mut whole = parts.clone();
    credentials::give_back(&mut whole.headers, &parts.extensions);
    let has_token = whole.headers.contains_key(header::AUTHORIZATION);
    let caller = Caller::from_request_parts(&mut whole, &app).await?;
    parts.extensions = whole.extensions;
    parts.extensions.insert(RelayCaller { caller, has_token });
    Ok(next.run(Request::from_parts(parts, body)).await)
}

/// Answers a request at the relay's path or below.
async fn answer(
    State(app): State<App>,
    Extension(relay): Extension<Arc<Relay>>,
    Extension(sender): Extension<RelayCaller>,
    mut request: Request,
) -> Response {
    let read = RelayPath::read(&relay.path, request.method(), request.uri().path());
    let RelayPath { route, path } = match read {
        Ok(read) => read,
        Err(problem) => return refused(problem),
    };
    let target = upstream::RelayTarget::new(path, request.uri());
    request.extensions_mut().insert(target);
    let answered = match route {
        RelayRoute::Create => session::create(app, relay, sender, request).await,
        RelayRoute::Message(to) => message::say(app, relay, sender, to, request).await,
        RelayRoute::Idle(session) => session::idle(app, relay, sender, session, request).await,
        RelayRoute::Look => forward::pass_without_body(relay, request).await,
        RelayRoute::Other => forward::pass(relay, request).await,
    };
    answered.unwrap_or_else(refused)
}

fn refused(problem: Problem) -> Response {
    let is_method = problem.status() == StatusCode::METHOD_NOT_ALLOWED;
    let mut response = problem.into_response();
    if is_method {
        let allowed = HeaderValue::from_static("GET, HEAD, POST, DELETE, OPTIONS");
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}
