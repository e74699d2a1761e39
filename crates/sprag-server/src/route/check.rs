//! One event, one verdict.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sprag::{Event, Role};
use sprag_core::Identity;
use utoipa::IntoParams;

use crate::app::App;
use crate::body;
use crate::caller::Caller;
use crate::param::ApiQuery;
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// Room for a verdict that allows, with some to spare.
const VERDICT_BYTES: usize = 256;

/// How an event is judged.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CheckQuery {
    /// Judge as if every rule were in shadow, for an adapter that enforces nothing. Not for agents.
    #[serde(default)]
    shadow: bool,
}

/// An agent that put itself into shadow would be guarded by nothing.
fn shadowed(app: &App, caller: &Caller) -> Result<App, Problem> {
    if caller.role == Role::Agent {
        let detail = "agents may not ask for shadow; a relay, a hook or an operator may";
        return Err(Problem::new(ProblemKind::Forbidden, detail).field("shadow"));
    }
    Ok(app.in_shadow())
}

/// Ask what to do about an event
///
/// The verdict is in the body, whatever it is: the status only says whether there is one. `at` is
/// ignored, the server knows the time. `kill` and `reset` are for operators; `dispatch_*`, `spawn`, `return`,
/// messages without `from` and `"identity": "shared"` are for hooks, relays and operators.
#[utoipa::path(
    post,
    path = "/v1/check",
    tag = "decisions",
    params(CheckQuery),
    request_body(content = wire::Event, description = "The event"),
    security((), ("token" = [])),
    responses(
        (status = 200, description = "The verdict", body = wire::Verdict),
        wire::Conflicting,
        wire::Bodied,
        wire::AnyRole,
    ),
)]
pub(crate) async fn check(
    State(app): State<App>,
    caller: Caller,
    ApiQuery(query): ApiQuery<CheckQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let app = match query.shadow {
        true => shadowed(&app, &caller)?,
        false => app,
    };
    let (head, body) = request.into_parts();
    body::expect_type(&head.headers, &["application/json"])?;
    let bytes = body::read(&app, caller.role, body, app.body_bytes()).await?;
    let text = decide(&app, &caller, &bytes, trace_parent(&head.headers)).await?;
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, JSON)], text).into_response())
}

/// The verdict on the event in `bytes`, as JSON.
pub(crate) async fn decide(
    app: &App,
    caller: &Caller,
    bytes: &[u8],
    parent: Option<&str>,
) -> Result<Vec<u8>, Problem> {
    let mut event = Event::parse(bytes)?;
    sign_order(&mut event, caller);
    refuse_shared_identity(&event, caller)?;
    let record = app.decide(caller.sender(), event, parent).await?;
    let mut text = Vec::with_capacity(VERDICT_BYTES);
    // Every field of a verdict has a JSON form, and writing to memory can't fail.
    let _ = serde_json::to_writer(&mut text, &record.verdict);
    Ok(text)
}

/// The trace context that a request came with.
pub(crate) fn trace_parent(headers: &HeaderMap) -> Option<&str> {
    headers.get("traceparent")?.to_str().ok()
}

/// Names the caller's token as the author of an order that names nobody.
fn sign_order(event: &mut Event, caller: &Caller) {
    let by = match event {
        Event::Kill(order) | Event::Reset(order) => &mut order.by,
        Event::Approve(answer) | Event::Decline(answer) => &mut answer.by,
        _ => return,
    };
    by.get_or_insert_with(|| (&*caller.name).into());
}

/// An agent may not report that its session id stands for many: nothing that it does could then ever stop it.
/// Wrappers on this machine report it for what they wrap, over the socket.
fn refuse_shared_identity(event: &Event, caller: &Caller) -> Result<(), Problem> {
    let identity = match event {
        Event::Message(event) => event.identity,
        Event::Call(event) => event.identity,
        Event::Step(event) => event.identity,
        Event::Usage(event) => event.identity,
        Event::Output(event) => event.identity,
        _ => Identity::Exact,
    };
    let is_agent = caller.role == Role::Agent && !caller.over_socket;
    if identity == Identity::Shared && is_agent {
        let detail = "agents may not report a shared identity; a relay, a hook or an operator may";
        return Err(Problem::new(ProblemKind::Forbidden, detail).field("identity"));
    }
    Ok(())
}
