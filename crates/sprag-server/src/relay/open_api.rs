//! The relay's part of the OpenAPI document. Its paths stand there as they are by default.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{IntoResponses, OpenApi, ToSchema};

use super::refusal::Refused;
use crate::problem::MEDIA_TYPE;

/// The relay's routes.
#[derive(Debug, OpenApi)]
#[openapi(
    paths(super::message::say, super::session::create, super::session::idle),
    components(schemas(Refused)),
    tags((name = "relay", description = "Messages between agents, judged and passed on")),
)]
pub(crate) struct RelayApi;

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
pub(super) struct RelayResponses;

/// The body of a response: the agent server's own, a refusal, any other problem, or one of the last two.
enum ResponseForm {
    Any,
    Refusal,
    Problem,
    Either,
}

const RESPONSES: [(u16, ResponseForm, &str); 13] = [
    (200, ResponseForm::Any, "what the agent server answered"),
    (
        400,
        ResponseForm::Either,
        "it belongs to no flow, goes to its own sender, or can't be read",
    ),
    (
        401,
        ResponseForm::Problem,
        "a token is needed, or this one is not known",
    ),
    (
        403,
        ResponseForm::Either,
        "refused by a limit of its flow, its conversation or a budget; or not for this role",
    ),
    (405, ResponseForm::Problem, "a message is sent with POST"),
    (409, ResponseForm::Refusal, "its sender was reset since"),
    (413, ResponseForm::Problem, "the message is too large"),
    (415, ResponseForm::Problem, "not JSON"),
    (421, ResponseForm::Problem, "the Host is not this server"),
    (
        423,
        ResponseForm::Refusal,
        "one of the two sessions was killed",
    ),
    (
        429,
        ResponseForm::Either,
        "too many within a minute; `Retry-After` says when to come back",
    ),
    (
        502,
        ResponseForm::Problem,
        "let through, but the agent server did not answer",
    ),
    (503, ResponseForm::Problem, "the guard can't answer now"),
];

impl IntoResponses for RelayResponses {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let listed = RESPONSES.iter().map(|(status, body, description)| {
            let response = ResponseBuilder::new().description(*description);
            let schema: RefOr<Schema> = match body {
                ResponseForm::Any => {
                    return (status.to_string(), RefOr::T(response.build()));
                }
                ResponseForm::Refusal => Ref::from_schema_name("Refused").into(),
                ResponseForm::Problem => Ref::from_schema_name("Problem").into(),
                ResponseForm::Either => RefOr::T(Schema::AnyOf(
                    AnyOfBuilder::new()
                        .item(Ref::from_schema_name("Refused"))
                        .item(Ref::from_schema_name("Problem"))
                        .build(),
                )),
            };
            let content = ContentBuilder::new().schema(Some(schema)).build();
            let response = response.content(MEDIA_TYPE, content).build();
            (status.to_string(), RefOr::T(response))
        });
        listed.collect()
    }
}
