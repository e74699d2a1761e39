//! The answers that all routes of a kind have in common.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::{Ref, RefOr};

use crate::problem::MEDIA_TYPE;

/// What a route that serves everyone may answer.
pub(crate) struct Public;
/// What a route that asks for some role may answer.
pub(crate) struct AnyRole;
/// What a route for operators may answer.
pub(crate) struct OperatorOnly;

const PUBLIC: [(u16, &str); 3] = [
    (400, "what was sent can't be read"),
    (403, "a page of another site sent it"),
    (421, "the Host is not this server"),
];
const ANY_ROLE: [(u16, &str); 6] = [
    (400, "what was sent can't be read"),
    (401, "a token is needed, or this one is not known"),
    (403, "not for this role, or a page of another site sent it"),
    (421, "the Host is not this server"),
    (429, "too many at once"),
    (503, "the guard can't answer now"),
];

type Responses = BTreeMap<String, RefOr<Response>>;

fn problems(list: &[(u16, &str)]) -> Responses {
    let problem = |description: &str| {
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Problem")))
            .build();
        let response = ResponseBuilder::new()
            .description(description)
            .content(MEDIA_TYPE, content);
        RefOr::T(response.build())
    };
    list.iter()
        .map(|(status, description)| (status.to_string(), problem(description)))
        .collect()
}

impl IntoResponses for Public {
    fn responses() -> Responses {
        problems(&PUBLIC)
    }
}

impl IntoResponses for AnyRole {
    fn responses() -> Responses {
        problems(&ANY_ROLE)
    }
}

impl IntoResponses for OperatorOnly {
    fn responses() -> Responses {
        problems(&ANY_ROLE)
    }
}
