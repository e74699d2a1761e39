//! Requests that the guard can read as the server behind will. Everything else is refused, not passed on unjudged.
//!
//! A server may decompress a body, detect UTF-16 by itself, or take a `PUT` for a `POST`. The guard does none of
//! that: whoever sends such a request is told so, and can send it plain.

use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::headers;
use super::local_response::{self, ErrorResponse};

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

/// Why a body under these headers may be read otherwise than as plain UTF-8, if it may.
#[must_use]
pub fn unreadable(headers: &HeaderMap) -> Option<String> {
    if let Some(encoding) = encoding(headers) {
        let why = "can't be judged; send it without Content-Encoding";
        return Some(format!("a body in {encoding:?} {why}"));
    }
    if headers.get_all(header::CONTENT_TYPE).iter().count() > 1 {
        return Some("a body of two types can't be judged; send one Content-Type".to_owned());
    }
    let charset = charset(headers)?;
    Some(format!(
        "a body in {charset:?} can't be judged; send it in UTF-8"
    ))
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
    Ok(may_be_json || !headers::is_form(&head.headers))
}

fn encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let mut words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let other = words.find(|word| {
        let word = word.trim_ascii();
        !word.is_empty() && !word.eq_ignore_ascii_case(b"identity")
    })?;
    Some(String::from_utf8_lossy(other.trim_ascii()).into_owned())
}

/// The charset of the body, if it is not one that reads ASCII and UTF-8 as they are. Every parameter that any server
/// takes for it counts: `charset = x`, `charset*=x`.
fn charset(headers: &HeaderMap) -> Option<String> {
    let told = headers.get(header::CONTENT_TYPE)?;
    let text = String::from_utf8_lossy(told.as_bytes()).to_ascii_lowercase();
    let mut parameters = text.split([';', ',']).skip(1).map(str::trim);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches(['"', '\'']).trim();
        let is_plain = name == "charset" && ["utf-8", "utf8", "us-ascii", "ascii"].contains(&value);
        (name.contains("charset") && !is_plain).then(|| value.to_owned())
    })
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
