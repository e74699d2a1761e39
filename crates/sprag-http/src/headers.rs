//! Headers on their way through: what belongs to one connection stays behind, the rest passes as it is.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Asks those in between not to hold a stream back.
const ACCEL: HeaderName = HeaderName::from_static("x-accel-buffering");

const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Words of headers by which some servers take another method or another path than the ones that were judged:
/// `x-original-url`, `x-http-method-override`. One of these says that something is replaced…
const REPLACES: [&str; 11] = [
    "original",
    "rewrite",
    "rewritten",
    "replaced",
    "replace",
    "override",
    "overridden",
    "forwarded",
    "unencoded",
    "http",
    "envoy",
];
/// …and one of these what.
const REPLACED: [&str; 7] = [
    "url",
    "uri",
    "path",
    "method",
    "destinationurl",
    "requesturl",
    "requesturi",
];
/// Headers that decide how a request is read. Servers behind a gateway interface take `_` for `-` in names.
const DECIDES: [HeaderName; 13] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::TRANSFER_ENCODING,
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("sprag-token"),
    HeaderName::from_static("x-sprag-token"),
];

fn is_override(name: &str) -> bool {
    let dashed = name.replace('_', "-");
    if dashed != name && DECIDES.iter().any(|decides| decides.as_str() == dashed) {
        return true;
    }
    let has = |words: &[&str]| dashed.split('-').any(|word| words.contains(&word));
    has(&REPLACES) && has(&REPLACED)
}

/// Leaves of a request's headers what is for the server behind: nothing that belongs to one connection, and nothing by
/// which the server could read another request than the one that was judged.
pub fn onward(headers: &mut HeaderMap) {
    drop_hops(headers);
    for name in [header::HOST, header::CONTENT_LENGTH, header::EXPECT] {
        headers.remove(name);
    }
    drop_all(headers, is_override);
}

/// Leaves the same, and asks for an answer that can be looked at: not a compressed one.
pub fn for_server(headers: &mut HeaderMap) {
    onward(headers);
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static("identity"),
    );
}

/// Takes out every header with such a name.
pub fn drop_all(headers: &mut HeaderMap, is_such: impl Fn(&str) -> bool) {
    let names = headers.keys().filter(|name| is_such(name.as_str()));
    let names: Vec<HeaderName> = names.cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

/// Leaves of an answer's headers what is for the client.
pub fn for_client(headers: &mut HeaderMap) {
    drop_hops(headers);
    if is_events(headers) {
        headers.insert(ACCEL, HeaderValue::from_static("no"));
    }
}

/// Takes out what belongs to one connection.
pub fn drop_hops(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter();
    let named = named.filter_map(|value| value.to_str().ok());
    let named: Vec<String> = named
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for name in named {
        // `Connection: close, mcp-session-id` must not take away what a protocol needs.
        if !name.starts_with("mcp-") && name != "authorization" {
            headers.remove(name);
        }
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

/// Whether the body is one JSON text.
#[must_use]
pub fn is_json(headers: &HeaderMap) -> bool {
    has_type(headers, "application/json")
}

/// Whether the body is a stream of events.
#[must_use]
pub fn is_events(headers: &HeaderMap) -> bool {
    has_type(headers, "text/event-stream")
}

/// Whether the body says that it is of this media type.
#[must_use]
pub fn has_type(headers: &HeaderMap, wanted: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE);
    let value = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media = value.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        list.iter().map(pair).collect()
    }

    #[test]
    fn only_what_is_about_one_connection_stays_behind() {
        let mut headers = map(&[
            ("host", "proxy"),
            ("connection", "close, x-hop, mcp-session-id"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("authorization", "Bearer t"),
            ("mcp-session-id", "s"),
            ("mcp-param-region", "eu"),
            ("accept-encoding", "gzip"),
        ]);
        for_server(&mut headers);
        let passed = map(&[
            ("authorization", "Bearer t"),
            ("mcp-session-id", "s"),
            ("mcp-param-region", "eu"),
            ("accept-encoding", "identity"),
        ]);
        assert_eq!(headers, passed);
    }

    #[test]
    fn a_header_that_names_another_request_once_passed_in_another_spelling() {
        for name in [
            "x-http-method-override",
            "x_http_method_override",
            "x-http-method",
            "x-method-override",
            "x-original-url",
            "x_original_uri",
            "x-original-method",
            "x-original-path",
            "x-rewrite-url",
            "x-replaced-path",
            "x-forwarded-uri",
            "x-forwarded-method",
            "x-forwarded-path",
            "x-envoy-original-path",
            "x-ms-original-url",
            "x-waws-unencoded-url",
            "x-http-destinationurl",
            "content_type",
            "transfer_encoding",
            "mcp_session_id",
            "sprag_token",
        ] {
            assert!(is_override(name), "{name}");
        }
        for name in [
            "content-type",
            "mcp-session-id",
            "mcp-method",
            "session_id",
            "api_key",
            "x-callback-url",
            "x-repository-path",
            "x-payment-method",
            "x-forwarded-for",
            "x-forwarded-proto",
            "forwarded",
            "authorization",
        ] {
            assert!(!is_override(name), "{name}");
        }
    }

    #[test]
    fn a_stream_asks_not_to_be_held_back() {
        let mut headers = map(&[("content-type", "Text/Event-Stream; charset=utf-8")]);
        for_client(&mut headers);
        assert_eq!(headers["x-accel-buffering"], "no");
        let mut plain = map(&[("content-type", "application/json")]);
        for_client(&mut plain);
        assert!(is_json(&plain) && !plain.contains_key("x-accel-buffering"));
    }
}
