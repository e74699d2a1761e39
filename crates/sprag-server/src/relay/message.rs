//! One message: read, judged, passed on.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use sprag::{GuardError, Id, Role, StoreError, Verdict};
use sprag_core::MessageEvent;

use super::forward::Forward;
use super::message_body::{MessageBody, RelayFields};
use super::refusal::refused;
use super::verdict::without_flow;
use super::{Relay, RelayCaller, RelayTrust, SENDER, trace};
use crate::app::App;
use crate::body;
use crate::param::bad;
use crate::problem::{Problem, ProblemKind};
use crate::route::check::trace_parent;

/// Send a message to a session
///
/// The guard is asked first, then the message is passed on to the agent server and its answer comes back as it
/// is. With `fromSession` it is an agent's message, without it a user's. A warning is told in the headers
/// `Sprag-Verdict`, `Sprag-Rule` and `Sprag-Warning`. `Prefer: respond-async` is answered 202 as soon as the guard let
/// it through.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/messages",
    tag = "relay",
    params(("id" = String, Path, description = "The receiving session", min_length = 1, max_length = 256)),
    request_body = super::open_api::RelayMessage,
    security((), ("token" = [])),
    responses(super::open_api::RelayResponses),
)]
pub(super) async fn say(
    app: App,
    relay: Arc<Relay>,
    sender: RelayCaller,
    to: Id,
    request: Request,
) -> Result<Response, Problem> {
    let request = RelayRequest::read(&app, &relay, &sender, request).await?;
    deliver(app, relay, request, to, false).await
}

/// A message that came in.
pub(super) struct RelayRequest {
    pub(super) head: Parts,
    pub(super) body: Bytes,
    pub(super) fields: RelayFields,
}

impl RelayRequest {
    /// Reads a message and makes sure that its sender may send it.
    pub(super) async fn read(
        app: &App,
        relay: &Relay,
        sender: &RelayCaller,
        request: Request,
    ) -> Result<Self, Problem> {
        if sender.caller.role == Role::Viewer {
            let detail =
                "a viewer sees and changes nothing: messages are for agents, relays and operators";
            return Err(Problem::new(ProblemKind::Forbidden, detail));
        }
        let (head, body) = request.into_parts();
        body::expect_type(&head.headers, &["application/json"])?;
        if let Some(why) = sprag_http::unreadable(&head.headers) {
            return Err(Problem::new(ProblemKind::UnsupportedMediaType, why));
        }
        let body = body::read(app, sender.caller.role, body, app.body_bytes()).await?;
        let fields = MessageBody::read(&body)?.fields(&relay.names)?;
        if fields.from.is_none() && !relay.hears_user(sender) {
            let name = &relay.names.from;
            let detail = format!(
                "a message without {name} is a user's: send it with a token of role relay, which `sprag token add` makes"
            );
            return Err(Problem::new(ProblemKind::Forbidden, detail).field(name));
        }
        Ok(Self { head, body, fields })
    }

    /// The trace context that it came with.
    pub(super) fn parent(&self) -> Option<&str> {
        trace_parent(&self.head.headers)
    }
}

impl Relay {
    /// Whether `sender` may speak for the user, and say that an agent is idle.
    pub(super) fn hears_user(&self, sender: &RelayCaller) -> bool {
        match sender.caller.role {
            Role::Agent => self.trust == RelayTrust::Loopback && !sender.has_token,
            Role::Relay | Role::Hook | Role::Operator => true,
            Role::Viewer => false,
        }
    }
}

/// Asks the guard about a message, and forwards it unless it is refused.
pub(super) async fn deliver(
    app: App,
    relay: Arc<Relay>,
    request: RelayRequest,
    to: Id,
    is_new: bool,
) -> Result<Response, Problem> {
    let is_agent = request.fields.from.is_some();
    let verdict = judge(&app, &relay, &request, &to).await?;
    if verdict.refuses() {
        let shown = if is_agent {
            without_flow(verdict)
        } else {
            verdict
        };
        let from = request.fields.from.as_ref();
        return Ok(refused(shown, &relay.path, from));
    }
    let dispatch = match &verdict.flow {
        Some(flow) => {
            let start = relay.dispatches.start(&app, &to, flow, request.parent());
            Some(start.await?)
        }
        None => None,
    };
    let forward = Forward {
        app,
        relay,
        request,
        to,
        is_new,
        verdict,
        dispatch,
    };
    forward.respond().await
}

async fn judge(
    app: &App,
    relay: &Relay,
    request: &RelayRequest,
    to: &Id,
) -> Result<Verdict, Problem> {
    let fields = &request.fields;
    let mut event = MessageEvent::new(to.clone());
    event.from.clone_from(&fields.from);
    event.source = fields.source;
    event.flow = match (&fields.flow, &fields.from) {
        (None, None) => Some(trace::fresh()?),
        (flow, _) => flow.clone(),
    };
    event.conversation.clone_from(&fields.conversation);
    event.agent.clone_from(&fields.from_agent);
    event.to_agent.clone_from(&fields.agent);
    event.content.clone_from(&fields.content);
    event.generation = fields.generation;
    let decided = app.decide(SENDER, event.into(), request.parent());
    match decided.await {
        Ok(record) => Ok(record.verdict.clone()),
        Err(GuardError::Store(StoreError::Engine(error))) => {
            Err(bad(&relay.names.generation, error))
        }
        Err(error) => Err(error.into()),
    }
}
