//! How a client sees a server behind the proxy, and what names the server's own address on the way back.
//!
//! A client must be told the proxy's address wherever it would go to the server's instead: in a redirect, and in what
//! says where and for which resource to ask for a token. Otherwise it leaves the guard behind, or refuses a token
//! that is for another resource than it was given.

use std::sync::PoisonError;

use hyper::header::{self, HeaderMap, HeaderValue};

use super::upstream::McpServer;
use crate::envelope::{raw_member, text};
use crate::splice::{self, Splice, range_of};

/// Where metadata of a protected resource is, before the path of the resource.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// How a client sees one server.
#[derive(Debug, Clone)]
pub(super) struct PublicAddress {
    /// Scheme, host and port of the proxy.
    pub(super) origin: String,
    /// The request comes from no page, or from one of the proxy's own.
    pub(super) is_own_origin: bool,
}

impl PublicAddress {
    /// Puts the proxy's address into headers that name the server's.
    pub(super) fn rewrite(&self, upstream: &McpServer, headers: &mut HeaderMap) {
        if let Some(place) = headers.get(header::LOCATION)
            && let Some(new) = self.location(upstream, place)
        {
            headers.insert(header::LOCATION, new);
        }
        if headers.contains_key(header::WWW_AUTHENTICATE) {
            let old = headers.get_all(header::WWW_AUTHENTICATE).iter();
            let new: Vec<HeaderValue> = old
                .map(|value| self.challenge(upstream, value).unwrap_or(value.clone()))
                .collect();
            headers.remove(header::WWW_AUTHENTICATE);
            for value in new {
                headers.append(header::WWW_AUTHENTICATE, value);
            }
        }
    }

    /// The metadata of a protected resource, with the resource as the client knows it.
    pub(super) fn metadata(&self, upstream: &McpServer, body: &[u8]) -> Option<Vec<u8>> {
        let document: &serde_json::value::RawValue = serde_json::from_slice(body).ok()?;
        let old = raw_member(document, "resource")?;
        text(old)?;
        let new = serde_json::Value::from(format!("{}{}", self.origin, upstream.path));
        let change = Splice::replace(range_of(body, old)?, new.to_string());
        Some(splice::apply(body, vec![change]))
    }

    /// A redirect below the server's own address stays behind the proxy.
    fn location(&self, upstream: &McpServer, place: &HeaderValue) -> Option<HeaderValue> {
        let place = place.to_str().ok()?;
        let path = place.strip_prefix(upstream.origin()).unwrap_or(place);
        let rest = path.strip_prefix(upstream.own_path())?;
        let is_below = path.starts_with('/') && (rest.is_empty() || rest.starts_with(['/', '?']));
        let new = format!("{}{}{rest}", self.origin, upstream.path);
        is_below.then(|| HeaderValue::from_str(&new).ok())?
    }

    /// A challenge that says where the metadata is, and where it really is is kept.
    fn challenge(&self, upstream: &McpServer, value: &HeaderValue) -> Option<HeaderValue> {
        const KEY: &str = "resource_metadata=\"";
        let text = value.to_str().ok()?;
        let (before, rest) = text.split_once(KEY)?;
        let (place, after) = rest.split_once('"')?;
        let path = place.strip_prefix(upstream.origin())?;
        if !path.starts_with('/') {
            return None;
        }
        let mut held = upstream
            .metadata
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *held = Some(path.to_owned());
        let new = format!(
            "{before}{KEY}{}{METADATA}{}\"{after}",
            self.origin, upstream.path
        );
        HeaderValue::from_str(&new).ok()
    }
}
