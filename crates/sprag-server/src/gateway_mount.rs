//! The model gateway beside the API: model APIs below `/anthropic`, `/openai` and `/gemini` on the
//! server's own address.
//!
//! The credentials of a request are for the provider behind, and go there. So whoever comes from
//! elsewhere shows a token of this server in a header of its own, `Sprag-Token` or `x-sprag-token`,
//! which goes no further. From this machine none is needed, as for every agent.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response};
use axum::response::IntoResponse as _;
use sprag_gateway::Gateway;

use crate::app::App;
use crate::caller::Peer;
use crate::config::ServerConfig;
use crate::credentials;
use crate::error::ServerError;
use crate::problem::{Problem, ProblemKind};

/// The gateway beside the API.
#[derive(Clone)]
pub(crate) struct GatewayMount {
    gateway: Arc<Gateway>,
    app: App,
}

impl GatewayMount {
    /// The gateway that the configuration asks for; none if it asks for none.
    pub(crate) fn of(config: &ServerConfig, app: &App) -> Result<Option<Self>, ServerError> {
        let Some(options) = config.gateway.clone() else {
            return Ok(None);
        };
        let log = Box::new(|what: std::fmt::Arguments<'_>| {
            tracing::warn!(target: "sprag", "gateway: {what}");
        });
        let gateway = Gateway::new(options, Box::new(app.clone()), log)?;
        Ok(Some(Self {
            gateway: Arc::new(gateway),
            app: app.clone(),
        }))
    }

    /// Whether a path is the gateway's.
    pub(crate) fn serves(&self, path: &str) -> bool {
        sprag_gateway::is_mounted(path)
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, peer: Peer, request: Request<Body>) -> Response<Body> {
        let token = credentials::gateway_token(&request).cloned();
        if let Err(problem) = self.admit(peer, token.as_ref()).await {
            return problem.into_response();
        }
        Gateway::answer(Arc::clone(&self.gateway), request)
            .await
            .map(Body::new)
    }

    /// Whoever shows a token must hold one; whoever comes from elsewhere must show one.
    async fn admit(&self, peer: Peer, token: Option<&HeaderValue>) -> Result<(), Problem> {
        match token.map(|token| token.to_str().unwrap_or_default()) {
            Some(token) => {
                let holder = self.app.tokens().holder(token, self.app.guard().now());
                match holder {
                    Some(_) => Ok(()),
                    None => Err(self.app.wrong_token().await),
                }
            }
            None if peer == Peer::Remote => Err(Problem::new(
                ProblemKind::Unauthorized,
                "send a token of this server as `x-sprag-token`; `sprag token add` makes one",
            )),
            None => Ok(()),
        }
    }
}
