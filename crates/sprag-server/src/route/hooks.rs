//! Hooks of agent CLIs that speak HTTP: the payload comes as the client made it, the answer is the client's own.
//!
//! A client that can post its hooks needs no process for each of them. Payloads tell what users type, so they
//! need the hooks' token: an agent that could post one would play the user.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sprag::{FailMode, Role, Sender, UnknownWord};
use sprag_hooks::{Client, HookOptions, answer};
use utoipa::{IntoParams, ToSchema};

use super::check::trace_parent;
use crate::app::App;
use crate::body;
use crate::caller::Caller;
use crate::param::{ApiQuery, bad};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// How a hook is answered.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HookQuery {
    /// The client's name of the event, for payloads that don't say it.
    #[param(max_length = 100)]
    event: Option<String>,
    /// Ask and log, but let everything happen.
    #[serde(default)]
    shadow: bool,
    /// What to do where there is no verdict; `open` where nothing is said.
    #[serde(default)]
    #[param(inline)]
    fail: HookFailMode,
}

#[derive(Debug, Default, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HookFailMode {
    #[default]
    Open,
    Closed,
}

/// Answer one hook of an agent CLI
///
/// The body is the payload as the client sends it, the answer what the client understands; an empty
/// object says nothing against it. Clients: `claude`, `codex`, `gemini`, `copilot`, `cursor`,
/// `opencode`.
#[utoipa::path(
    post,
    path = "/v1/hooks/{client}",
    tag = "decisions",
    params(("client" = String, Path, description = "The agent CLI", max_length = 16), HookQuery),
    request_body(content = serde_json::Value, description = "The payload"),
    responses(
        (status = 200, description = "The client's own answer", body = serde_json::Value),
        wire::Bodied,
        wire::Missing,
        wire::AnyRole,
    ),
)]
pub(crate) async fn hook(
    State(app): State<App>,
    caller: Caller,
    Path(client): Path<String>,
    ApiQuery(query): ApiQuery<HookQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    expect_hook(&caller, &headers)?;
    let unknown = |error: UnknownWord| Problem::new(ProblemKind::NotFound, error.to_string());
    let client: Client = client.parse().map_err(unknown)?;
    body::expect_type(&headers, &["application/json"])?;
    let payload = body::read(&app, caller.role, body, app.body_bytes()).await?;
    if payload.is_empty() {
        return Err(bad("the body", "there is no payload"));
    }
    let parent = trace_parent(&headers).map(str::to_owned);
    let app = if query.shadow { app.in_shadow() } else { app };
    let text = app
        .with_store(move |app| {
            let from = (&caller, parent.as_deref());
            Ok(answered(app, client, &query, &payload, from))
        })
        .await?;
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, JSON)], text).into_response())
}

/// Refuses whoever is not a hook: payloads tell what users say.
pub(super) fn expect_hook(caller: &Caller, headers: &HeaderMap) -> Result<(), Problem> {
    if matches!(caller.role, Role::Hook | Role::Operator) {
        return Ok(());
    }
    let kind = match headers.contains_key(header::AUTHORIZATION) {
        true => ProblemKind::Forbidden,
        false => ProblemKind::Unauthorized,
    };
    let detail = "this is for hooks: send `Authorization: Bearer` with the hooks' token, \
                  which lies beside the store as hook.token";
    Err(Problem::new(kind, detail))
}

fn answered(
    app: &App,
    client: Client,
    query: &HookQuery,
    payload: &[u8],
    (caller, parent): (&Caller, Option<&str>),
) -> String {
    let options = HookOptions {
        event: query.event.as_deref(),
        fail: match query.fail {
            HookFailMode::Open => FailMode::Open,
            HookFailMode::Closed => FailMode::Closed,
        },
        shadow: query.shadow,
        quiet: false,
        notice: None,
        project: None,
        read_transcript: None,
        spend: None,
    };
    let answered = answer(client, payload, &options, |role, event| {
        let sender = Sender {
            role,
            ..caller.sender()
        };
        let decided = app.decide_blocking(&sender, event, parent);
        let verdict = decided.map(|record| record.verdict.clone());
        verdict.map_err(|error| Problem::from(error).detail().to_owned())
    });
    if let Some(problem) = &answered.problem {
        tracing::warn!(client = client.as_str(), "a hook went unchecked: {problem}");
    }
    match answered.answer.stdout {
        text if text.is_empty() => "{}".to_owned(),
        text => text,
    }
}
