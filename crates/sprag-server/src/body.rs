//! Reading what a client sends: of the right kind, within bounds, in time.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::limits;
use crate::problem::{Problem, ProblemKind};

/// Refuses a body that does not say it is `wanted`, or one of its other names.
pub(crate) fn expect_type(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Problem> {
    let told = headers.get(header::CONTENT_TYPE);
    let told = told.and_then(|value| value.to_str().ok()).unwrap_or("");
    let media = told.split(';').next().unwrap_or_default().trim();
    if wanted.iter().any(|name| media.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let wanted = wanted.first().copied().unwrap_or_default();
    let detail = match told {
        "" => format!("send `Content-Type: {wanted}`"),
        told => format!("send `Content-Type: {wanted}`, not {told:?}"),
    };
    Err(Problem::new(ProblemKind::UnsupportedMediaType, detail))
}

/// Reads a body of at most `most` bytes.
pub(crate) async fn read(app: &App, body: Body, most: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("a body has at most {most} bytes here");
        Problem::new(ProblemKind::TooLarge, detail)
    };
    let size = body.size_hint();
    if size.lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    let told = size.upper().and_then(|upper| usize::try_from(upper).ok());
    let expected = told.unwrap_or(most).min(most);
    let _room = if expected > limits::SMALL_BODY_BYTES {
        Some(app.body_room(expected).await?)
    } else {
        None
    };
    let collect = Limited::new(body, most).collect();
    match tokio::time::timeout(limits::BODY_TIME, collect).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(Problem::new(
            ProblemKind::BadRequest,
            format!("the body: {error}"),
        )),
        Err(_) => Err(Problem::new(
            ProblemKind::BadRequest,
            format!(
                "the body did not arrive within {} seconds",
                limits::BODY_TIME.as_secs()
            ),
        )),
    }
}

/// A JSON document from the body, for operators' orders and questions.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        expect_type(request.headers(), &["application/json"])?;
        let most = limits::POLICY_BODY_BYTES;
        let bytes = read(app, request.into_body(), most).await?;
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| Problem::json(&error))
    }
}
