//! What went wrong, as RFC 9457 says it: one shape for every error of every route.
//!
//! A client reads `status` and `type`, a person reads `detail`. Where a place in what was sent is to
//! blame, `field`, `line` and `column` name it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sprag::{EngineError, GuardError, ReplayError, StoreError};
use sprag_core::{EventError, PolicyErrors};
use utoipa::ToSchema;

/// The media type of problems.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    BadEvent,
    BadRequest,
    Unauthorized,
    Forbidden,
    NotOwner,
    NotFound,
    MethodNotAllowed,
    Conflict,
    TooLarge,
    TooSlow,
    UnsupportedMediaType,
    Misdirected,
    WrongPolicy,
    TooMany,
    Upstream,
    Unavailable,
}

impl ProblemKind {
    /// Its status, its name and its title.
    const fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::BadEvent => (S::BAD_REQUEST, "bad-event", "Not an event"),
            Self::BadRequest => (S::BAD_REQUEST, "bad-request", "Bad request"),
            Self::Unauthorized => (S::UNAUTHORIZED, "unauthorized", "A token is needed"),
            Self::Forbidden => (S::FORBIDDEN, "forbidden", "Not for this role"),
            Self::NotOwner => (S::FORBIDDEN, "not-owner", "Somebody else's session"),
            Self::NotFound => (S::NOT_FOUND, "not-found", "Not found"),
            Self::MethodNotAllowed => {
                let title = "Method not allowed";
                (S::METHOD_NOT_ALLOWED, "method-not-allowed", title)
            }
            Self::Conflict => (S::CONFLICT, "conflict", "Conflict"),
            Self::TooLarge => (S::PAYLOAD_TOO_LARGE, "too-large", "Too large"),
            Self::TooSlow => (S::REQUEST_TIMEOUT, "too-slow", "Too slow"),
            Self::UnsupportedMediaType => {
                let title = "Unsupported media type";
                (S::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", title)
            }
            Self::Misdirected => (S::MISDIRECTED_REQUEST, "misdirected", "Not this server"),
            Self::WrongPolicy => {
                let title = "The policy can't be used";
                (S::UNPROCESSABLE_ENTITY, "wrong-policy", title)
            }
            Self::TooMany => (S::TOO_MANY_REQUESTS, "too-many", "Too many at once"),
            Self::Upstream => (S::BAD_GATEWAY, "upstream", "No answer from upstream"),
            Self::Unavailable => {
                let title = "The guard can't answer";
                (S::SERVICE_UNAVAILABLE, "unavailable", title)
            }
        }
    }
}

/// A problem, as it stands on the wire.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// Which kind of problem: a stable name.
    #[serde(rename = "type")]
    #[schema(example = "urn:sprag:problem:bad-event")]
    kind: String,
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
    errors: Vec<PolicyMistake>,
}

/// One mistake of a policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyMistake {
    /// The key: `flow.max_depth`; empty for the policy as a whole.
    key: String,
    /// The line, from 1.
    #[schema(required)]
    line: Option<u32>,
    /// The column, from 1.
    #[schema(required)]
    column: Option<u32>,
    /// What is wrong, and what would be right.
    message: String,
}

/// A problem on its way out.
#[derive(Debug)]
pub(crate) struct Problem(Box<(ProblemKind, ProblemBody)>);

impl Problem {
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        let (status, name, title) = kind.parts();
        let body = ProblemBody {
            kind: format!("urn:sprag:problem:{name}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            ..ProblemBody::default()
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
        Self::new(ProblemKind::BadRequest, format!("the body: {error}"))
            .at(error.line(), error.column())
    }

    /// A policy with mistakes.
    pub(crate) fn policy(errors: &PolicyErrors) -> Self {
        let count = errors.len();
        let detail = match count {
            1 => "the policy has 1 mistake; nothing was changed".to_owned(),
            _ => format!("the policy has {count} mistakes; nothing was changed"),
        };
        let mut problem = Self::new(ProblemKind::WrongPolicy, detail);
        problem.0.1.errors = errors
            .iter()
            .map(|error| PolicyMistake {
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
        let problem = Self::new(ProblemKind::BadEvent, error.to_string());
        match error {
            EventError::TooLong { .. } => Self::new(ProblemKind::TooLarge, error.to_string()),
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
            StoreError::Engine(error @ EngineError::Foreign(_)) => {
                Self::new(ProblemKind::NotOwner, error.to_string()).field("session")
            }
            StoreError::Engine(error) => Self::new(ProblemKind::Conflict, error.to_string()),
            other => Self::new(ProblemKind::Unavailable, other.to_string()),
        }
    }
}

impl From<GuardError> for Problem {
    fn from(error: GuardError) -> Self {
        match error {
            GuardError::Event(error) => error.into(),
            GuardError::Store(error) => error.into(),
            GuardError::Forbidden { .. } => Self::new(ProblemKind::Forbidden, error.to_string()),
            other => Self::new(ProblemKind::Unavailable, other.to_string()),
        }
    }
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Store(error) => error.into(),
            other => Self::new(ProblemKind::Unavailable, other.to_string()),
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
            ProblemKind::Unauthorized => Some((header::WWW_AUTHENTICATE, "Bearer realm=\"sprag\"")),
            ProblemKind::TooMany | ProblemKind::Unavailable => Some((header::RETRY_AFTER, "1")),
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
        insta::assert_snapshot!(told(&broken.into()), @r#"{"type":"urn:sprag:problem:bad-event","title":"Not an event","status":400,"detail":"not an event: session: expected value at line 2 column 11","line":2,"column":11}"#);
    }

    #[test]
    fn a_wrong_field_is_named() {
        let wrong = Event::parse(br#"{"type":"call","session":7,"tool":"x"}"#).unwrap_err();
        insta::assert_snapshot!(told(&wrong.into()), @r#"{"type":"urn:sprag:problem:bad-event","title":"Not an event","status":400,"detail":"session: expected a string, found 7 at line 1 column 26","field":"session","line":1,"column":26}"#);
    }

    #[test]
    fn mistakes_of_a_policy_are_told_with_key_and_line() {
        let errors = sprag::Policy::from_toml("[flow]\nmax_dept = 3\n").unwrap_err();
        insta::assert_snapshot!(told(&Problem::policy(&errors)), @r#"{"type":"urn:sprag:problem:wrong-policy","title":"The policy can't be used","status":422,"detail":"the policy has 1 mistake; nothing was changed","errors":[{"key":"flow.max_dept","line":2,"column":1,"message":"flow.max_dept: no such key; did you mean `flow.max_depth`?"}]}"#);
    }
}
