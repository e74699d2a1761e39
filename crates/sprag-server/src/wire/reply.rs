//! The answers that all routes of a kind have in common.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::{Ref, RefOr};

use crate::problem::MEDIA_TYPE;

/// Declares lists of problems that routes share.
macro_rules! replies {
    ($($(#[$doc:meta])* $name:ident: $($status:literal $what:literal),+;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> Responses {
                problems(&[$(($status, $what)),+])
            }
        }
    )+};
}

replies! {
    /// What a route that serves everyone may answer.
    Public:
        400 "what was sent can't be read",
        403 "a page of another site sent it",
        421 "the Host is not this server";
    /// The same for one that tells whether the server is ready.
    Unready:
        400 "what was sent can't be read",
        403 "a page of another site sent it",
        421 "the Host is not this server",
        503 "it is not";
    /// What a route that asks for some role may answer.
    AnyRole:
        400 "what was sent can't be read",
        401 "a token is needed, or this one is not known",
        403 "not for this role, or a page of another site sent it",
        421 "the Host is not this server",
        429 "too many at once",
        503 "the guard can't answer now";
    /// What a route for operators may answer.
    OperatorOnly:
        400 "what was sent can't be read",
        401 "the token of an operator (or, to read, a viewer) is needed, or this one is not known",
        403 "not for this role, or a page of another site sent it",
        421 "the Host is not this server",
        429 "too many at once",
        503 "the guard can't answer now";
    /// What a route that takes a body may answer besides.
    Bodied:
        413 "the body is too large",
        415 "the body is of another kind";
    /// What a route about one thing may answer besides.
    Missing:
        404 "there is no such thing";
    /// What a route that depends on what is the case may answer besides.
    Conflicting:
        409 "something else is the case by now";
    /// What a route that takes a policy may answer besides.
    PolicyWrong:
        422 "the policy has mistakes; all are told, with key and line";
}

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
