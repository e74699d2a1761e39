//! Headers on their way through: what belongs to one connection, to us, or to no agent's eyes is left behind.

use axum::http::{HeaderMap, HeaderName, header};
use sprag_http::headers::{drop_hops, onward};
use sprag_http::percent;

/// The verdict on a message that was passed on with a warning.
pub(super) const VERDICT: HeaderName = HeaderName::from_static("sprag-verdict");
/// The rule that warned.
pub(super) const RULE: HeaderName = HeaderName::from_static("sprag-rule");
/// What it says, percent-encoded.
pub(super) const WARNING: HeaderName = HeaderName::from_static("sprag-warning");
/// The session that was made.
pub(super) const SESSION: HeaderName = HeaderName::from_static("sprag-session");
/// Trace context.
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// More trace context, which belongs to the id that we replace.
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// What travels with a trace.
pub(super) const BAGGAGE: HeaderName = HeaderName::from_static("baggage");

/// Under these names servers show a correlation id.
const CORRELATION: [&str; 7] = [
    "traceparent",
    "tracestate",
    "traceresponse",
    "baggage",
    "correlation-id",
    "x-correlation-id",
    "correlationid",
];

/// What the upstream gets of a request's headers. `Authorization` is for us, whatever it holds: it is not passed on.
pub(super) fn for_upstream(headers: &HeaderMap) -> HeaderMap {
    let mut passed = headers.clone();
    onward(&mut passed);
    passed.remove(header::AUTHORIZATION);
    passed
}

/// Takes trace context out that someone else made.
pub(super) fn drop_trace(headers: &mut HeaderMap) {
    for name in [TRACEPARENT, TRACESTATE, BAGGAGE] {
        headers.remove(name);
    }
}

/// What the caller gets of an answer's headers; an agent sees no correlation id.
pub(super) fn for_caller(headers: &HeaderMap, is_agent: bool) -> HeaderMap {
    let mut passed = headers.clone();
    drop_hops(&mut passed);
    if is_agent {
        for name in CORRELATION {
            passed.remove(name);
        }
    }
    passed
}

/// A text that fits into a header, whatever it holds.
pub(super) fn percent_encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    percent::encoded(text, is_plain)
}

/// A sentence that can still be read in a header: only what is not plain ASCII is encoded.
pub(super) fn sentence(text: &str) -> String {
    percent::encoded(text, |byte| (b' '..=b'~').contains(&byte) && byte != b'%')
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = list.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        pairs.collect()
    }

    #[test]
    fn the_upstream_gets_neither_a_token_nor_another_path_nor_what_is_about_one_connection() {
        let passed = for_upstream(&headers(&[
            ("host", "a"),
            ("authorization", "Bearer x"),
            ("connection", "close, x-hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("x-http-method-override", "POST"),
            ("x-original-url", "/api/sessions/2/messages"),
            ("x_original_url", "/api/sessions/2/messages"),
            ("x-replaced-path", "/api/sessions/2/messages"),
            ("content_type", "text/plain"),
            ("cookie", "a=1"),
            ("x-other", "kept"),
        ]));
        let kept = headers(&[("cookie", "a=1"), ("x-other", "kept")]);
        assert_eq!(passed, kept);
    }

    #[test]
    fn only_agents_are_kept_from_correlation_ids() {
        let answered = headers(&[
            ("traceparent", "00-1"),
            ("x-correlation-id", "1"),
            ("x", "y"),
        ]);
        assert_eq!(for_caller(&answered, true), headers(&[("x", "y")]));
        assert_eq!(for_caller(&answered, false), answered);
    }

    #[test]
    fn a_sentence_stays_readable_in_a_header() {
        assert_eq!(
            sentence("100 % of session fluß\n"),
            "100 %25 of session flu%C3%9F%0A"
        );
        for text in ["100 % of session fluß\n", "%", "%4", "a%zz"] {
            assert_eq!(percent::decoded(&sentence(text)), text);
        }
    }
}
