//! The message relay: what agents say to each other is judged before it is passed on.
//!
//! An agent server that has no guard gets one by being put behind this. Every message names its receiver in the
//! path and its sender in the body; the relay joins it to its flow, asks the guard, and passes it on with the
//! flow's correlation id in the body and as trace context. While the upstream answers, the flow is the running
//! dispatch of the receiver, and what that agent sends meanwhile inherits it. So agents need never be told
//! the id, and can't get it wrong.
//!
//! What is not a message (`GET`, other paths below the same place) passes through unjudged. Without an upstream
//! the routes answer with the verdict alone, for a server that passes messages on itself.

mod config;
mod dispatches;
mod forward;
mod headers;
mod message;
mod message_body;
mod open_api;
mod refusal;
mod session;
mod trace;
mod upstream;
mod upstream_response;
mod verdict;

use std::sync::Arc;

use axum::routing::{any, post};
use axum::{Extension, Router};
use sprag::{Role, Sender};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::error::ServerError;

pub use config::{FieldError, FieldNames, RelayConfig, RelayTrust};
pub(crate) use headers::{SESSION, WARNING, percent_decoded, percent_encoded};
pub(crate) use open_api::RelayApi;

use dispatches::Dispatches;
use upstream::Upstream;

/// What the relay is to the guard: an adapter that speaks for all agents behind it.
const SENDER: Sender = Sender::anonymous(Role::Relay);

/// How many messages may be passed on in the background at once.
const BACKGROUND: usize = 4096;

/// What the relay's routes share.
pub(crate) struct Relay {
    names: FieldNames,
    path: String,
    trust: RelayTrust,
    upstream: Option<Upstream>,
    dispatches: Arc<Dispatches>,
    background: Arc<Semaphore>,
}

impl Relay {
    pub(crate) fn new(config: &RelayConfig) -> Result<Self, ServerError> {
        let upstream = config.upstream.as_ref();
        Ok(Self {
            names: config.fields.clone(),
            path: config.path.clone(),
            trust: config.trust,
            upstream: upstream.map(Upstream::new).transpose()?,
            dispatches: Arc::default(),
            background: Arc::new(Semaphore::new(BACKGROUND)),
        })
    }

    /// The routes, below the path that was chosen.
    pub(crate) fn routes(self) -> Router<App> {
        let path = self.path.clone();
        let (mut create, mut say, mut idle) = (
            post(session::create),
            post(message::say),
            post(session::idle),
        );
        let mut routes = Router::new();
        if self.upstream.is_some() {
            create = create.fallback(forward::pass);
            say = say.fallback(forward::pass);
            idle = idle.fallback(forward::pass);
            routes = routes
                .route(&format!("{path}/{{id}}"), any(forward::pass))
                .route(&format!("{path}/{{id}}/{{*rest}}"), any(forward::pass));
        }
        routes
            .route(&path, create)
            .route(&format!("{path}/{{id}}/messages"), say)
            .route(&format!("{path}/{{id}}/idle"), idle)
            .layer(Extension(Arc::new(self)))
    }
}
