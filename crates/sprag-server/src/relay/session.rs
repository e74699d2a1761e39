//! Sessions that messages make, and those that have nothing more to do.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use sprag::{Event, Id};
use sprag_core::{MessageEvent, MessageKind};

use super::config::FieldNames;
use super::message::{RelayRequest, deliver};
use super::message_body::MessageBody;
use super::upstream_response::UpstreamResponse;
use super::{Relay, RelayCaller, trace};
use crate::app::App;
use crate::body;
use crate::param::bad;
use crate::problem::{Problem, ProblemKind};
use crate::route::check::trace_parent;

/// The longest answer that is looked into for the id of a new session.
const LOOK_BYTES: u64 = 64 * 1024;
/// The longest body of a word that a session is idle.
const IDLE_BYTES: usize = 16 * 1024;

/// Start a session with a message
///
/// Judged like any other message. The relay proposes an id in `sessionId` where the caller gives none; a server
/// that calls the session otherwise says so in its JSON answer (`sessionId` or `id`) or in `Location`. The header
/// `Sprag-Session` of the answer names the session, percent-encoded.
#[utoipa::path(
    post,
    path = "/api/sessions",
    tag = "relay",
    request_body = super::open_api::RelayMessage,
    security((), ("token" = [])),
    responses(super::open_api::RelayResponses),
)]
pub(super) async fn create(
    app: App,
    relay: Arc<Relay>,
    sender: RelayCaller,
    request: Request,
) -> Result<Response, Problem> {
    let request = RelayRequest::read(&app, &relay, &sender, request).await?;
    let to = match &request.fields.session {
        Some(session) => session.clone(),
        None => proposed(request.fields.agent.as_ref())?,
    };
    deliver(app, relay, request, to, true).await
}

/// Say that a session has nothing more to do
///
/// For a server that answers 202 and works on: what the session sends after this belongs to no flow. A
/// `correlationId` in the body ends the work of that flow alone.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/idle",
    tag = "relay",
    params(("id" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    security((), ("token" = [])),
    responses(
        (status = 204, description = "Noted"),
        (status = 413, description = "Too large", body = crate::problem::ProblemBody, content_type = "application/problem+json"),
        crate::wire::AnyRole,
    ),
)]
pub(super) async fn idle(
    app: App,
    relay: Arc<Relay>,
    sender: RelayCaller,
    session: Id,
    request: Request,
) -> Result<Response, Problem> {
    if !relay.hears_user(&sender) {
        let detail = "only a relay, a hook or an operator says that an agent is idle";
        return Err(Problem::new(ProblemKind::Forbidden, detail));
    }
    let parent = trace_parent(request.headers()).map(str::to_owned);
    let body = body::read(&app, sender.caller.role, request.into_body(), IDLE_BYTES).await?;
    let flow = if body.trim_ascii().is_empty() {
        None
    } else {
        MessageBody::read(&body)?.fields(&relay.names)?.flow
    };
    let ended = app.with_store(move |app| {
        let dispatches = &relay.dispatches;
        dispatches.idle(app, &session, flow.as_ref(), parent.as_deref())
    });
    ended.await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// An id for a session that has none yet, which a person can tell from others.
fn proposed(agent: Option<&Id>) -> Result<Id, Problem> {
    let fresh = trace::fresh()?;
    let tail = fresh.as_str().get(..12).unwrap_or_default();
    let agent = agent.map_or("session", Id::as_str).replace('/', "-");
    Id::new(&format!("{agent}-{tail}")).map_err(|error| bad("agent", error))
}

/// What the answer calls the session that was made.
pub(super) async fn named_in(response: &mut UpstreamResponse, names: &FieldNames) -> Option<Id> {
    if !response.status.is_success() {
        return None;
    }
    if let Some(body) = response.peek(LOOK_BYTES).await
        && let Ok(Value::Object(body)) = serde_json::from_slice(&body)
    {
        let named = body.get(&names.session).or_else(|| body.get("id"));
        return match named? {
            Value::String(text) => Id::new(text).ok(),
            Value::Number(number) => Id::new(&number.to_string()).ok(),
            _ => None,
        };
    }
    let place = response.headers.get(header::LOCATION)?.to_str().ok()?;
    let last = place.trim_end_matches('/').rsplit('/').next()?;
    Id::new(last)
        .ok()
        .filter(|_| !last.contains(['%', '?', '#']))
}

/// The event that puts `from` above `session` in a flow: the name of `session` was not known when the message was
/// judged.
pub(super) fn join_event(from: &Id, session: &Id, flow: &Id, agent: Option<&Id>) -> Event {
    let mut event = MessageEvent::new(session.clone()).kind(MessageKind::Spawn);
    event.from = Some(from.clone());
    event.flow = Some(flow.clone());
    event.to_agent = agent.cloned();
    event.into()
}
