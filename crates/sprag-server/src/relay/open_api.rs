//! The relay's part of the OpenAPI document. Its paths stand there as they are by default.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoResponses, OpenApi, ToSchema};

use super::refusal::Refused;
use crate::problem::MEDIA_TYPE;
use crate::wire;

/// The relay's routes.
#[derive(Debug, OpenApi)]
#[openapi(
    paths(super::message::say, super::session::create, super::session::idle),
    components(schemas(Refused, wire::Verdict)),
    tags((name = "relay", description = "Messages between agents, judged and passed on")),
)]
pub(crate) struct Api;

/// A message. Fields that are not listed here are passed on untouched.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct RelayMessage {
    /// What is said.
    prompt: Option<Value>,
    /// What is said, where there is no `prompt`.
    message: Option<Value>,
    /// The flow it belongs to. A user's message gets a fresh one, an agent's inherits its own.
    #[serde(rename = "correlationId")]
    #[schema(min_length = 1, max_length = 256)]
    correlation_id: Option<String>,
    /// The sending session; none: it is a user's message.
    #[serde(rename = "fromSession")]
    #[schema(min_length = 1, max_length = 256)]
    from_session: Option<String>,
    /// Who is behind it where no agent sent it.
    source: Option<MessageSource>,
    /// The receiver's kind of agent.
    #[schema(min_length = 1, max_length = 256)]
    agent: Option<String>,
    /// The sender's kind of agent.
    #[serde(rename = "fromAgent")]
    #[schema(min_length = 1, max_length = 256)]
    from_agent: Option<String>,
    /// The conversation it belongs to.
    #[serde(rename = "conversationId")]
    #[schema(min_length = 1, max_length = 256)]
    conversation_id: Option<String>,
    /// The id of a new session.
    #[serde(rename = "sessionId")]
    #[schema(min_length = 1, max_length = 256)]
    session_id: Option<String>,
    /// The sender's generation.
    generation: Option<u32>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Who is behind a message.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its shape is used")]
enum MessageSource {
    /// A person.
    User,
    /// A program that a person uses.
    Applet,
    /// A timer.
    Scheduler,
    /// An agent, which `fromSession` names.
    Agent,
}

/// What the relay answers to a message.
pub(super) struct Relayed;

const ANSWERS: [(u16, &str, &str); 12] = [
    (
        200,
        "Verdict",
        "what the agent server answered; without one, the verdict",
    ),
    (
        400,
        "Refused",
        "it belongs to no flow, goes to its own sender, or can't be read",
    ),
    (
        401,
        "Problem",
        "a token is needed, or this one is not known",
    ),
    (
        403,
        "Refused",
        "refused by a limit of its flow, its conversation or a budget; or not for this role",
    ),
    (409, "Refused", "its sender was reset since"),
    (413, "Problem", "the message is too large"),
    (415, "Problem", "not JSON"),
    (421, "Problem", "the Host is not this server"),
    (423, "Refused", "one of the two sessions was killed"),
    (
        429,
        "Refused",
        "too many within a minute; `Retry-After` says when to come back",
    ),
    (
        502,
        "Problem",
        "let through, but the agent server did not answer",
    ),
    (503, "Problem", "the guard can't answer now"),
];

impl IntoResponses for Relayed {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let response = |schema: &str, description: &str| {
            let content = ContentBuilder::new()
                .schema(Some(Ref::from_schema_name(schema)))
                .build();
            let media = if schema == "Verdict" {
                "application/json"
            } else {
                MEDIA_TYPE
            };
            let response = ResponseBuilder::new().description(description);
            RefOr::T(response.content(media, content).build())
        };
        let listed = ANSWERS.iter().map(|(status, schema, description)| {
            (status.to_string(), response(schema, description))
        });
        listed.collect()
    }
}
