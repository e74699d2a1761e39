//! The generic guardrail of LiteLLM's proxy, which needs no code of ours inside of it.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use sprag::{Decision, Event, Record, Role, Sender};
use sprag_hooks::reason;
use utoipa::ToSchema;

use super::check::trace_parent;
use super::hooks::expect_hook;
use crate::app::App;
use crate::body;
use crate::caller::Caller;
use crate::guardrail::{GuardrailQuestion, GuardrailSession, InputType};
use crate::param::bad;
use crate::problem::Problem;
use crate::wire;

/// What the proxy should do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GuardrailAnswer {
    /// `NONE`, `BLOCKED`, or `GUARDRAIL_INTERVENED` if the messages are to be replaced.
    action: &'static str,
    /// Why it is blocked, for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_reason: Option<String>,
    /// The messages with warnings next to their results.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_messages: Option<Vec<Value>>,
}

impl GuardrailAnswer {
    fn none() -> Self {
        Self {
            action: "NONE",
            blocked_reason: None,
            structured_messages: None,
        }
    }

    fn blocked(record: &Record) -> Self {
        Self {
            action: "BLOCKED",
            blocked_reason: Some(reason(&record.verdict)),
            structured_messages: None,
        }
    }
}

/// Answer LiteLLM's generic guardrail
///
/// Both modes are needed: `post_call` for the calls in an answer of the model, `pre_call` for their results and for
/// what users say. The body is LiteLLM's own.
#[utoipa::path(
    post,
    path = "/beta/litellm_basic_guardrail_api",
    tag = "decisions",
    request_body(content = serde_json::Value, description = "LiteLLM's question"),
    responses(
        (status = 200, description = "What the proxy should do", body = GuardrailAnswer),
        wire::Bodied,
        wire::AnyRole,
    ),
)]
pub(crate) async fn guardrail(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<GuardrailAnswer>, Problem> {
    expect_hook(&caller, &headers)?;
    body::expect_type(&headers, &["application/json"])?;
    let bytes = body::read(&app, caller.role, body, app.body_bytes()).await?;
    let question: GuardrailQuestion =
        serde_json::from_slice(&bytes).map_err(|error| bad("the body", error))?;
    let guardrail = Guardrail {
        app: &app,
        sender: Sender {
            role: Role::Hook,
            ..caller.sender()
        },
        parent: trace_parent(&headers),
        session: question.session(),
    };
    let answer = match question.input_type {
        InputType::Request => guardrail.request(question).await,
        InputType::Response => guardrail.response(&question).await,
    };
    answer.map(Json)
}

struct Guardrail<'a> {
    app: &'a App,
    sender: Sender,
    parent: Option<&'a str>,
    session: GuardrailSession,
}

impl Guardrail<'_> {
    /// Reports what a request brings; a killed session's goes no further.
    async fn request(&self, question: GuardrailQuestion) -> Result<GuardrailAnswer, Problem> {
        let mut notes = Vec::new();
        for part in question.parts(&self.session) {
            let is_result = part.call.is_some();
            let record = self.decide(part.event).await?;
            let decision = record.verdict.decision;
            if decision == Decision::Kill || (!is_result && decision.refuses()) {
                return Ok(GuardrailAnswer::blocked(&record));
            }
            let earlier = part
                .call
                .and_then(|call| self.app.call_notes().take(&self.session.id, &call));
            let now = (is_result && decision != Decision::Allow).then(|| reason(&record.verdict));
            let texts: Vec<String> = earlier.into_iter().chain(now).collect();
            if !texts.is_empty() {
                notes.push((part.index, texts.join("\n")));
            }
        }
        if notes.is_empty() {
            return Ok(GuardrailAnswer::none());
        }
        Ok(GuardrailAnswer {
            action: "GUARDRAIL_INTERVENED",
            blocked_reason: None,
            structured_messages: Some(question.with_notes(&notes)),
        })
    }

    /// Asks about every call of an answer. One that is refused blocks the whole answer.
    async fn response(&self, question: &GuardrailQuestion) -> Result<GuardrailAnswer, Problem> {
        let mut refused = None;
        for (call, event) in question.calls(&self.session) {
            let record = self.decide(event).await?;
            if record.verdict.refuses() {
                refused.get_or_insert(record);
            } else if record.verdict.decision == Decision::Warn {
                let text = reason(&record.verdict);
                self.app.call_notes().put(&self.session.id, call, text);
            }
        }
        Ok(refused.map_or_else(GuardrailAnswer::none, |record| {
            GuardrailAnswer::blocked(&record)
        }))
    }

    async fn decide(&self, event: Event) -> Result<Arc<Record>, Problem> {
        let sender = self.sender.clone();
        Ok(self.app.decide(sender, event, self.parent).await?)
    }
}
