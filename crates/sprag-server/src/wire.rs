//! What stands on the wire, for the OpenAPI document.
//!
//! Events, verdicts and records are made below this crate, which knows nothing of OpenAPI. Their shapes are
//! told here once more; the test that asks the running server with its own document holds the two
//! together.

mod event;
mod record;
mod reply;
mod verdict;

use utoipa::Modify;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

pub(crate) use event::{ApprovalScope, Event};
pub(crate) use record::{Gauge, Mark, Record, RuleState};
pub(crate) use reply::{
    AnyRole, Bodied, Conflicting, Missing, OperatorOnly, PolicyWrong, Public, Unready,
};
pub(crate) use verdict::{BatchLine, Code, Decision, Verdict};

/// The document, without its routes: those add themselves.
#[derive(Debug, OpenApi)]
#[openapi(
    info(
        title = "Sprag",
        description = "Decisions about what LLM agents do, and what operators see and order. \
            Errors are RFC 9457 problem details. Times are milliseconds since 1970.",
    ),
    tags(
        (name = "decisions", description = "What agents, hooks and relays ask"),
        (name = "approvals", description = "Calls that wait for a person, and the answers"),
        (name = "sessions", description = "Who is there, and orders to them"),
        (name = "policy", description = "The limits in force, and what others would have done"),
        (name = "log", description = "What happened, and the proof of it"),
        (name = "server", description = "How the server itself is doing"),
    ),
    components(schemas(crate::problem::ProblemBody)),
    modifiers(&BearerScheme),
)]
pub(crate) struct ApiDoc;

struct BearerScheme;

impl Modify for BearerScheme {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "A token. Without one, who comes over loopback or the Unix socket is an agent.",
            ))
            .build();
        let components = api.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}
