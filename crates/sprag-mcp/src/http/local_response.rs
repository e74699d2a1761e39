//! What the proxy says itself: refusals of the guard, and what is wrong on the way.

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::value::RawValue;

use super::response_body::ResponseBody;
use crate::envelope::{Envelope, raw_member};
use crate::refusal::{self, INVALID_REQUEST, PARSE_ERROR};

/// An answer in place of the server's, where there is nothing to pass on.
pub(super) type ErrorResponse = Box<Response<ResponseBody>>;

/// Headers and body contradict each other.
pub(super) const HEADER_MISMATCH: i64 = -32_020;
/// The server can't be reached, or does not answer. Outside the range that JSON-RPC keeps for itself.
pub(super) const NO_SERVER: i64 = -31_002;

/// The guard's answer in place of the server's.
pub(super) fn judged(answer: Option<Vec<u8>>) -> Response<ResponseBody> {
    let Some(answer) = answer else {
        return with_status(StatusCode::ACCEPTED, ResponseBody::empty());
    };
    // A client reads a refusal as a result; what is wrong with the message itself is a bad request.
    let status = match error_code(&answer) {
        Some(INVALID_REQUEST | PARSE_ERROR) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    };
    json(status, answer)
}

/// An error about the message `body`, in words that its client reads.
pub(super) fn error(
    status: StatusCode,
    body: &[u8],
    code: i64,
    why: &str,
) -> Response<ResponseBody> {
    let id = Envelope::read(body).and_then(|message| message.id);
    let id = id.map_or("null", RawValue::get);
    json(status, refusal::error(id, code, why).into_bytes())
}

/// Something is wrong with the request, in plain words.
pub(super) fn plain(status: StatusCode, why: &str) -> Response<ResponseBody> {
    let mut response = with_status(status, ResponseBody::whole(format!("{why}\n").into()));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// A JSON text.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response<ResponseBody> {
    let mut response = with_status(status, ResponseBody::whole(body.into()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn with_status(status: StatusCode, answer: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(answer);
    *response.status_mut() = status;
    response
}

fn error_code(answer: &[u8]) -> Option<i64> {
    let error = Envelope::read(answer)?.error?;
    raw_member(error, "code")?.get().parse().ok()
}
