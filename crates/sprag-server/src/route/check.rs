//! One event, one verdict.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use sprag::{Event, Role, StoreError, Wait};
use sprag_core::Identity;
use tokio::sync::oneshot;

use crate::app::App;
use crate::body;
use crate::caller::Caller;
use crate::problem::{Problem, ProblemKind};
use crate::stopwatch::Stopwatch;
use crate::wire;

/// What a verdict that allows takes, and some more.
const VERDICT_BYTES: usize = 256;

/// Ask what to do about an event
///
/// The verdict is in the body, whatever it is: the status only says whether there is one. `at` is
/// ignored, the server knows the time. `kill` and `reset` are for operators; `dispatch_*`, `spawn`, `return`,
/// messages without `from` and `"identity": "shared"` are for hooks, relays and operators.
#[utoipa::path(
    post,
    path = "/v1/check",
    tag = "decisions",
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
    request: Request,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    body::expect_type(&head.headers, &["application/json"])?;
    let bytes = body::read(&app, body, app.body_bytes()).await?;
    let parent = head
        .headers
        .get("traceparent")
        .and_then(|value| value.to_str().ok());
    let text = decide(&app, &caller, &bytes, parent).await?;
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, JSON)], text).into_response())
}

/// The verdict on the event in `bytes`, as JSON. A decision takes microseconds and is made right here;
/// only where it must be on disk first is that waited for, without holding a thread.
pub(crate) async fn decide(
    app: &App,
    caller: &Caller,
    bytes: &[u8],
    parent: Option<&str>,
) -> Result<Vec<u8>, Problem> {
    let watch = Stopwatch::start();
    let mut event = Event::parse(bytes)?;
    settle(&mut event, caller)?;
    let checked = app.guard().check_soon(caller.role, event);
    let checked = checked.map_err(|error| app.failed(error))?;
    let mut text = Vec::with_capacity(VERDICT_BYTES);
    // A verdict has nothing in it that is no JSON, and memory takes every byte.
    let _ = serde_json::to_writer(&mut text, checked.verdict());
    if let Some(wait) = checked.wait {
        kept(app, wait).await?;
    }
    let took = watch.elapsed();
    app.metrics().decided(took);
    if let Some(telemetry) = app.telemetry() {
        telemetry.decided(&checked.record, took, parent);
    }
    Ok(text)
}

/// What the server knows better than the event: who gives orders. And what an agent may not say of
/// itself: that it stands for many, which would keep it from ever being stopped. Wrappers on this
/// machine say it of what they wrap, over the socket.
fn settle(event: &mut Event, caller: &Caller) -> Result<(), Problem> {
    match event {
        Event::Kill(order) | Event::Reset(order) if order.by.is_none() => {
            order.by = Some(format!("token {}", caller.name).into());
        }
        _ => {}
    }
    let identity = match event {
        Event::Message(event) => event.identity,
        Event::Call(event) => event.identity,
        Event::Step(event) => event.identity,
        Event::Usage(event) => event.identity,
        _ => Identity::Exact,
    };
    let is_agent = caller.role == Role::Agent && !caller.over_socket;
    if identity == Identity::Shared && is_agent {
        let detail =
            "a shared identity is not for agents to tell; a relay, a hook or an operator may";
        return Err(Problem::new(ProblemKind::Forbidden, detail).field("identity"));
    }
    Ok(())
}

/// Waits until an answer may be given.
pub(crate) async fn kept(app: &App, wait: Wait) -> Result<(), Problem> {
    let (tell, told) = oneshot::channel();
    // Whoever asked may be gone; then nobody needs to be told.
    wait.then(move |end| drop(tell.send(end)));
    let end = told.await.unwrap_or(Err(StoreError::Closed));
    end.map_err(|error| app.failed(error.into()))
}
