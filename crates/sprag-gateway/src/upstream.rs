//! The way to a model API: one client for all, which follows no redirect and trusts what the system
//! trusts. Proxies are taken from the environment.

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap};
use reqwest::{Client, Response, Url};
use sprag_http::headers;
use sprag_http::outbound::{self, reason};

use crate::limits;
use crate::options::GatewayError;

/// Connections to all upstreams.
pub(crate) struct Upstream {
    client: Client,
}

impl Upstream {
    pub(crate) fn new() -> Result<Self, GatewayError> {
        let client = outbound::client()
            .connect_timeout(limits::CONNECT_TIME)
            .read_timeout(limits::SILENT_TIME)
            .build();
        let client = client.map_err(|error| GatewayError::Tls { why: reason(error) })?;
        Ok(Self { client })
    }

    /// Sends a request on. `headers` are what is for the upstream.
    pub(crate) async fn send(
        &self,
        method: Method,
        target: Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response, String> {
        let mut request = self.client.request(method, target).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        request.send().await.map_err(reason)
    }
}

/// Leaves of a request's headers what is for the upstream: nothing of ours, and nothing that belongs
/// to one connection.
pub(crate) fn for_upstream(headers: &mut HeaderMap) {
    headers::for_server(headers);
    headers::drop_all(headers, |name| name.starts_with("x-sprag-"));
}

/// Whether an answer is readable: nothing that was compressed against our wish.
pub(crate) fn is_plain(headers: &HeaderMap) -> bool {
    let encoding = headers.get(header::CONTENT_ENCODING);
    encoding.is_none_or(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}
