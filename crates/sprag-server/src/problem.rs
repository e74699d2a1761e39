//! What went wrong, as RFC 9457 says it: one shape for every error of every route.
//!
//! A client reads `status` and `type`, a person reads `detail`. Where a place in what was sent is to
//! blame, `field`, `line` and `column` name it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sprag::{GuardError, ReplayError, StoreError};
use sprag_core::{EventError, PolicyErrors};
use utoipa::ToSchema;

/// The media type of problems.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    BadEvent,
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    TooLarge,
    UnsupportedMediaType,
    Misdirected,
    WrongPolicy,
    TooMany,
    Unavailable,
}

impl Kind {
    const fn parts(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::BadEvent => (
                StatusCode::BAD_REQUEST,
                "urn:sprag:problem:bad-event",
                "Not an event",
            ),
            Self::BadRequest => (
                StatusCode::BAD_REQUEST,
                "urn:sprag:problem:bad-request",
                "Bad request",
            ),
            Self::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "urn:sprag:problem:unauthorized",
                "A token is needed",
            ),
            Self::Forbidden => (
                StatusCode::FORBIDDEN,
                "urn:sprag:problem:forbidden",
                "Not for this role",
            ),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "urn:sprag:problem:not-found",
                "Not found",
            ),
            Self::MethodNotAllowed => (
                StatusCode::METHOD_NOT_ALLOWED,
                "urn:sprag:problem:method-not-allowed",
                "Method not allowed",
            ),
            Self::Conflict => (
                StatusCode::CONFLICT,
                "urn:sprag:problem:conflict",
                "Something else is the case",
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "urn:sprag:problem:too-large",
                "Too large",
            ),
            Self::UnsupportedMediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "urn:sprag:problem:unsupported-media-type",
                "Unsupported media type",
            ),
            Self::Misdirected => (
                StatusCode::MISDIRECTED_REQUEST,
                "urn:sprag:problem:misdirected",
                "Not this server",
            ),
            Self::WrongPolicy => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "urn:sprag:problem:wrong-policy",
                "The policy can't be used",
            ),
            Self::TooMany => (
                StatusCode::TOO_MANY_REQUESTS,
                "urn:sprag:problem:too-many",
                "Too many at once",
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "urn:sprag:problem:unavailable",
                "The guard can't answer",
            ),
        }
    }
}

/// A problem, as it stands on the wire.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Body {
    /// Which kind of problem: a stable name.
    #[serde(rename = "type")]
    #[schema(example = "urn:sprag:problem:bad-event")]
    kind: &'static str,
    /// The kind in a few words.
    title: &'static str,
    /// The status of the answer.
    #[schema(example = 400)]
    status: u16,
    /// What happened, to what, and what to do.
    detail: String,
    /// The field that is to blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<String>,
    /// The line of the place, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    line: Option<usize>,
    /// The column of the place, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    column: Option<usize>,
    /// Every mistake of a policy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Mistake>,
}

/// One mistake of a policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Mistake {
    /// The key: `flow.max_depth`; empty for the policy as a whole.
    key: String,
    /// The line, from 1.
    line: Option<u32>,
    /// The column, from 1.
    column: Option<u32>,
    /// What is wrong, and what would be right.
    message: String,
}

/// A problem on its way out.
#[derive(Debug)]
pub(crate) struct Problem(Box<(Kind, Body)>);

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        let (status, name, title) = kind.parts();
        let body = Body {
            kind: name,
            title,
            status: status.as_u16(),
            detail: detail.into(),
            ..Body::default()
        };
        Self(Box::new((kind, body)))
    }

    /// Names what is to blame.
    pub(crate) fn field(mut self, field: impl Into<String>) -> Self {
        self.0.1.field = Some(field.into());
        self
    }

    /// Names the place.
    pub(crate) fn at(mut self, line: usize, column: usize) -> Self {
        // A text that ends too early has no place: serde says 0.
        if line > 0 {
            self.0.1.line = Some(line);
            self.0.1.column = Some(column);
        }
        self
    }

    /// The words for a person.
    pub(crate) fn detail(&self) -> &str {
        &self.0.1.detail
    }

    /// The status, as a number.
    pub(crate) fn status(&self) -> u16 {
        self.0.1.status
    }

    /// A JSON body that can't be read.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        Self::new(Kind::BadRequest, format!("the body: {error}")).at(error.line(), error.column())
    }

    /// A policy with mistakes.
    pub(crate) fn policy(errors: &PolicyErrors) -> Self {
        let count = errors.len();
        let detail = match count {
            1 => "the policy has 1 mistake; nothing was changed".to_owned(),
            _ => format!("the policy has {count} mistakes; nothing was changed"),
        };
        let mut problem = Self::new(Kind::WrongPolicy, detail);
        problem.0.1.errors = errors
            .iter()
            .map(|error| Mistake {
                key: error.key.clone(),
                line: error.line,
                column: error.column,
                message: error.to_string(),
            })
            .collect();
        problem
    }
}

impl From<EventError> for Problem {
    fn from(error: EventError) -> Self {
        let problem = Self::new(Kind::BadEvent, error.to_string());
        match error {
            EventError::TooLong { .. } => Self::new(Kind::TooLarge, error.to_string()),
            EventError::NotAnEvent(source) => problem.at(source.line(), source.column()),
            EventError::UnknownType { .. } => problem.field("type"),
            EventError::Missing { field, .. }
            | EventError::Both { field, .. }
            | EventError::Id { field, .. }
            | EventError::Payload { field, .. } => problem.field(field),
            EventError::IllTyped {
                field,
                line,
                column,
                ..
            } => problem.field(field).at(line, column),
            EventError::Cost { .. } => problem.field("cost_usd"),
            _ => problem,
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Engine(error) => Self::new(Kind::Conflict, error.to_string()),
            other => Self::new(Kind::Unavailable, other.to_string()),
        }
    }
}

impl From<GuardError> for Problem {
    fn from(error: GuardError) -> Self {
        match error {
            GuardError::Event(error) => error.into(),
            GuardError::Store(error) => error.into(),
            GuardError::Forbidden { .. } => Self::new(Kind::Forbidden, error.to_string()),
            other => Self::new(Kind::Unavailable, other.to_string()),
        }
    }
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Store(error) => error.into(),
            other => Self::new(Kind::Unavailable, other.to_string()),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (kind, body) = *self.0;
        let (status, ..) = kind.parts();
        let text = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response();
        let extra = match kind {
            Kind::Unauthorized => Some((header::WWW_AUTHENTICATE, "Bearer realm=\"sprag\"")),
            Kind::TooMany | Kind::Unavailable => Some((header::RETRY_AFTER, "1")),
            _ => None,
        };
        if let Some((name, value)) = extra {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag::Event;

    fn told(problem: &Problem) -> String {
        serde_json::to_string(&problem.0.1).unwrap()
    }

    #[test]
    fn a_broken_event_is_told_with_its_place() {
        let broken = Event::parse(b"{\"type\":\"call\",\n\"session\":}").unwrap_err();
        insta::assert_snapshot!(told(&broken.into()), @"");
    }

    #[test]
    fn a_wrong_field_is_named() {
        let wrong = Event::parse(br#"{"type":"call","session":7,"tool":"x"}"#).unwrap_err();
        insta::assert_snapshot!(told(&wrong.into()), @"");
    }

    #[test]
    fn mistakes_of_a_policy_are_told_with_key_and_line() {
        let errors = sprag::Policy::from_toml("[flow]\nmax_dept = 3\n").unwrap_err();
        insta::assert_snapshot!(told(&Problem::policy(&errors)), @"");
    }
}
