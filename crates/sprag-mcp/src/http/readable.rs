//! Requests that the guard can read as the server behind will. Everything else is refused, not passed on unjudged.
//!
//! A server may decompress a body, detect UTF-16 by itself, or take a `PUT` for a `POST`. The guard does none of
//! that: whoever sends such a request is told so, and can send it plain.

use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use sprag_http::{headers, unreadable};

use super::local_response::{self, ErrorResponse};

/// What authorisation servers take.
const FORM: &str = "application/x-www-form-urlencoded";

/// Refuses a request whose head says that its body can't be read, or that is not a request of this protocol.
pub(super) fn head(head: &Parts) -> Result<(), ErrorResponse> {
    let known = [
        Method::GET,
        Method::POST,
        Method::DELETE,
        Method::HEAD,
        Method::OPTIONS,
    ];
    if !known.contains(&head.method) {
        let why = format!("{} is not a method of MCP", head.method);
        let allowed = HeaderValue::from_static("GET, POST, DELETE, HEAD, OPTIONS");
        return Err(refused(
            StatusCode::METHOD_NOT_ALLOWED,
            &why,
            (header::ALLOW, allowed),
        ));
    }
    match unreadable(&head.headers) {
        Some(why) => Err(unsupported(&why)),
        None => Ok(()),
    }
}

/// Whether the body of a request, whatever its method, is a message to judge. What some server could read as a message, but the guard can't,
/// is refused.
pub(super) fn is_message(head: &Parts, body: &[u8]) -> Result<bool, ErrorResponse> {
    if body.is_empty() {
        return Ok(false);
    }
    // A parser that detects encodings takes a byte order mark, or a NUL among the first bytes, for one.
    let start = body.get(..4).unwrap_or(body);
    let has_mark = [&[0xfe, 0xff][..], &[0xff, 0xfe], &[0xef, 0xbb, 0xbf]];
    if start.contains(&0) || has_mark.iter().any(|mark| start.starts_with(mark)) {
        let why =
            "a body in UTF-16, UTF-32 or with a byte order mark can't be judged; send plain UTF-8";
        return Err(unsupported(why));
    }
    // No form holds one as it is. What comes before it does not matter: a lax parser takes a comment or an odd blank there.
    let may_be_json = body.contains(&b'{');
    Ok(may_be_json || !headers::has_type(&head.headers, FORM))
}

fn unsupported(why: &str) -> ErrorResponse {
    let plain = HeaderValue::from_static("identity");
    let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    refused(status, why, (header::ACCEPT_ENCODING, plain))
}

fn refused(
    status: StatusCode,
    why: &str,
    (name, value): (header::HeaderName, HeaderValue),
) -> ErrorResponse {
    let mut response = local_response::plain(status, why);
    response.headers_mut().insert(name, value);
    response.into()
}
